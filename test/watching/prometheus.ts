import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { anyFreePort } from '../../src/lib/ports.ts';
import { until } from '../support/until.ts';
import { readText } from './files.ts';

export type FiringAlert = { labels: Record<string, string>; annotations: Record<string, string>; state: string };

/** A Prometheus server of one test, with the alerts as they are, but for the time that they wait. */
export type Prometheus = {
  /** The alerts that fire now. */
  firing: () => Promise<FiringAlert[]>;
  /** The value of an expression; null: nothing. */
  query: (expression: string) => Promise<number | null>;
  /** Reads the metrics of these processes from now on, by job. */
  read: (jobs: Record<string, string[]>) => Promise<void>;
  close: () => Promise<void>;
};

/** Reads metrics every two seconds. */
export async function startPrometheus(): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-prometheus-'));
  const port = await anyFreePort();
  await writeFile(
    join(folder, 'alerts.yml'),
    readText('deploy/prometheus/alerts.yml').replaceAll(/^ +for: .+\n/gm, ''),
  );
  const jobs = ['meskot-api', 'meskot-worker'];
  const scraped = jobs.map((name) => ({
    job_name: name,
    file_sd_configs: [{ files: [`${name}.json`], refresh_interval: '2s' }],
  }));
  const config = {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: scraped,
  };
  // JSON is YAML.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const options = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
  const child = spawn('prometheus', [...options, `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const read = async <Data>(path: string): Promise<Data> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    return ((await response.json()) as { data: Data }).data;
  };
  const isReady = async (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until('Prometheus to be ready', isReady, 60_000);
  return {
    firing: async () => {
      const { alerts } = await read<{ alerts: FiringAlert[] }>('alerts');
      return alerts.filter(({ state }) => state === 'firing');
    },
    query: async (expression) => {
      const path = `query?query=${encodeURIComponent(expression)}`;
      const { result } = await read<{ result: { value: [number, string] }[] }>(path);
      return result[0] ? Number(result[0].value[1]) : null;
    },
    read: async (processes) => {
      for (const [name, urls] of Object.entries(processes)) {
        const targets = urls.map((url) => new URL(url).host);
        // Renamed, so that Prometheus never reads half of it.
        await writeFile(join(folder, `${name}.new`), JSON.stringify([{ targets }]));
        await rename(join(folder, `${name}.new`), join(folder, `${name}.json`));
      }
    },
    close: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
