import {
  ActivityFailure,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

import type { ReconciliationActivities } from '../activities/reconciliation.ts';
import type { RunResult } from '../src/reconciliation/compare.ts';
import type { Import } from '../src/reconciliation/import.ts';
import { RUN_TIMEOUT_MS, pauseAfter } from '../src/reconciliation/states.ts';
import type { ReconciliationInput } from '../src/reconciliation/workflow.ts';
import { publish, publishStatus, waitFor } from './visibility.ts';

/** After this many consecutive failures the import starts again, unless statements of some accounts were read. */
const RESTART_AFTER_FAILURES = 5;

/** A statement that was left out of the comparison is requested again this often, after as long a pause each time. */
const LEFT_OUT_RETRIES_MAX = 6;
const LEFT_OUT_PAUSE_MS = 60 * 60_000;

export const rerunRequested = defineSignal('rerunRequested');

/** An activity that fails for this long ends the run. */
const activityOptions = {
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
  scheduleToCloseTimeout: RUN_TIMEOUT_MS,
} as const;
// After a worker's crash its activity is retried elsewhere when this is over.
const { requestLastDays, startImport, importNextPage, abandonRun } = proxyActivities<ReconciliationActivities>({
  startToCloseTimeout: '15 s',
  ...activityOptions,
});
/** Twenty orders, five at a time. */
const { recheckOrders } = proxyActivities<ReconciliationActivities>({
  startToCloseTimeout: '60 s',
  ...activityOptions,
});
/** A day of a million orders takes minutes. */
const { compareDay } = proxyActivities<ReconciliationActivities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '15 s',
  ...activityOptions,
});

/** Started every night by a Temporal schedule: requests yesterday, and the days before it again. */
export async function nightlyReconciliation(): Promise<number> {
  const days = await requestLastDays({ atMs: Date.now() });
  setCurrentDetails(`Requested ${days} days of channels. Each has its own workflow "reconciliation-…".`);
  return days;
}

/** The state that a run hands to the next one. `recheck`: the uncertain orders of this round so far; `rounds` from 1. */
type Progress = {
  current: Import;
  sinceMs: number;
  recheck?: { after: string; uncertainCount: number; rounds: number } | undefined;
};

type Continuation = Progress & { isRerunRequested?: boolean };
type Day = Progress & { input: ReconciliationInput; isRerunRequested: () => boolean };

/**
 * Reconciles a day of a channel: imports the provider's statement page by page, queries the provider about the orders on
 * which statement and ledger disagree, and leaves the remaining discrepancies to operators. An unavailable provider is
 * retried with growing pauses, for 20 h; an account that was left out every hour, for 6 h after the comparison. A rerun requested meanwhile imports the statement again: at once during a pause,
 * otherwise after the comparison.
 * @param continuation from the previous run, whose history had grown long.
 */
export async function reconciliation(input: ReconciliationInput, continuation?: Continuation): Promise<string> {
  let isRerunRequested = continuation?.isRerunRequested ?? false;
  setHandler(rerunRequested, () => void (isRerunRequested = true), {
    description: 'A comparison of this day was requested: end the pause and import the statement again',
  });
  for (let progress: Progress | undefined = continuation; ; progress = undefined) {
    if (!progress) {
      progress = { current: await startImport(now(input)), sinceMs: Date.now() };
      // This import serves all requests until now.
      isRerunRequested = false;
    }
    const result = await compareOnce({ ...progress, input, isRerunRequested: () => isRerunRequested });
    if (result === 'rerun') continue;
    publish(result.status, `${result.status}: ${result.discrepancies} open discrepancies`);
    if (!isRerunRequested) return result.status;
  }
}

const now = ({ reconciliationId }: ReconciliationInput) => ({ reconciliationId, atMs: Date.now() });

/** "rerun": requested during a pause. A permanent failure abandons the run. */
async function compareOnce(day: Day): Promise<RunResult | 'rerun'> {
  try {
    for (;;) {
      const statement = await importStatement(day);
      if (statement === 'rerun') return 'rerun';
      if (statement === 'incomplete') return await abandonRun({ ...day.current, problem: null });
      if ((await recheckUncertain(day)) === 'rerun') return 'rerun';
      const result = await compareDay(now(day.input));
      const { retries = 0 } = day.current;
      if (statement === 'complete' || retries >= LEFT_OUT_RETRIES_MAX || isOver(day)) return result;
      day.current = { ...day.current, retries: retries + 1 };
      day.recheck = undefined;
      const summary = `${result.status} without the statements of some accounts: retry`;
      if (await pause(day, LEFT_OUT_PAUSE_MS, summary)) return 'rerun';
    }
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    const problem = `${error.activityType} failed: ${error.cause?.message ?? 'no reason'}`;
    return abandonRun({ ...day.current, problem });
  }
}

/** "incomplete": none was available in time, or it never ends. "partial": those left out are named in the day's row. */
async function importStatement(day: Day): Promise<'complete' | 'partial' | 'incomplete' | 'rerun'> {
  for (let failures = 0; ;) {
    const page = await importNextPage(day.current);
    if (page.kind === 'end') return page.isPartial ? 'partial' : 'complete';
    if (page.kind === 'endless' || isOver(day)) return 'incomplete';
    if (page.kind === 'unknown') {
      failures += 1;
      const summary = `the statement is not available (${page.reason}): retry`;
      if (await pause(day, pauseAfter(failures), summary)) return 'rerun';
      if (failures % RESTART_AFTER_FAILURES === 0 && !page.isPartial) day.current = await startImport(now(day.input));
    } else {
      if (!page.isFailed) failures = 0;
      publish('IMPORTING', `imported ${page.pages} pages of statements`);
    }
    await renewLongHistory(day);
  }
}

/** Queries the orders on which statement and ledger disagree, until every response is definite or the time is over. */
async function recheckUncertain(day: Day): Promise<'rechecked' | 'rerun'> {
  for (;;) {
    const { after, uncertainCount: before, rounds } = day.recheck ?? { after: '', uncertainCount: 0, rounds: 1 };
    const rechecked = await recheckOrders({ ...now(day.input), after });
    publish('RECHECKING', 'querying the orders on which statement and ledger disagree');
    const uncertainCount = before + rechecked.uncertainCount;
    if (isOver(day) || (rechecked.after === null && uncertainCount === 0)) return 'rechecked';
    if (rechecked.after === null) {
      const summary = `the provider does not know the outcome of ${uncertainCount} orders it lists: retry`;
      if (await pause(day, pauseAfter(rounds), summary)) return 'rerun';
      day.recheck = { after: '', uncertainCount: 0, rounds: rounds + 1 };
    } else day.recheck = { after: rechecked.after, uncertainCount, rounds };
    await renewLongHistory(day);
  }
}

/** True when a rerun is requested meanwhile, which ends the pause. */
async function pause({ isRerunRequested }: Day, ms: number, summary: string): Promise<boolean> {
  publishStatus('WAITING');
  return waitFor(isRerunRequested, ms, summary);
}

const isOver = ({ sinceMs }: Day): boolean => Date.now() - sinceMs >= RUN_TIMEOUT_MS;

async function renewLongHistory({ input, isRerunRequested, ...progress }: Day): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await continueAsNew<typeof reconciliation>(input, { ...progress, isRerunRequested: isRerunRequested() });
}
