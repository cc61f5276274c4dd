import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { environment } from '../../src/config.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import type { Status } from '../../src/local/commands.ts';
import { buildPortal } from '../../src/local/portal.ts';
import { meskot } from '../support/program.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const PORTS = ['API', 'SIMULATOR', 'DEMO_SHOP', 'METRICS', 'POSTGRES', 'TEMPORAL', 'TEMPORAL_UI'];
export const READY_WITHIN_MS = 150_000;

export type Run = { process: ChildProcess; output: () => string; ended: Promise<number | null> };

/** The command line with its own data folder and ports: "start" as npm start runs it, other commands as built. */
export async function createInstallation() {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-start-'));
  await chmod(folder, 0o711);
  const env: Record<string, string | undefined> = { ...environment, MESKOT_DATA_DIR: join(folder, 'data') };
  // Fewer payments would have no recent failed ones. test/demo/seed/seed.test.ts seeds more.
  env['MESKOT_DEMO_PAYMENTS'] = '1000';
  env['MESKOT_DEMO_PURCHASE_INTERVAL_SECONDS'] = '1';
  for (const name of PORTS) env[`${name}_PORT`] = String(await anyFreePort());
  const run = (...args: string[]): Run => {
    const program = args[0] === 'start' ? ['--import', 'tsx/esm', 'src/cli.ts', ...args] : meskot(...args);
    const child = spawn(process.execPath, program, { cwd: PROJECT, env });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += String(chunk)));
    return { process: child, output: () => text, ended: once(child, 'close').then(([code]) => code as number | null) };
  };
  const status = async (): Promise<Status> => {
    const command = run('status', '--json');
    await command.ended;
    return JSON.parse(command.output()) as Status;
  };
  return { folder, dataFolder: join(folder, 'data'), env, run, status };
}

export type Installation = Awaited<ReturnType<typeof createInstallation>>;

/** Puts the pages that the tests share into the data folder, so that the start does not build them. */
export async function givePages({ dataFolder }: Installation): Promise<void> {
  const pages = (await buildPortal(PROJECT, join(PROJECT, '.data'))) ?? '';
  await cp(pages, join(dataFolder, 'portal', basename(pages)), { recursive: true });
}

export async function startIn(installation: Installation): Promise<Run> {
  return untilRunning(installation.run('start'));
}

export async function untilRunning(started: Run): Promise<Run> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!started.output().includes('Ctrl-C stops')) {
    if (started.process.exitCode !== null || Date.now() > deadline) throw new Error(started.output());
    await sleep(50);
  }
  return started;
}

/** Stops the start and removes its data, also after a failed test. */
export async function removeInstallation(installation: Installation, started: Run | undefined): Promise<void> {
  started?.process.kill('SIGTERM');
  await started?.ended;
  await installation.run('reset').ended;
  await rm(installation.folder, { recursive: true, force: true });
}
