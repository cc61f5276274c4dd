import { activityInfo, ApplicationFailure, heartbeat } from '@temporalio/activity';

import type { ReadPage, Import } from '../src/reconciliation/import.ts';
import { isPermanentError, type RecheckResult } from '../src/reconciliation/recheck.ts';
import type { ReconciliationStatus } from '../src/reconciliation/states.ts';
import { elapsedMs } from './business-time.ts';
import { asNonRetryable } from './non-retryable.ts';

export type { Import as Reading } from '../src/reconciliation/import.ts';
export type { RecheckResult } from '../src/reconciliation/recheck.ts';
export type { ReconciliationInput } from '../src/reconciliation/workflow-input.ts';

/** How a day ended. `differences`: those that wait for an operator. */
export type ReconciliationReport = { status: ReconciliationStatus; differences: number };

export type ReconciliationDeps = {
  /** Asks for the last days of every channel: each is compared by a workflow of its own. Answers what it asked for. */
  requestLastDays: (at: Date) => Promise<unknown[]>;
  begin: (reconciliationId: string, at: Date) => Promise<Import>;
  readNext: (reading: Import) => Promise<ReadPage>;
  /** Begins the list again from its first page. */
  rewind: (reading: Import) => Promise<void>;
  /** Asks the provider about the next orders that the list and our books disagree on. */
  recheck: (reconciliationId: string, after: string, at: Date) => Promise<RecheckResult>;
  /** A long day takes minutes: `onProgress` says that it goes on. */
  compare: (reconciliationId: string, at: Date, onProgress: () => void) => Promise<ReconciliationReport>;
  /** `problem`: why, where the row does not say so. */
  giveUp: (reading: Import, problem: string | null) => Promise<ReconciliationReport>;
};

type DayRequest = { reconciliationId: string; atMs: number };

export type ReconciliationActivities = ReturnType<typeof createReconciliationActivities>;

export function createReconciliationActivities(deps: ReconciliationDeps) {
  return {
    /** Answers how many days were asked for. */
    async requestLastDays({ atMs }: Pick<DayRequest, 'atMs'>): Promise<number> {
      return asNonRetryable(async () => (await deps.requestLastDays(new Date(atMs))).length);
    },

    async startImport({ reconciliationId, atMs }: DayRequest): Promise<Import> {
      return asNonRetryable(() => deps.begin(reconciliationId, new Date(atMs)));
    },

    async importNextPage(reading: Import): Promise<ReadPage> {
      return failedPermanently(() => deps.readNext(reading));
    },

    async rewindReading(reading: Import): Promise<void> {
      return failedPermanently(() => deps.rewind(reading));
    },

    async recheckOrders({ reconciliationId, after, atMs }: DayRequest & { after: string }): Promise<RecheckResult> {
      return failedPermanently(() => deps.recheck(reconciliationId, after, new Date(atMs + elapsedMs())));
    },

    async compareDay({ reconciliationId, atMs }: DayRequest): Promise<ReconciliationReport> {
      return failedPermanently(() => deps.compare(reconciliationId, new Date(atMs), () => heartbeat()));
    },

    async abandonRun({ problem, ...run }: Import & { problem: string | null }): Promise<ReconciliationReport> {
      return asNonRetryable(() => deps.giveUp(run, problem));
    },
  };
}

/** Once may have been bad luck: a connection that broke in the middle of an answer. */
const PERMANENT_AFTER_ATTEMPTS = 3;

/** As {@link asNonRetryable}, and what goes on to fail for what it is about is not retried for ever either. */
async function failedPermanently<T>(work: () => Promise<T>): Promise<T> {
  return asNonRetryable(async () => {
    try {
      return await work();
    } catch (error) {
      const isHopeless = isPermanentError(error) && activityInfo().attempt >= PERMANENT_AFTER_ATTEMPTS;
      if (isHopeless && error instanceof Error) throw ApplicationFailure.nonRetryable(error.message, error.name);
      throw error;
    }
  });
}
