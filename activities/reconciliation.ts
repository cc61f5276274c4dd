import { activityInfo, ApplicationFailure, heartbeat } from '@temporalio/activity';

import type { RunInTransaction } from '../src/outbox/record.ts';
import { abandonRun, compareDay, type RunResult } from '../src/reconciliation/compare.ts';
import {
  importNextPage,
  startImport,
  type Import,
  type ImportDeps,
  type ImportedPage,
} from '../src/reconciliation/import.ts';
import { isPermanentError, recheckOrders, type RecheckDeps } from '../src/reconciliation/recheck.ts';
import { requestLastDays } from '../src/reconciliation/request.ts';
import { elapsedMs, withoutUselessRetries } from './running.ts';

export type ReconciliationDeps = ImportDeps & RecheckDeps & { runInTransaction: RunInTransaction };

type DayRequest = { reconciliationId: string; atMs: number };

export type ReconciliationActivities = ReturnType<typeof createReconciliationActivities>;

/** @param operations can be replaced by a test of their errors. */
export function createReconciliationActivities(
  deps: ReconciliationDeps,
  operations = { importNextPage, recheckOrders },
) {
  const { db, runInTransaction, findProvider } = deps;
  return withoutUselessRetries({
    /** Returns the number of requested days. */
    async requestLastDays({ atMs }: Pick<DayRequest, 'atMs'>): Promise<number> {
      const request = { findProvider, clock: () => new Date(atMs) };
      return (await runInTransaction((tx) => requestLastDays(tx, request))).length;
    },

    async startImport({ reconciliationId, atMs }: DayRequest): Promise<Import> {
      return startImport(db, reconciliationId, new Date(atMs));
    },

    async importNextPage(run: Import): Promise<ImportedPage> {
      return failedPermanently(() => operations.importNextPage(deps, run));
    },

    async recheckOrders({ reconciliationId, after, atMs }: DayRequest & { after: string }) {
      const at = new Date(atMs + elapsedMs());
      return failedPermanently(() => operations.recheckOrders(deps, { reconciliationId, after, at }));
    },

    async compareDay({ reconciliationId, atMs }: DayRequest): Promise<RunResult> {
      const day = { reconciliationId, at: new Date(atMs), onProgress: () => heartbeat() };
      return failedPermanently(() => compareDay(deps, day));
    },

    async abandonRun({ problem, ...run }: Import & { problem: string | null }): Promise<RunResult> {
      return runInTransaction((tx) => abandonRun(tx, run, problem));
    },
  });
}

/** A single such error may be transient: a connection that broke in the middle of a response. */
const PERMANENT_AFTER_ATTEMPTS = 3;

/** Errors that are permanent because of the data stop the retries. */
async function failedPermanently<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    const isPermanent = isPermanentError(error) && activityInfo().attempt >= PERMANENT_AFTER_ATTEMPTS;
    if (isPermanent && error instanceof Error) throw ApplicationFailure.nonRetryable(error.message, error.name);
    throw error;
  });
}
