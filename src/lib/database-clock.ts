import { setTimeout as sleep } from 'node:timers/promises';

import { systemClock, type Clock } from './clock.ts';
import { type Database, first } from './db.ts';
import type { Logger } from './log.ts';

const QUERY_EVERY_MS = 5_000;
/** The interval until the database's time is known. */
const FIRST_QUERY_EVERY_MS = 500;
/** A slower reading is skipped, except the first: it is exact to half of its duration only. */
const READING_MS_MAX = 500;
const READ_TIME = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS ms';
const WARN_FROM_SECONDS = 1;
const WARN_EVERY_MS = 60_000;

/**
 * The database's clock without a query per reading: queried every 5 s, extrapolated with the process's monotonic clock.
 * What is due, and when it expires, does not depend on which process decides it, nor on a clock that is wrong or set while
 * the process runs. Warns when the process's own clock is a second off.
 */
export function createDatabaseClock(
  db: Database,
  { log, processClock = systemClock }: { log: Pick<Logger, 'warn'>; processClock?: Clock },
) {
  /** The database's time minus the process's monotonic clock. */
  let offsetMs: number | null = null;
  let [latestMs, warnedAtMs] = [0, -Infinity];
  const stopping = new AbortController();
  let publishTime = (): void => {};
  const known = new Promise<void>((resolve) => (publishTime = resolve));

  const nowMs = (): number => {
    if (offsetMs === null) return processClock().getTime();
    const ms = offsetMs + performance.now();
    // A reading can move the estimate back by some milliseconds. Further back, a clock was set.
    latestMs = latestMs - ms < 1_000 ? Math.max(latestMs, ms) : ms;
    return latestMs;
  };
  const skewSeconds = (): number | null => (offsetMs === null ? null : (processClock().getTime() - nowMs()) / 1_000);
  const readTime = async (): Promise<void> => {
    const startedMs = performance.now();
    const row = await first<{ ms: number }>(db, READ_TIME);
    const readingMs = performance.now() - startedMs;
    if (!row || (offsetMs !== null && readingMs > READING_MS_MAX)) return;
    offsetMs = row.ms - startedMs - readingMs / 2;
    publishTime();
    const seconds = skewSeconds() ?? 0;
    const isWrong = Math.abs(seconds) - readingMs / 2_000 >= WARN_FROM_SECONDS;
    if (!isWrong || performance.now() - warnedAtMs < WARN_EVERY_MS) return;
    warnedAtMs = performance.now();
    log.warn({ skewSeconds: seconds }, "this machine's clock differs from the database's; set both by a time server");
  };
  void (async () => {
    while (!stopping.signal.aborted) {
      // While the database is unavailable the last reading is extrapolated.
      await readTime().catch(() => {});
      const everyMs = offsetMs === null ? FIRST_QUERY_EVERY_MS : QUERY_EVERY_MS;
      await sleep(everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  })();

  return {
    /** The database's time; the process's before that is known. Never goes back by a second or more. */
    now: (): Date => new Date(nowMs()),
    /** Resolves when the database's time is known, or the clock is stopped. */
    known,
    /** The process's clock minus the database's; null while that is unknown. */
    skewSeconds,
    stop: (): void => {
      stopping.abort();
      publishTime();
    },
  };
}
