import { activityInfo, ApplicationFailure, heartbeat } from '@temporalio/activity';

import type { ReconciliationSteps } from '../src/reconciliation/activities-api.ts';
import type { RunResult } from '../src/reconciliation/compare.ts';
import type { Import, ImportedPage } from '../src/reconciliation/import.ts';
import { isPermanentError, type RecheckResult } from '../src/reconciliation/recheck.ts';
import { elapsedMs } from './business-time.ts';
import { asNonRetryable } from './non-retryable.ts';

type DayRequest = { reconciliationId: string; atMs: number };

export type ReconciliationActivities = ReturnType<typeof createReconciliationActivities>;

export function createReconciliationActivities(steps: ReconciliationSteps) {
  return {
    /** Returns the number of requested days. */
    async requestLastDays({ atMs }: Pick<DayRequest, 'atMs'>): Promise<number> {
      return asNonRetryable(async () => (await steps.requestLastDays(new Date(atMs))).length);
    },

    async startImport({ reconciliationId, atMs }: DayRequest): Promise<Import> {
      return asNonRetryable(() => steps.startImport(reconciliationId, new Date(atMs)));
    },

    async importNextPage(run: Import): Promise<ImportedPage> {
      return failedPermanently(() => steps.importNextPage(run));
    },

    async rewindReading(run: Import): Promise<void> {
      return failedPermanently(() => steps.restartImport(run));
    },

    async recheckOrders({ reconciliationId, after, atMs }: DayRequest & { after: string }): Promise<RecheckResult> {
      return failedPermanently(() => steps.recheckOrders(reconciliationId, after, new Date(atMs + elapsedMs())));
    },

    async compareDay({ reconciliationId, atMs }: DayRequest): Promise<RunResult> {
      return failedPermanently(() => steps.compareDay(reconciliationId, new Date(atMs), () => heartbeat()));
    },

    async abandonRun({ problem, ...run }: Import & { problem: string | null }): Promise<RunResult> {
      return asNonRetryable(() => steps.abandonRun(run, problem));
    },
  };
}

/** A single such error may be transient: a connection that broke in the middle of a response. */
const PERMANENT_AFTER_ATTEMPTS = 3;

/** As {@link asNonRetryable}. In addition, errors that are permanent because of the data stop the retries. */
async function failedPermanently<T>(work: () => Promise<T>): Promise<T> {
  return asNonRetryable(async () => {
    try {
      return await work();
    } catch (error) {
      const isPermanent = isPermanentError(error) && activityInfo().attempt >= PERMANENT_AFTER_ATTEMPTS;
      if (isPermanent && error instanceof Error) throw ApplicationFailure.nonRetryable(error.message, error.name);
      throw error;
    }
  });
}
