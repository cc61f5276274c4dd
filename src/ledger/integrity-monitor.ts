import { measureFigures, type Registry } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import { openDatabase, rows, type Knex } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import { verifyLedger, type Violation, type LedgerInvariant } from './verify.ts';

const GAUGES = {
  broken: {
    name: 'meskot_ledger_invariant_violations',
    help: 'Checks of "meskot ledger verify" that this process has last found broken; NaN before it has looked',
  },
} as const;

const FIRST_AFTER_MS = 10 * 60_000;
/** Any number that nothing else in this database locks: "ledg". */
const TURN = 0x6c_65_64_67;

export type LedgerWatchDeps = {
  /** Ends a look that is under way. */
  db: Knex;
  databaseUrl: string;
  checks: readonly LedgerInvariant[];
  clock: Clock;
  log: Pick<Logger, 'error'>;
  registry?: Registry | undefined;
};

/**
 * Verifies the whole ledger again and again: ten minutes after the process started, and `everyMs` after each time before;
 * one process after the other. What is broken is in the log and in a metric; nothing is changed. Stopping ends it.
 */
export function createIntegrityMonitor(
  deps: LedgerWatchDeps,
  everyMs: number,
): (stopping: AbortSignal) => Promise<void> {
  const { clock, log, registry } = deps;
  let dueAt = clock().getTime() + Math.min(FIRST_AFTER_MS, everyMs);
  let broken = NaN;
  if (registry) measureFigures(registry, GAUGES, async () => ({ broken }));
  return async (stopping) => {
    if (clock().getTime() < dueAt) return;
    const found = await look(deps, stopping);
    if (!found) return;
    for (const one of found) log.error(one, 'the ledger is broken: run "meskot ledger verify"');
    broken = found.length;
    dueAt = clock().getTime() + everyMs;
  };
}

/** Null when another process is looking, or when it was stopped. */
async function look({ db, databaseUrl, checks }: LedgerWatchDeps, stopping: AbortSignal): Promise<Violation[] | null> {
  // Of its own, for it takes as long as it takes; and it keeps the turn until it is closed.
  const own = openDatabase({
    url: databaseUrl,
    poolMax: 1,
    applicationName: 'meskot-ledger',
    unlimitedStatements: true,
  });
  let end = (): void => {};
  try {
    const [turn] = await rows<{ isOurs: boolean; pid: number }>(
      own,
      'SELECT pg_try_advisory_lock(:turn) AS is_ours, pg_backend_pid() AS pid',
      { turn: TURN },
    );
    if (!turn?.isOurs || stopping.aborted) return null;
    end = () => void rows(db, 'SELECT pg_terminate_backend(:pid)', turn).catch(() => {});
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
