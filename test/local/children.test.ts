import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findChild, isAlive, startChild, stopChild, writePidFile, type Child } from '../../src/local/child-process.ts';

describe('a child process', () => {
  let folder: string;
  let pidFile: string;
  let child: Child;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meskot-children-'));
    pidFile = join(folder, 'child.pid');
    // Ignores SIGTERM.
    const script = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('ready')";
    const command = { command: process.execPath, args: ['-e', script] };
    child = await startChild({ ...command, logFile: join(folder, 'log'), pidFile });
  });
  afterEach(async () => {
    await stopChild(child, 'SIGKILL', 1_000);
    await rm(folder, { recursive: true });
  });

  test('is found by its pid file', async () => {
    await expect(findChild(pidFile)).resolves.toEqual(child);
  });

  test('is killed when it does not end within the grace period', async () => {
    await stopChild(child, 'SIGTERM', 300);
    await expect(isAlive(child)).resolves.toBe(false);
    await expect(findChild(pidFile)).resolves.toBeUndefined();
  });

  test('is not confused with a later process of the same id', async () => {
    const stranger = { pid: child.pid, mark: 'began at another time' };
    writePidFile(pidFile, stranger);
    await expect(findChild(pidFile)).resolves.toBeUndefined();
    await stopChild(stranger, 'SIGKILL', 100);
    await expect(isAlive(child)).resolves.toBe(true);
  });

  test('of a missing program rejects with ENOENT', async () => {
    const options = { command: join(folder, 'nothing'), args: [], logFile: join(folder, 'log'), pidFile };
    await expect(startChild(options)).rejects.toThrow('ENOENT');
  });
});
