import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { environment } from '../../src/config.ts';
import { anyFreePort } from '../../src/lib/free-port.ts';
import { isAlive } from '../../src/local/child-process.ts';
import { startPostgres, stopOrphanPostgres } from '../../src/local/postgres.ts';
import { findTemporalBinary } from '../../src/local/temporal-binary.ts';
import { startTemporal, stopOrphanTemporal } from '../../src/local/temporal.ts';

const noPort = () => Promise.reject(new Error('No port is needed.'));

describe('the servers of a local start', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meskot-servers-'));
    await chmod(folder, 0o711);
  });
  afterEach(async () => {
    await Promise.all([stopOrphanPostgres(folder), stopOrphanTemporal(folder)]);
    await rm(folder, { recursive: true });
  });

  test('a PostgreSQL left by a killed process is used instead of a second one', async () => {
    const first = await startPostgres({ folder, choosePort: anyFreePort, durable: false });
    const second = await startPostgres({ folder, choosePort: noPort, durable: false });
    expect(first.reused).toBe(false);
    expect(second).toMatchObject({ reused: true, port: first.port, child: first.child });
  });

  test('a killed PostgreSQL whose postmaster.pid names another program starts again', async () => {
    const first = await startPostgres({ folder, choosePort: anyFreePort, durable: false });
    process.kill(first.child.pid, 'SIGKILL');
    while (await isAlive(first.child)) await sleep(10);
    const file = join(folder, 'cluster/postmaster.pid');
    const [, ...rest] = (await readFile(file, 'utf8')).split('\n');
    await writeFile(file, [process.pid, ...rest].join('\n'));
    const second = await startPostgres({ folder, choosePort: anyFreePort, durable: false });
    expect(second.reused).toBe(false);
  });

  test('a Temporal server left by a killed process is used instead of a second one', async () => {
    const findBinary = () => findTemporalBinary({ givenPath: environment['TEMPORAL_CLI_PATH'] });
    const choosePorts = async () => ({ port: await anyFreePort() });
    const first = await startTemporal({ folder, findBinary, choosePorts });
    const second = await startTemporal({ folder, findBinary, choosePorts: noPort });
    expect(second).toMatchObject({ reused: true, address: first.address, child: first.child });
    await second.stop();
    await expect(isAlive(first.child)).resolves.toBe(false);
  });
});
