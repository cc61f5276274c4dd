import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import pg from 'pg';

import { openDatabase } from '../../src/lib/db.ts';
import { migrate } from '../../src/lib/migrate.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { processStartTime, stopChild, writePidFile } from '../../src/local/child-process.ts';
import { ensureDatabase, POSTGRES_PID_FILE, startPostgres, type LocalPostgres } from '../../src/local/postgres.ts';
import { runSql, type TestDatabase } from './database.ts';

/** A migrated PostgreSQL for one test, to be killed and frozen. */
export type OwnPostgres = {
  database: TestDatabase;
  /** Crashes the server. `start` restarts it on the same port with all committed data. */
  kill: () => Promise<void>;
  start: () => Promise<void>;
  /** After `kill`: a second server on a copy of its data, as a standby that was promoted. */
  startSuccessor: () => Promise<Successor>;
  /** After `kill`: from the next start on it is a standby, which is in recovery and takes no writes. */
  demote: () => Promise<void>;
  /** Stops all its processes with SIGSTOP: connections stay open, no reply comes. */
  freeze: () => Promise<void>;
  thaw: () => void;
  close: () => Promise<void>;
};

export type Successor = { port: number; superuserUrl: string; close: () => Promise<void> };

const DATABASE = 'meskot';

export async function createOwnPostgres(): Promise<OwnPostgres> {
  // The next run removes folders of this name if this run is killed.
  const folder = await mkdtemp(join(tmpdir(), 'meskot-test-'));
  await chmod(folder, 0o711);
  writePidFile(join(folder, 'owner.pid'), { pid: process.pid, mark: (await processStartTime(process.pid)) ?? '' });
  const port = await anyFreePort();
  const ownFolder = join(folder, 'postgres');
  const launch = async (): Promise<LocalPostgres> =>
    startPostgres({ folder: ownFolder, choosePort: async () => port, durable: true });
  let server = await launch();
  const [superuserUrl, ownerUrl] = [server.url(DATABASE, 'superuser'), server.url(DATABASE, 'owner')];
  const url = server.url(DATABASE, 'app');
  await ensureDatabase(server.url('postgres', 'owner'), DATABASE);
  await migrate({ url: ownerUrl, directory: resolve(import.meta.dirname, '../../migrations') });
  const db = openDatabase({ url, poolMax: 10, applicationName: 'test' });
  let frozen: number[] = [];
  const thaw = (): void => {
    for (const pid of frozen) signal(pid, 'SIGCONT');
    frozen = [];
  };

  return {
    database: {
      db,
      url,
      ownerUrl,
      superuserUrl,
      asOwner: async (sql) => runSql(ownerUrl, sql),
      drop: async () => db.destroy(),
    },
    kill: async () => stopChild(server.child, 'SIGKILL', 5_000),
    start: async () => {
      server = await launch();
    },
    startSuccessor: async () => {
      const copy = join(folder, 'successor');
      await cp(server.folder, copy, { recursive: true });
      await rm(join(copy, POSTGRES_PID_FILE));
      const successor = await startPostgres({ folder: copy, choosePort: anyFreePort, durable: true });
      return { port: successor.port, superuserUrl: successor.url(DATABASE, 'superuser'), close: successor.stop };
    },
    demote: async () => writeFile(join(server.folder, 'cluster', 'standby.signal'), ''),
    freeze: async () => {
      const client = new pg.Client({ connectionString: ownerUrl });
      await client.connect();
      // First the postmaster, which starts the others, so that none is missed; last the process of this query.
      signal(server.child.pid, 'SIGSTOP');
      const { rows } = await client.query<{ pid: number }>(
        'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
      );
      await client.end();
      frozen = [server.child.pid, ...rows.map(({ pid }) => pid)];
      for (const pid of frozen) signal(pid, 'SIGSTOP');
    },
    thaw,
    close: async () => {
      thaw();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended.
  }
}
