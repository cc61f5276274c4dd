import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { Connection } from '@temporalio/client';

import { startServer, stopOrphan } from './child-process.ts';

const RESPONSE_WITHIN_MS = 3_000;
const HOST = '127.0.0.1';

/** Without a port for it, there is no web interface. */
export type TemporalPorts = { port: number; uiPort?: number | undefined };

export type TemporalOptions = {
  findBinary: () => Promise<string>;
  /** Holds its database, log and pid file. */
  folder: string;
  choosePorts: () => Promise<TemporalPorts>;
  /** Settings of the server, as JSON texts by name. */
  dynamicConfig?: Readonly<Record<string, string>>;
};

export type LocalTemporal = Awaited<ReturnType<typeof startTemporal>>;

/**
 * Starts a Temporal development server on its database file. One that runs there is stopped first: both would work on the
 * same workflows.
 */
export async function startTemporal({ findBinary, folder, choosePorts, dynamicConfig = {} }: TemporalOptions) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await stopOrphanTemporal(folder);
  const [command, { port, uiPort }] = await Promise.all([findBinary(), choosePorts()]);
  const address = `${HOST}:${port}`;
  const listen = ['--ip', HOST, '--port', String(port)];
  const ui = uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)];
  // Durable against a killed process. A crash of the machine may lose the last moments, which the sweep repairs.
  const database = ['--db-filename', join(folder, 'temporal.db'), '--sqlite-pragma', 'synchronous=1'];
  const settings = Object.entries(dynamicConfig).flatMap((pair) => ['--dynamic-config-value', pair.join('=')]);
  const server = await startServer({
    name: 'Temporal',
    command,
    args: ['server', 'start-dev', ...listen, ...ui, ...database, '--log-level', 'error', ...settings],
    logFile: join(folder, 'temporal.log'),
    pidFile: pidFileIn(folder),
    connect: () => checkNamespace(address),
  });
  return { ...server, port, address, uiUrl: uiPort === undefined ? undefined : `http://localhost:${uiPort}` };
}

const pidFileIn = (folder: string): string => join(folder, 'temporal.pid');

/** Stops a Temporal server that a killed process left running on this folder. */
export async function stopOrphanTemporal(folder: string): Promise<void> {
  await stopOrphan(pidFileIn(folder));
}

async function checkNamespace(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: RESPONSE_WITHIN_MS });
  try {
    await connection.withDeadline(Date.now() + RESPONSE_WITHIN_MS, () =>
      connection.workflowService.describeNamespace({ namespace: 'default' }),
    );
  } finally {
    await connection.close();
  }
}
