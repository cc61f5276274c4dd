import { measureFigures, type Registry } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import { openDatabase } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import { verifyLedger, type LedgerCheck } from './verify.ts';

const GAUGES = {
  broken: {
    name: 'meskot_ledger_checks_broken',
    help: 'Checks of "meskot ledger verify" that this process has last found broken; NaN before it has looked',
  },
} as const;

export type LedgerWatchDeps = {
  databaseUrl: string;
  checks: readonly LedgerCheck[];
  clock: Clock;
  log: Pick<Logger, 'error'>;
  registry?: Registry | undefined;
};

/**
 * Verifies the whole ledger again and again, `everyMs` after the process started and after each time before. What is
 * broken is in the log and in a metric; nothing is changed.
 */
export function createLedgerWatch(
  { databaseUrl, checks, clock, log, registry }: LedgerWatchDeps,
  everyMs: number,
): () => Promise<void> {
  let lastAt = clock().getTime();
  let broken = NaN;
  if (registry) measureFigures(registry, GAUGES, async () => ({ broken }));
  return async () => {
    if (clock().getTime() - lastAt < everyMs) return;
    // Of its own, for it takes as long as it takes.
    const db = openDatabase({ url: databaseUrl, poolMax: 1, applicationName: 'meskot-ledger', isPatient: true });
    try {
      const found = await verifyLedger(db, checks);
      for (const one of found) log.error(one, 'the ledger is broken: run "meskot ledger verify"');
      broken = found.length;
      lastAt = clock().getTime();
    } finally {
      await db.destroy();
    }
  };
}
