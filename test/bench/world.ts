import { setTimeout as sleep } from 'node:timers/promises';

import { openDatabase, rows, type Knex } from '../../src/lib/db.ts';
import { anyFreePort } from '../../src/local/ports.ts';
import { processorMs } from './cpu.ts';
import type { Ground, Running } from './ground.ts';
import { seedHistory } from './history.ts';
import { startReceiver, type Receiver } from './receiver.ts';

/** Processor time by whose it is: our processes (or the twin's), Temporal's server with its SQLite, PostgreSQL's. */
export type Cpu = { ours: number; temporal: number; postgres: number };

/** What is measured: the API of ours, its twin, one merchant with a history, and a receiver. */
export type World = {
  ground: Ground;
  db: Knex;
  merchantId: string;
  receiver: Receiver;
  api: Running & { origin: string; key: string };
  twin: Running & { origin: string };
  /** Starts a worker; resolves when its workflows are served. */
  startWorker: (settings: Record<string, string>) => Promise<Running>;
  /** The work's processor time, by whose it is, in ms; `processes` are those that count as ours. */
  measure: (processes: readonly Running[], work: () => Promise<unknown>) => Promise<Cpu>;
  close: () => Promise<void>;
};

const NO_LIMITS = {
  RATE_LIMIT_SANDBOX_PER_SECOND: '0',
  RATE_LIMIT_LIVE_PER_SECOND: '0',
  RATE_LIMIT_LISTS_PER_SECOND: '0',
  RATE_LIMIT_PAGES_PER_SECOND: '0',
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0',
};

export async function createWorld(ground: Ground): Promise<World> {
  const { databaseUrl, temporal } = ground;
  const settings = { ...NO_LIMITS, DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporal.address };
  const db = openDatabase({ url: databaseUrl, poolMax: 2, applicationName: 'bench' });
  const receiver = await startReceiver();
  const { merchantId, key } = await seedHistory(ground, db);
  const [apiPort, metricsPort, twinPort] = [await anyFreePort(), await anyFreePort(), await anyFreePort()];
  const origin = `http://127.0.0.1:${apiPort}`;
  const ports = { API_PORT: String(apiPort), METRICS_PORT: String(metricsPort), BASE_URL: origin };
  const api = await ground.run(
    { name: 'api', file: 'src/cli.js', args: ['api'], settings: { ...settings, ...ports } },
    () => answers(`${origin}/readyz`),
  );
  const twinOrigin = `http://127.0.0.1:${twinPort}`;
  const days = 'startDate=2026-01-01&endDate=2026-01-01&currency=ETB&limit=1&page=1';
  const twin = await ground.run(
    {
      name: 'twin',
      file: 'test/bench/twin.js',
      args: [String(twinPort), databaseUrl, receiver.url, merchantId],
    },
    () => answers(`${twinOrigin}/?${days}`),
  );
  return {
    ground,
    db,
    merchantId,
    receiver,
    api: { ...api, origin, key },
    twin: { ...twin, origin: twinOrigin },
    startWorker: async (more) =>
      ground.run(
        {
          name: 'worker',
          file: 'src/cli.js',
          args: ['worker'],
          settings: { ...settings, METRICS_PORT: String(await anyFreePort()), ...more },
        },
        async (running) => (await running.output()).includes('the workflows are served'),
      ),
    measure: async (processes, work) => {
      const before = await read(ground, processes);
      await work();
      const after = await read(ground, processes);
      return {
        ours: after.ours - before.ours,
        temporal: after.temporal - before.temporal,
        postgres: after.postgres - before.postgres,
      };
    },
    close: async () => {
      await Promise.all([receiver.close(), db.destroy()]);
    },
  };
}

async function read({ temporal, postgres }: Ground, processes: readonly Running[]): Promise<Cpu> {
  const [ours, ofTemporal, ofPostgres] = await Promise.all([
    processorMs(processes.map(({ pid }) => pid)),
    processorMs([temporal.child.pid]),
    processorMs([postgres.child.pid]),
  ]);
  return { ours, temporal: ofTemporal, postgres: ofPostgres };
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => null);
  await response?.body?.cancel();
  return response?.ok ?? false;
}

/** Waits until the database says yes, asked every 50 ms. */
export async function untilTrue(db: Knex, question: string, withinMs: number): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const [answer] = await rows<{ yes: boolean }>(db, `SELECT (${question}) AS yes`);
    if (answer?.yes) return;
    if (Date.now() > deadlineMs) throw new Error(`not true within ${withinMs / 1000} s: ${question}`);
    await sleep(50);
  }
}
