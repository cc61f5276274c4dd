import { setTimeout as sleep } from 'node:timers/promises';

/** The promise's value if it settles in time; null otherwise, and a later rejection is ignored. */
export async function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T | null> {
  const settled = new AbortController();
  const timeout = sleep(timeoutMs, null, { signal: settled.signal });
  return Promise.race([promise, timeout]).finally(() => settled.abort());
}
