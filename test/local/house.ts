import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { environment } from '../../src/config.ts';
import { isPortFree } from '../../src/lib/free-port.ts';
import type { Status } from '../../src/local/status.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const PORTS = ['API', 'SIMULATOR', 'DEMO_SHOP', 'METRICS', 'POSTGRES', 'TEMPORAL', 'TEMPORAL_UI'];
export const READY_WITHIN_MS = 150_000;

export type Run = { process: ChildProcess; output: () => string; ended: Promise<number | null> };

/** A free port below those that systems give to outgoing connections: they would take it before a start listens on it. */
async function stablePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (await isPortFree(port)) return port;
  }
}

/** The command line in a data folder and on ports of its own. */
export async function createHouse() {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-start-'));
  await chmod(folder, 0o711);
  const env: Record<string, string | undefined> = { ...environment, MESKOT_DATA_DIR: join(folder, 'data') };
  // All kinds of demo data, but little: fewer payments would have no failed ones of late. test/local/seed.test.ts makes
  // the whole.
  env['MESKOT_DEMO_PAYMENTS'] = '1000';
  env['MESKOT_DEMO_PURCHASE_INTERVAL_SECONDS'] = '1';
  for (const name of PORTS) env[`${name}_PORT`] = String(await stablePort());
  const run = (...args: string[]): Run => {
    const child = spawn(process.execPath, ['--import', 'tsx/esm', 'src/cli.ts', ...args], { cwd: PROJECT, env });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += String(chunk)));
    return { process: child, output: () => text, ended: once(child, 'close').then(([code]) => code as number | null) };
  };
  const status = async (): Promise<Status> => {
    const asked = run('status', '--json');
    await asked.ended;
    return JSON.parse(asked.output()) as Status;
  };
  return { folder, dataFolder: join(folder, 'data'), env, run, status };
}

export type House = Awaited<ReturnType<typeof createHouse>>;

export async function startIn(house: House): Promise<Run> {
  return untilRunning(house.run('start'));
}

export async function untilRunning(started: Run): Promise<Run> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!started.output().includes('Ctrl-C stops')) {
    if (started.process.exitCode !== null || Date.now() > deadline) throw new Error(started.output());
    await sleep(50);
  }
  return started;
}

/** Ends what runs there in the way people do, and what a failed test has left. */
export async function clearHouse(house: House, started: Run | undefined): Promise<void> {
  started?.process.kill('SIGTERM');
  await started?.ended;
  await house.run('reset').ended;
  await rm(house.folder, { recursive: true, force: true });
}
