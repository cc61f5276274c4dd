import { measureFigures, type Registry } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import { type Database, openDatabase, rows } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import { verifyLedger, type Violation, type LedgerInvariant } from './verify.ts';

const GAUGES = {
  violations: {
    name: 'meskot_ledger_invariant_violations',
    help: 'Invariants of "meskot ledger verify" that the last verification of this process found violated; NaN before the first',
  },
} as const;

const FIRST_AFTER_MS = 10 * 60_000;
/** A number that nothing else in this database locks: "ledg". */
const LOCK_ID = 0x6c_65_64_67;

export type IntegrityMonitorDeps = {
  /** Used to cancel a running verification. */
  db: Database;
  databaseUrl: string;
  checks: readonly LedgerInvariant[];
  clock: Clock;
  log: Pick<Logger, 'error'>;
  registry?: Registry | undefined;
};

/**
 * Verifies the whole ledger periodically: ten minutes after the start of the process, then every `everyMs`, in one process
 * at a time. Logs and counts violations; changes nothing. Aborting `stopping` cancels a running verification.
 */
export function createIntegrityMonitor(
  deps: IntegrityMonitorDeps,
  everyMs: number,
): (stopping: AbortSignal) => Promise<void> {
  const { clock, log, registry } = deps;
  let dueAt = clock().getTime() + Math.min(FIRST_AFTER_MS, everyMs);
  let violations = NaN;
  if (registry) measureFigures(registry, GAUGES, async () => ({ violations }));
  return async (stopping) => {
    if (clock().getTime() < dueAt) return;
    const found = await runOnce(deps, stopping);
    if (!found) return;
    for (const one of found) log.error(one, 'a ledger invariant is violated: run "meskot ledger verify"');
    violations = found.length;
    dueAt = clock().getTime() + everyMs;
  };
}

/** Null when another process is verifying, or when it was stopped. */
async function runOnce(
  { db, databaseUrl, checks }: IntegrityMonitorDeps,
  stopping: AbortSignal,
): Promise<Violation[] | null> {
  // A connection without time limits, which holds the lock until it is closed.
  const own = openDatabase({
    url: databaseUrl,
    poolMax: 1,
    applicationName: 'meskot-ledger',
    unlimitedStatements: true,
  });
  let end = (): void => {};
  try {
    const [lock] = await rows<{ isOurs: boolean; pid: number }>(
      own,
      'SELECT pg_try_advisory_lock(:lockId) AS is_ours, pg_backend_pid() AS pid',
      { lockId: LOCK_ID },
    );
    if (!lock?.isOurs || stopping.aborted) return null;
    end = () => void rows(db, 'SELECT pg_terminate_backend(:pid)', lock).catch(() => {});
    stopping.addEventListener('abort', end);
    return await verifyLedger(own, checks);
  } catch (error) {
    if (stopping.aborted) return null;
    throw error;
  } finally {
    stopping.removeEventListener('abort', end);
    await own.destroy();
  }
}
