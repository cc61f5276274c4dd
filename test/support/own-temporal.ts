import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { Client, Connection } from '@temporalio/client';

import { environment } from '../../src/config.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { readLocalSettings } from '../../src/local/settings.ts';
import { type LocalTemporal, findTemporalBinary, startTemporal } from '../../src/local/temporal.ts';

/** A Temporal server for one test, to be stopped and restarted. */
export type OwnTemporal = {
  address: string;
  start: () => Promise<void>;
  stop: () => Promise<void>;
  /** Stops its process with SIGSTOP until `thaw`: connections stay open, no reply comes. */
  freeze: () => void;
  thaw: () => void;
  /** Deletes its database while it is stopped. */
  forget: () => Promise<void>;
  /** The ids of the running workflows. */
  running: () => Promise<string[]>;
  /** Whether a workflow with this id was ever started. */
  knows: (workflowId: string) => Promise<boolean>;
  close: () => Promise<void>;
};

export async function createOwnTemporal(): Promise<OwnTemporal> {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-own-temporal-'));
  const port = await anyFreePort();
  const address = `127.0.0.1:${port}`;
  const settings = readLocalSettings(environment, resolve(import.meta.dirname, '../..'));
  const { TEMPORAL_CLI_PATH: givenPath, XDG_CACHE_HOME: cacheFolder } = settings;
  let server: LocalTemporal | null = null;
  const stop = async (): Promise<void> => {
    await server?.stop();
    server = null;
  };
  const signal = (name: NodeJS.Signals): void => {
    if (server) process.kill(server.child.pid, name);
  };
  const ask = async <Result>(work: (client: Client) => Promise<Result>): Promise<Result> => {
    const connection = await Connection.connect({ address });
    return work(new Client({ connection })).finally(() => connection.close());
  };
  return {
    address,
    stop,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    start: async () => {
      server = await startTemporal({
        findBinary: () => findTemporalBinary({ givenPath, cacheFolder }),
        folder,
        choosePorts: async () => ({ port }),
      });
    },
    forget: async () => {
      for (const suffix of ['', '-shm', '-wal']) await rm(join(folder, `temporal.db${suffix}`), { force: true });
    },
    running: async () =>
      ask(async ({ workflow }) => {
        const ids: string[] = [];
        for await (const one of workflow.list({ query: `ExecutionStatus = 'Running'` })) ids.push(one.workflowId);
        return ids;
      }),
    knows: async (workflowId) =>
      ask(async ({ workflow }) => {
        const found = await workflow
          .getHandle(workflowId)
          .describe()
          .catch(() => null);
        return found !== null;
      }),
    close: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
