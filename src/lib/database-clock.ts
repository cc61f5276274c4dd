import { systemClock, type Clock } from './clock.ts';
import { type Database, rows } from './db.ts';
import type { Logger } from './log.ts';

const QUERY_EVERY_MS = 5_000;
/** The interval until the database's time is known. */
const FIRST_QUERY_EVERY_MS = 500;
/** A slower reading is skipped, except the first: it is exact to half of its duration only. */
const READING_MS_MAX = 500;
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
  let [latestMs, warnedAtMs, stopped] = [0, -Infinity, false];
  let timer: NodeJS.Timeout | undefined;
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
  const warn = (errorMs: number): void => {
    const seconds = skewSeconds() ?? 0;
    const isSure = Math.abs(seconds) - errorMs / 1_000 >= WARN_FROM_SECONDS;
    if (!isSure || performance.now() - warnedAtMs < WARN_EVERY_MS) return;
    warnedAtMs = performance.now();
    const message = "this machine's clock differs from the database's; set both by a time server";
    log.warn({ skewSeconds: seconds }, message);
  };
  const query = async (): Promise<void> => {
    try {
      const startedMs = performance.now();
      const sql = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS ms';
      const [row] = await rows<{ ms: number }>(db, sql);
      const readingMs = performance.now() - startedMs;
      if (row && (offsetMs === null || readingMs <= READING_MS_MAX)) {
        offsetMs = row.ms - startedMs - readingMs / 2;
        publishTime();
        warn(readingMs / 2);
      }
    } catch {
      // The database is unavailable: the last reading is extrapolated.
    }
    const everyMs = offsetMs === null ? FIRST_QUERY_EVERY_MS : QUERY_EVERY_MS;
    if (!stopped) timer = setTimeout(() => void query(), everyMs).unref();
  };
  void query();

  return {
    /** The database's time; the process's before that is known. Never goes back by a second or more. */
    now: (): Date => new Date(nowMs()),
    /** Resolves when the database's time is known, or the clock is stopped. */
    known,
    /** The process's clock minus the database's; null while that is unknown. */
    skewSeconds,
    stop: (): void => {
      stopped = true;
      clearTimeout(timer);
      publishTime();
    },
  };
}
