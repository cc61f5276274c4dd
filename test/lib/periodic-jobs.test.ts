import { setTimeout as sleep } from 'node:timers/promises';

import { createLogger } from '../../src/lib/log.ts';
import { startPeriodicJobs } from '../../src/lib/periodic-jobs.ts';

/** Runs a job whose first runs fail, until it has run `runs` times. Returns what was logged. */
async function runFailing(failures: number, runs: number): Promise<string[]> {
  const lines: string[] = [];
  const log = createLogger('warn', 'test', { destination: { write: (line: string) => void lines.push(line) } });
  let count = 0;
  const run = async (): Promise<void> => {
    count++;
    if (count <= failures) throw new Error(`run ${count}`);
  };
  const jobs = startPeriodicJobs([{ name: 'sweep', everyMs: 10, run }], log);
  while (count < runs) await sleep(10);
  await jobs.stop();
  return lines.map((line) => (JSON.parse(line) as { msg: string; err: { message: string } }).err.message);
}

test('a job that fails once is run again, without a warning', async () => {
  await expect(runFailing(1, 3)).resolves.toEqual([]);
});

test('a job that fails twice in a row is a warning, and runs on', async () => {
  await expect(runFailing(2, 3)).resolves.toEqual(['run 2']);
});

test('stopping ends the pause before the second run', async () => {
  const log = createLogger('warn', 'test', { destination: { write: () => undefined } });
  let count = 0;
  const jobs = startPeriodicJobs(
    [{ name: 'sweep', everyMs: 10, run: async () => Promise.reject(new Error(`${++count}`)) }],
    log,
  );
  while (count === 0) await sleep(10);
  await jobs.stop();
  expect(count).toBe(1);
});
