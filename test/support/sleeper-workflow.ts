import { sleep } from '@temporalio/workflow';

/** Sleeps this many hours and returns how many milliseconds passed by its own clock. */
export async function sleeper(hours: number): Promise<number> {
  const startedAt = Date.now();
  await sleep(`${hours} hours`);
  return Date.now() - startedAt;
}
