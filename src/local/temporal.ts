import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Connection } from '@temporalio/client';

import { findChild, isAlive, startChild, stopChild, type Child } from './child-process.ts';
import { createPrivateFolder } from './data-folder.ts';

const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 2_000;
const HOST = '127.0.0.1';

/** Without a port for it, there is no web interface. */
export type TemporalPorts = { port: number; uiPort?: number };

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

export type LocalTemporal = {
  address: string;
  ports: TemporalPorts;
  uiUrl: string | undefined;
  /** Whether a killed process left it running. */
  reused: boolean;
  child: Child;
  stop: () => Promise<void>;
};

/**
 * Starts a Temporal development server on its database file, or uses the one already running there: a second server on
 * the same file would start as well and take over the first one's work.
 */
export async function startTemporal(options: TemporalOptions): Promise<LocalTemporal> {
  await createPrivateFolder(options.folder);
  const pidFile = join(options.folder, 'temporal.pid');
  const orphan = await findChild<TemporalPorts>(pidFile);
  if (orphan && (await respondsWithin(orphan, 5_000))) return describe(orphan, true);
  if (orphan) await stopChild(orphan, 'SIGTERM', STOP_WITHIN_MS);
  const [command, ports] = await Promise.all([options.findBinary(), options.choosePorts()]);
  const started = await startChild<TemporalPorts>({
    command,
    args: serverArguments(options, ports),
    logFile: join(options.folder, 'temporal.log'),
    pidFile,
    details: ports,
  });
  if (await respondsWithin(started, READY_WITHIN_MS)) return describe(started, false);
  await stopChild(started, 'SIGTERM', STOP_WITHIN_MS);
  const log = await readFile(join(options.folder, 'temporal.log'), 'utf8').catch(() => '');
  const lastLines = log.trimEnd().split('\n').slice(-5).join('\n');
  throw new Error(`The Temporal server did not start. The end of its log:\n${lastLines}`);
}

/** Stops a Temporal server that a killed process left running on this folder. True if there was one. */
export async function stopOrphanTemporal(folder: string): Promise<boolean> {
  const orphan = await findChild(join(folder, 'temporal.pid'));
  if (orphan) await stopChild(orphan, 'SIGTERM', STOP_WITHIN_MS);
  return orphan !== undefined;
}

function serverArguments(options: TemporalOptions, ports: TemporalPorts): string[] {
  const ui = ports.uiPort === undefined ? ['--headless'] : ['--ui-port', String(ports.uiPort)];
  const settings = Object.entries(options.dynamicConfig ?? {}).flatMap(([key, value]) => [
    '--dynamic-config-value',
    `${key}=${value}`,
  ]);
  // Durable against a killed process. A crash of the machine may lose the last moments, which the sweep repairs.
  const database = ['--db-filename', join(options.folder, 'temporal.db'), '--sqlite-pragma', 'synchronous=1'];
  const address = ['--ip', HOST, '--port', String(ports.port)];
  return ['server', 'start-dev', ...address, ...ui, ...database, '--log-level', 'error', ...settings];
}

function describe(server: Child & TemporalPorts, reused: boolean): LocalTemporal {
  return {
    address: `${HOST}:${server.port}`,
    ports: server.uiPort === undefined ? { port: server.port } : { port: server.port, uiPort: server.uiPort },
    uiUrl: server.uiPort === undefined ? undefined : `http://localhost:${server.uiPort}`,
    reused,
    child: { pid: server.pid, mark: server.mark },
    stop: () => stopChild(server, 'SIGTERM', STOP_WITHIN_MS),
  };
}

async function respondsWithin(server: Child & TemporalPorts, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (Date.now() < deadline && (await isAlive(server))) {
    if (await responds(`${HOST}:${server.port}`)) return true;
    await sleep(50);
  }
  return false;
}

async function responds(address: string): Promise<boolean> {
  try {
    const connection = await Connection.connect({ address, connectTimeout: 3_000 });
    try {
      await connection.withDeadline(Date.now() + 3_000, () =>
        connection.workflowService.describeNamespace({ namespace: 'default' }),
      );
      return true;
    } finally {
      await connection.close();
    }
  } catch {
    return false;
  }
}
