import type { Clock } from '../lib/clock.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { compareDay, abandonRun } from './compare.ts';
import { startImport, importNextPage, rewind, type ReadDeps, type Import } from './import.ts';
import { recheckOrders, type RecheckDeps } from './recheck.ts';
import { requestLastDays } from './request.ts';

export type StepsDeps = ReadDeps & RecheckDeps & { runInTransaction: RunInTransaction; clock: Clock };

/** What the workflows of reconciliation ask for, step by step. */
export function createReconciliationSteps(deps: StepsDeps) {
  const { db, runInTransaction } = deps;
  return {
    requestLastDays: (at: Date) => runInTransaction((tx) => requestLastDays(tx, { ...deps, clock: () => at })),
    begin: (id: string, at: Date) => startImport(db, id, at),
    readNext: (reading: Import) => importNextPage(deps, reading),
    rewind: (reading: Import) => rewind(db, reading),
    recheck: (reconciliationId: string, after: string, at: Date) =>
      recheckOrders(deps, { reconciliationId, after, at }),
    compare: (reconciliationId: string, at: Date, onProgress?: () => void) =>
      compareDay(deps, { reconciliationId, at, ...(onProgress && { onProgress }) }),
    giveUp: (reading: Import, problem: string | null) => runInTransaction((tx) => abandonRun(tx, reading, problem)),
  };
}
