import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { environment } from '../../src/config.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { isAlive, stopOrphan } from '../../src/local/child-process.ts';
import { ensureDatabase, startPostgres, POSTGRES_PID_FILE } from '../../src/local/postgres.ts';
import { findTemporalBinary, startTemporal, TEMPORAL_PID_FILE } from '../../src/local/temporal.ts';
import { runSql } from '../support/database.ts';

describe('the servers of a local start', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meskot-servers-'));
    await chmod(folder, 0o711);
  });
  afterEach(async () => {
    await Promise.all([stopOrphan(join(folder, POSTGRES_PID_FILE)), stopOrphan(join(folder, TEMPORAL_PID_FILE))]);
    await rm(folder, { recursive: true });
  });

  test('a PostgreSQL left by a killed process is stopped, and another one starts with its data', async () => {
    const options = { folder, choosePort: anyFreePort, durable: false };
    const first = await startPostgres(options);
    await ensureDatabase(first.url('postgres', 'owner'), 'kept');
    const second = await startPostgres(options);
    await expect(isAlive(first.child)).resolves.toBe(false);
    await runSql(second.url('kept', 'owner'), 'SELECT 1');
  });

  test('a killed PostgreSQL whose postmaster.pid names another program starts again', async () => {
    const first = await startPostgres({ folder, choosePort: anyFreePort, durable: false });
    process.kill(first.child.pid, 'SIGKILL');
    while (await isAlive(first.child)) await sleep(10);
    const file = join(folder, 'cluster/postmaster.pid');
    const [, ...rest] = (await readFile(file, 'utf8')).split('\n');
    await writeFile(file, [process.pid, ...rest].join('\n'));
    const second = await startPostgres({ folder, choosePort: anyFreePort, durable: false });
    await expect(isAlive(second.child)).resolves.toBe(true);
  });

  test('a Temporal server left by a killed process is stopped, and another one starts on its database', async () => {
    const findBinary = () => findTemporalBinary({ givenPath: environment['TEMPORAL_CLI_PATH'] });
    const port = await anyFreePort();
    const options = { folder, findBinary, choosePorts: async () => ({ port }) };
    const first = await startTemporal(options);
    const second = await startTemporal(options);
    expect(second.address).toBe(first.address);
    await expect(isAlive(first.child)).resolves.toBe(false);
    await second.stop();
    await expect(isAlive(second.child)).resolves.toBe(false);
  });
});
