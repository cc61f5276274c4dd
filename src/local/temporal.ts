import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Connection } from '@temporalio/client';

import { findChild, isAlive, lastLines, startChild, stopChild, type Child } from './child-process.ts';
import { createPrivateFolder } from './data-folder.ts';

const READY_WITHIN_MS = 30_000;
const REUSED_WITHIN_MS = 5_000;
const RESPONSE_WITHIN_MS = 3_000;
const STOP_WITHIN_MS = 2_000;
const HOST = '127.0.0.1';

/** Without a port for it, there is no web interface. */
export type TemporalPorts = { port: number; uiPort?: number | undefined };

export type TemporalOptions = {
  /** Finds the program; called only when no server is running. */
  findBinary: () => Promise<string>;
  /** Holds its database, log and pid file. */
  folder: string;
  /** Called only when no server is running. */
  choosePorts: () => Promise<TemporalPorts>;
  /** Settings of the server, as JSON texts by name. */
  dynamicConfig?: Readonly<Record<string, string>>;
};

export type LocalTemporal = ReturnType<typeof describe>;

/**
 * Starts a Temporal development server on its database file, or uses the one already running there: a second server on
 * the same file would start as well and take over the first one's work.
 */
export async function startTemporal(options: TemporalOptions): Promise<LocalTemporal> {
  await createPrivateFolder(options.folder);
  const [pidFile, logFile] = [join(options.folder, 'temporal.pid'), join(options.folder, 'temporal.log')];
  const orphan = await findChild<TemporalPorts>(pidFile);
  if (orphan && (await respondsWithin(orphan, REUSED_WITHIN_MS))) return describe(orphan, true);
  if (orphan) await stopChild(orphan, 'SIGTERM', STOP_WITHIN_MS);
  const [command, ports] = await Promise.all([options.findBinary(), options.choosePorts()]);
  const started = await startChild({
    command,
    args: serverArguments(options, ports),
    logFile,
    pidFile,
    details: ports,
  });
  if (await respondsWithin(started, READY_WITHIN_MS)) return describe(started, false);
  await stopChild(started, 'SIGTERM', STOP_WITHIN_MS);
  throw new Error(`The Temporal server did not start. The end of its log:\n${await lastLines(logFile)}`);
}

/** Stops a Temporal server that a killed process left running on this folder. */
export async function stopOrphanTemporal(folder: string): Promise<void> {
  const orphan = await findChild(join(folder, 'temporal.pid'));
  if (orphan) await stopChild(orphan, 'SIGTERM', STOP_WITHIN_MS);
}

function serverArguments({ folder, dynamicConfig = {} }: TemporalOptions, { port, uiPort }: TemporalPorts): string[] {
  const address = ['--ip', HOST, '--port', String(port)];
  const ui = uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)];
  // Durable against a killed process. A crash of the machine may lose the last moments, which the sweep repairs.
  const database = ['--db-filename', join(folder, 'temporal.db'), '--sqlite-pragma', 'synchronous=1'];
  const settings = Object.entries(dynamicConfig).flatMap(([key, value]) => [
    '--dynamic-config-value',
    `${key}=${value}`,
  ]);
  return ['server', 'start-dev', ...address, ...ui, ...database, '--log-level', 'error', ...settings];
}

/** `reused`: a killed process left it running. */
function describe({ pid, mark, ...ports }: Child & TemporalPorts, reused: boolean) {
  const child = { pid, mark };
  return {
    ...ports,
    address: `${HOST}:${ports.port}`,
    uiUrl: ports.uiPort === undefined ? undefined : `http://localhost:${ports.uiPort}`,
    reused,
    child,
    stop: () => stopChild(child, 'SIGTERM', STOP_WITHIN_MS),
  };
}

async function respondsWithin(server: Child & TemporalPorts, withinMs: number): Promise<boolean> {
  for (const deadline = Date.now() + withinMs; Date.now() < deadline && (await isAlive(server)); await sleep(50)) {
    if (await responds(`${HOST}:${server.port}`)) return true;
  }
  return false;
}

async function responds(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: RESPONSE_WITHIN_MS }).catch(() => null);
  if (!connection) return false;
  const describing = connection.withDeadline(Date.now() + RESPONSE_WITHIN_MS, () =>
    connection.workflowService.describeNamespace({ namespace: 'default' }),
  );
  return describing
    .then(
      () => true,
      () => false,
    )
    .finally(() => connection.close());
}
