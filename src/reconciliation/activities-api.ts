import type { Clock } from '../lib/clock.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { abandonRun, compareDay } from './compare.ts';
import { importNextPage, restartImport, startImport, type Import, type ImportDeps } from './import.ts';
import { recheckOrders, type RecheckDeps } from './recheck.ts';
import { requestLastDays } from './request.ts';

export type ReconciliationSteps = ReturnType<typeof createReconciliationSteps>;
type StepsDeps = ImportDeps & RecheckDeps & { runInTransaction: RunInTransaction; clock: Clock };

/** The operations of the reconciliation workflows. */
export function createReconciliationSteps(deps: StepsDeps) {
  const { db, runInTransaction } = deps;
  return {
    requestLastDays: (at: Date) => runInTransaction((tx) => requestLastDays(tx, { ...deps, clock: () => at })),
    startImport: (id: string, at: Date) => startImport(db, id, at),
    importNextPage: (run: Import) => importNextPage(deps, run),
    restartImport: (run: Import) => restartImport(db, run),
    recheckOrders: (reconciliationId: string, after: string, at: Date) =>
      recheckOrders(deps, { reconciliationId, after, at }),
    compareDay: (reconciliationId: string, at: Date, onProgress?: () => void) =>
      compareDay(deps, { reconciliationId, at, ...(onProgress && { onProgress }) }),
    abandonRun: (run: Import, error: string | null) => runInTransaction((tx) => abandonRun(tx, run, error)),
  };
}
