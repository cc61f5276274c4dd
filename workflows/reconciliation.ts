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

import type {
  Reading,
  ReconciliationActivities,
  ReconciliationInput,
  ReconciliationReport,
} from '../activities/reconciliation.ts';
import { RUN_TIMEOUT_MS, pauseAfter } from '../src/reconciliation/states.ts';
import { publish, publishStatus, waitFor } from './visibility.ts';

/** After so many failures in a row a list is begun anew: its provider may take an old cursor no more. */
const REWIND_AFTER_FAILURES = 5;

export const rerunRequested = defineSignal('rerunRequested');

/** Nothing is retried for ever: whatever fails for that long ends the day. */
const activityOptions = {
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
  scheduleToCloseTimeout: RUN_TIMEOUT_MS,
} as const;
// After a worker's death its activity is given to another one when this is over.
const { requestLastDays, startImport, importNextPage, rewindReading, abandonRun } =
  proxyActivities<ReconciliationActivities>({ startToCloseTimeout: '15 s', ...activityOptions });
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

/** Every night by a schedule of Temporal's: asks for yesterday, and again for the days before it. */
export async function nightlyReconciliation(): Promise<number> {
  const days = await requestLastDays({ atMs: Date.now() });
  setCurrentDetails(`Asked for ${days} days of channels; each is a workflow "reconciliation-…" of its own.`);
  return days;
}

/** How far a day has come. `settling`: `doubts` of this round so far, `rounds` from 1. */
type Progress = {
  reading: Reading;
  sinceMs: number;
  recheck?: { after: string; uncertainCount: number; rounds: number };
};

type GoingOn = Progress & { isRerunRequested?: boolean };
type Day = Progress & { input: ReconciliationInput; isRerunRequested: () => boolean };

/**
 * Compares one channel's day: reads the provider's list page by page, asks about whatever list and books disagree on,
 * and leaves what still differs to operators. A provider that is away is asked ever more rarely, for 20 h. Whoever asks
 * for the day gets a list that was begun after that: now if the workflow waits, else when it is through.
 * @param goingOn from the run before, whose history had grown long.
 */
export async function reconciliation(input: ReconciliationInput, goingOn?: GoingOn): Promise<string> {
  let isRerunRequested = goingOn?.isRerunRequested ?? false;
  setHandler(rerunRequested, () => void (isRerunRequested = true), {
    description: 'Somebody wants this day compared: wait no longer, and begin anew',
  });
  for (let progress: Progress | undefined = goingOn; ; progress = undefined) {
    if (!progress) {
      const { reconciliationId } = input;
      const reading = await startImport({ reconciliationId, atMs: Date.now() });
      progress = { reading, sinceMs: Date.now() };
      // What was asked for until here, this reading answers.
      isRerunRequested = false;
    }
    const ended = await compareOnce({ ...progress, input, isRerunRequested: () => isRerunRequested });
    if (ended === 'asked') continue;
    publish(ended.status, `${ended.status}: ${ended.differences} differences wait for an operator`);
    if (!isRerunRequested) return ended.status;
  }
}

/** "asked": to be begun anew, for somebody has asked while it waited. What fails for good gives the day up. */
async function compareOnce(day: Day): Promise<ReconciliationReport | 'asked'> {
  try {
    const list = await readList(day);
    if (list === 'asked') return 'asked';
    if (list === 'not given') return await abandonRun({ ...day.reading, problem: null });
    if ((await recheckUnknown(day)) === 'asked') return 'asked';
    return await compareDay({ reconciliationId: day.input.reconciliationId, atMs: Date.now() });
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    const problem = `${error.activityType} failed: ${error.cause?.message ?? 'no reason'}`;
    return abandonRun({ ...day.reading, problem });
  }
}

/** "not given": not in time, or it has no end. */
async function readList(day: Day): Promise<'whole' | 'not given' | 'asked'> {
  for (let failures = 0; ;) {
    const page = await importNextPage(day.reading);
    if (page.kind === 'end') return 'whole';
    if (page.kind === 'endless' || isOver(day)) return 'not given';
    if (page.kind === 'unknown') {
      failures += 1;
      if (await pause(day, pauseAfter(failures), `the list was not given (${page.reason}): ask again`)) return 'asked';
      if (failures % REWIND_AFTER_FAILURES === 0) await rewindReading(day.reading);
    } else {
      failures = 0;
      publish('READING', `page ${page.pages} of the list is read`);
    }
    await renewLongHistory(day);
  }
}

/** Asks about what list and books disagree on, until every answer is a definite one or it takes too long. */
async function recheckUnknown(day: Day): Promise<'settled' | 'asked'> {
  const { reconciliationId } = day.input;
  for (;;) {
    const {
      after,
      rounds,
      uncertainCount: uncertainBefore,
    } = day.recheck ?? { after: '', uncertainCount: 0, rounds: 1 };
    const rechecked = await recheckOrders({ reconciliationId, after, atMs: Date.now() });
    publish('CHECKING', 'the provider is asked about what list and books disagree on');
    const uncertainCount = uncertainBefore + rechecked.uncertainCount;
    if (isOver(day) || (rechecked.after === null && uncertainCount === 0)) return 'settled';
    if (rechecked.after === null) {
      const summary = `the provider cannot tell of ${uncertainCount} orders it lists: ask again`;
      if (await pause(day, pauseAfter(rounds), summary)) return 'asked';
      day.recheck = { after: '', uncertainCount: 0, rounds: rounds + 1 };
    } else day.recheck = { after: rechecked.after, uncertainCount, rounds };
    await renewLongHistory(day);
  }
}

/** Answers whether somebody asks for the day meanwhile: then it waits no longer. */
async function pause({ isRerunRequested }: Day, ms: number, summary: string): Promise<boolean> {
  publishStatus('WAITING');
  return waitFor(isRerunRequested, ms, summary);
}

function isOver({ sinceMs }: Day): boolean {
  return Date.now() - sinceMs >= RUN_TIMEOUT_MS;
}

async function renewLongHistory({ input, isRerunRequested, ...progress }: Day): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await continueAsNew<typeof reconciliation>(input, { ...progress, isRerunRequested: isRerunRequested() });
}
