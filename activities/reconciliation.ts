import { ApplicationFailure, heartbeat } from '@temporalio/activity';

import { AppError } from '../src/lib/errors.ts';
import type { ReadPage, Reading } from '../src/reconciliation/read.ts';
import type { Settled } from '../src/reconciliation/settle.ts';
import type { ReconciliationStatus } from '../src/reconciliation/states.ts';

export type { Reading } from '../src/reconciliation/read.ts';
export type { Settled } from '../src/reconciliation/settle.ts';
export type { ReconciliationInput } from '../src/reconciliation/workflow-input.ts';

/** How a day ended. `differences`: those that wait for an operator. */
export type ReconciliationReport = { status: ReconciliationStatus; differences: number };

export type ReconciliationDeps = {
  /** Asks for the last days of every channel: each is compared by a workflow of its own. Answers what it asked for. */
  askForLastDays: (at: Date) => Promise<unknown[]>;
  begin: (reconciliationId: string, at: Date) => Promise<Reading>;
  readNext: (reading: Reading) => Promise<ReadPage>;
  /** Begins the list again from its first page. */
  rewind: (reading: Reading) => Promise<void>;
  /** Asks the provider about the next orders that the list and our books disagree on. */
  settle: (reconciliationId: string, after: string, at: Date) => Promise<Settled>;
  /** A long day takes minutes: `onProgress` says that it goes on. */
  compare: (reconciliationId: string, at: Date, onProgress: () => void) => Promise<ReconciliationReport>;
  giveUp: (reconciliationId: string) => Promise<ReconciliationReport>;
};

type DayRequest = { reconciliationId: string; atMs: number };

export type ReconciliationActivities = ReturnType<typeof createReconciliationActivities>;

export function createReconciliationActivities(deps: ReconciliationDeps) {
  return {
    /** Answers how many days were asked for. */
    async askForLastDays({ atMs }: Pick<DayRequest, 'atMs'>): Promise<number> {
      return refusedForGood(async () => (await deps.askForLastDays(new Date(atMs))).length);
    },

    async beginReading({ reconciliationId, atMs }: DayRequest): Promise<Reading> {
      return refusedForGood(() => deps.begin(reconciliationId, new Date(atMs)));
    },

    async readNextPage(reading: Reading): Promise<ReadPage> {
      return refusedForGood(() => deps.readNext(reading));
    },

    async rewindReading(reading: Reading): Promise<void> {
      return refusedForGood(() => deps.rewind(reading));
    },

    async settleListed({ reconciliationId, after, atMs }: DayRequest & { after: string }): Promise<Settled> {
      return refusedForGood(() => deps.settle(reconciliationId, after, new Date(atMs)));
    },

    async compareDay({ reconciliationId, atMs }: DayRequest): Promise<ReconciliationReport> {
      return refusedForGood(() => deps.compare(reconciliationId, new Date(atMs), () => heartbeat()));
    },

    async giveDayUp({ reconciliationId }: Pick<DayRequest, 'reconciliationId'>): Promise<ReconciliationReport> {
      return refusedForGood(() => deps.giveUp(reconciliationId));
    },
  };
}

/** What is wrong with the input stays wrong, so it is not retried; all else is. */
async function refusedForGood<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  }
}
