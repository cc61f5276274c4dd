import type { Clock } from './clock.ts';
import { type Database, rows } from './db.ts';
import type { Logger } from './log.ts';

const QUERY_EVERY_MS = 5_000;
/** The interval until the database's time is known. */
const FIRST_QUERY_EVERY_MS = 500;
/** An estimate of this age is replaced, however precise it was. */
const TRUSTED_MS = 60_000;
const WARN_FROM_SECONDS = 1;
const WARN_EVERY_MS = 60_000;

export type DatabaseClock = {
  /** The database's time; the process's before that is known. Never goes back by a second or more. */
  now: Clock;
  /** Resolves when the database's time is known, or the clock is stopped. */
  known: Promise<void>;
  /** The process's clock minus the database's; null while that is unknown. */
  skewSeconds: () => number | null;
  stop: () => void;
};

export type DatabaseClockOptions = {
  log: Pick<Logger, 'warn'>;
  /** The process's clock; another one in tests. */
  processClock?: Clock;
};

/** The database's time at a moment of this process's monotonic clock, with an error of at most `errorMs`. */
type Estimate = { atMs: number; databaseMs: number; errorMs: number };

/**
 * The database's clock without a query per reading: queried every 5 s, extrapolated with the process's monotonic clock.
 * What is due, and when it expires, does not depend on which process decides it, nor on a clock that is wrong or set while
 * the process runs. Warns when the process's own clock is a second off.
 */
export function createDatabaseClock(db: Database, options: DatabaseClockOptions): DatabaseClock {
  const processClock = options.processClock ?? (() => new Date());
  let estimate: Estimate | null = null;
  let [latestMs, warnedAtMs, stopped] = [0, -Infinity, false];
  let timer: NodeJS.Timeout | undefined;
  let publishTime = (): void => {};
  const known = new Promise<void>((resolve) => (publishTime = resolve));

  const nowMs = (): number => {
    if (estimate === null) return processClock().getTime();
    const ms = databaseMsAt(estimate, performance.now());
    // A more precise reading can move the estimate back by some milliseconds.
    latestMs = latestMs - ms < 1_000 ? Math.max(latestMs, ms) : ms;
    return latestMs;
  };
  const skewSeconds = (): number | null => (estimate === null ? null : (processClock().getTime() - nowMs()) / 1_000);
  const warn = ({ errorMs }: Estimate): void => {
    const seconds = skewSeconds() ?? 0;
    const isSure = Math.abs(seconds) - errorMs / 1_000 >= WARN_FROM_SECONDS;
    if (!isSure || performance.now() - warnedAtMs < WARN_EVERY_MS) return;
    warnedAtMs = performance.now();
    const message = "this machine's clock differs from the database's; set both by a time server";
    options.log.warn({ skewSeconds: seconds }, message);
  };
  const query = async (): Promise<void> => {
    try {
      const latest = await readDatabaseTime(db);
      if (estimate === null || isBetter(latest, estimate)) estimate = latest;
      publishTime();
      warn(estimate);
    } catch {
      // The database is unavailable: the last reading is extrapolated.
    }
    if (!stopped) timer = setTimeout(() => void query(), estimate ? QUERY_EVERY_MS : FIRST_QUERY_EVERY_MS).unref();
  };
  void query();

  return {
    now: () => new Date(nowMs()),
    known,
    skewSeconds,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      publishTime();
    },
  };
}

async function readDatabaseTime(db: Database): Promise<Estimate> {
  const requestedMs = performance.now();
  const sql = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS ms';
  const [row] = await rows<{ ms: number }>(db, sql);
  if (!row) throw new Error('clock_timestamp() returned no row');
  const errorMs = (performance.now() - requestedMs) / 2;
  return { atMs: requestedMs + errorMs, databaseMs: row.ms, errorMs };
}

function databaseMsAt({ atMs, databaseMs }: Estimate, monotonicMs: number): number {
  return databaseMs + (monotonicMs - atMs);
}

/** More precise, needed since the old one is old, or proof that the old one is wrong: a clock was set. */
function isBetter(latest: Estimate, estimate: Estimate): boolean {
  const apartMs = Math.abs(latest.databaseMs - databaseMsAt(estimate, latest.atMs));
  return (
    latest.errorMs <= estimate.errorMs ||
    latest.atMs - estimate.atMs > TRUSTED_MS ||
    apartMs > latest.errorMs + estimate.errorMs
  );
}
