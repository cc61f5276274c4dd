import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ENDS_WITH_PARENT = join(import.meta.dirname, 'end-with-parent.mjs');
/** Like Jest: a process with a channel to a worker whose open timer keeps it alive. */
const RUN = `
  const { spawn } = require('node:child_process');
  const args = ['--import', ${JSON.stringify(ENDS_WITH_PARENT)}, '-e', 'console.log("up"); setInterval(() => {}, 1_000)'];
  const worker = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] });
  worker.stdout.once('data', () => console.log(worker.pid));
`;

test('a worker of a test run ends with the run, also when the run is killed', async () => {
  const run = spawn(process.execPath, ['-e', RUN], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = await new Promise<number>((resolve) => {
    run.stdout.once('data', (line: Buffer) => resolve(Number(line.toString())));
  });
  expect(isRunning(pid)).toBe(true);
  run.kill('SIGKILL');
  await once(run, 'close');
  for (let tries = 0; tries < 200 && isRunning(pid); tries += 1) await sleep(50);
  expect(isRunning(pid)).toBe(false);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
