import { sleep } from '@temporalio/workflow';

/** Sleeps for this many hours. Returns the elapsed milliseconds of the workflow's clock. */
export async function sleeper(hours: number): Promise<number> {
  const startedAt = Date.now();
  await sleep(`${hours} hours`);
  return Date.now() - startedAt;
}
