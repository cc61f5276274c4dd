import { activityInfo, ApplicationFailure, heartbeat } from '@temporalio/activity';

import { isLasting } from '../src/reconciliation/lasting.ts';
import type { ReadPage, Reading } from '../src/reconciliation/read.ts';
import type { Settled } from '../src/reconciliation/settle.ts';
import type { ReconciliationStatus } from '../src/reconciliation/states.ts';
import { elapsedMs } from './elapsed.ts';
import { refusedForGood } from './refused-for-good.ts';

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
  /** `problem`: why, where the row does not say so. */
  giveUp: (reading: Reading, problem: string | null) => Promise<ReconciliationReport>;
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
      return failedForGood(() => deps.readNext(reading));
    },

    async rewindReading(reading: Reading): Promise<void> {
      return failedForGood(() => deps.rewind(reading));
    },

    async settleListed({ reconciliationId, after, atMs }: DayRequest & { after: string }): Promise<Settled> {
      return failedForGood(() => deps.settle(reconciliationId, after, new Date(atMs + elapsedMs())));
    },

    async compareDay({ reconciliationId, atMs }: DayRequest): Promise<ReconciliationReport> {
      return failedForGood(() => deps.compare(reconciliationId, new Date(atMs), () => heartbeat()));
    },

    async giveDayUp({ problem, ...reading }: Reading & { problem: string | null }): Promise<ReconciliationReport> {
      return refusedForGood(() => deps.giveUp(reading, problem));
    },
  };
}

/** Once may have been bad luck: a connection that broke in the middle of an answer. */
const LASTING_AFTER_ATTEMPTS = 3;

/** As {@link refusedForGood}, and what goes on to fail for what it is about is not retried for ever either. */
async function failedForGood<T>(work: () => Promise<T>): Promise<T> {
  return refusedForGood(async () => {
    try {
      return await work();
    } catch (error) {
      const isHopeless = isLasting(error) && activityInfo().attempt >= LASTING_AFTER_ATTEMPTS;
      if (isHopeless && error instanceof Error) throw ApplicationFailure.nonRetryable(error.message, error.name);
      throw error;
    }
  });
}
