import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findChild, isAlive, startChild, stopChild, writePidFile, type Child } from '../../src/local/child-process.ts';

describe('a child that may outlive us', () => {
  let folder: string;
  let pidFile: string;
  let child: Child & { port: number };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meskot-children-'));
    pidFile = join(folder, 'child.pid');
    // Deaf to SIGTERM, to be ended by force.
    const script = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('ready')";
    const command = { command: process.execPath, args: ['-e', script] };
    child = await startChild({ ...command, logFile: join(folder, 'log'), pidFile, details: { port: 1234 } });
  });
  afterEach(async () => {
    await stopChild(child, 'SIGKILL', 1_000);
    await rm(folder, { recursive: true });
  });

  test('is found again by its pid file, with what was noted about it', async () => {
    await expect(findChild(pidFile)).resolves.toEqual(child);
    expect(child).toMatchObject({ port: 1234 });
  });

  test('is ended by force when it does not end within its time', async () => {
    await stopChild(child, 'SIGTERM', 300);
    await expect(isAlive(child)).resolves.toBe(false);
    await expect(findChild(pidFile)).resolves.toBeUndefined();
  });

  test('is not confused with a later process that was given the same number', async () => {
    const stranger = { pid: child.pid, mark: 'began at another time' };
    writePidFile(pidFile, stranger);
    await expect(findChild(pidFile)).resolves.toBeUndefined();
    await stopChild(stranger, 'SIGKILL', 100);
    await expect(isAlive(child)).resolves.toBe(true);
  });

  test('a program that is not there is an error, not a crash', async () => {
    const options = { command: join(folder, 'nothing'), args: [], logFile: join(folder, 'log'), pidFile, details: {} };
    await expect(startChild(options)).rejects.toThrow('ENOENT');
  });
});
