import { defineSearchAttributeKey } from '@temporalio/common';
import {
  ActivityFailure,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';

import type {
  Reading,
  ReconciliationActivities,
  ReconciliationInput,
  ReconciliationReport,
  Settled,
} from '../activities/reconciliation.ts';
import { PATIENCE_MS, pauseAfter } from '../src/reconciliation/states.ts';

const BUSINESS_STATUS = defineSearchAttributeKey('BusinessStatus', 'KEYWORD');

/** After so many failures in a row a list is begun anew: its provider may take an old cursor no more. */
const REWIND_AFTER_FAILURES = 5;

export const asked = defineSignal('asked');

const retry = { initialInterval: '1 s', maximumInterval: '60 s' } as const;
/** Whatever fails for that long ends the day: nothing is retried for ever. */
const patience = { retry, scheduleToCloseTimeout: PATIENCE_MS } as const;
// After a worker's death its activity is given to another one when this is over.
const { askForLastDays, beginReading, giveDayUp } = proxyActivities<ReconciliationActivities>({
  startToCloseTimeout: '15 s',
  retry,
});
const { readNextPage, rewindReading } = proxyActivities<ReconciliationActivities>({
  startToCloseTimeout: '15 s',
  ...patience,
});
/** A day of a million orders takes minutes. */
const { compareDay } = proxyActivities<ReconciliationActivities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '15 s',
  ...patience,
});
/** Twenty orders, five at a time. */
const { settleListed } = proxyActivities<ReconciliationActivities>({ startToCloseTimeout: '60 s', ...patience });

/** Every night by a schedule of Temporal's: asks for yesterday, and again for the days before it. */
export async function nightlyReconciliation(): Promise<number> {
  const days = await askForLastDays({ atMs: Date.now() });
  setCurrentDetails(`Asked for ${days} days of channels; each is a workflow "reconciliation-…" of its own.`);
  return days;
}

/** A reading that goes on in a new run, its history having grown long, and what was asked for in the one before. */
type GoingOn = { reading: Reading; sinceMs: number; settling: Settling; isAsked: boolean };

/** How far the questions about doubtful orders have come: `doubts` of this round so far, `rounds` from 1. */
type Settling = { after: string; doubts: number; rounds: number };

/**
 * Compares one channel's day: reads the provider's list page by page, asks about whatever list and books disagree on,
 * and leaves what still differs to operators. A provider that is away is asked ever more rarely, for 20 h. Whoever asks
 * for the day gets a list that was begun after that: now if the workflow waits, else when it is through.
 */
export async function reconciliation(input: ReconciliationInput, goingOn?: GoingOn): Promise<string> {
  let isAsked = goingOn?.isAsked ?? false;
  setHandler(asked, () => void (isAsked = true), {
    description: 'Somebody wants this day compared: wait no longer, and begin anew',
  });
  for (let resumed = goingOn; ; resumed = undefined) {
    const reading = resumed?.reading ?? (await beginReading({ ...idOf(input), atMs: Date.now() }));
    // What was asked for until here, a reading that begins here answers.
    if (!resumed) isAsked = false;
    const { sinceMs, settling } = resumed ?? { sinceMs: Date.now(), settling: { after: '', doubts: 0, rounds: 1 } };
    const ended = await compareOnce({ input, reading, sinceMs, settling, isAsked: () => isAsked });
    if (ended === 'asked') continue;
    show(ended.status, `${ended.status}: ${ended.differences} differences wait for an operator`);
    if (!isAsked) return ended.status;
  }
}

/** A day that is being compared. */
type Day = {
  input: ReconciliationInput;
  reading: Reading;
  sinceMs: number;
  settling: Settling;
  isAsked: () => boolean;
};

const idOf = ({ reconciliationId }: ReconciliationInput) => ({ reconciliationId });

/** "asked": to be begun anew, for somebody has asked while it waited. What fails for good gives the day up. */
async function compareOnce(day: Day): Promise<ReconciliationReport | 'asked'> {
  try {
    const list = await readList(day);
    if (list === 'asked') return 'asked';
    if (list === 'not given') return await giveDayUp({ ...day.reading, problem: null });
    if ((await settleDoubts(day)) === 'asked') return 'asked';
    return await compareDay({ ...idOf(day.input), atMs: Date.now() });
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return giveDayUp({
      ...day.reading,
      problem: `${error.activityType} failed: ${error.cause?.message ?? 'no reason'}`,
    });
  }
}

/** "not given": not in time, or it has no end. */
async function readList(day: Day): Promise<'whole' | 'not given' | 'asked'> {
  for (let failures = 0; ;) {
    const page = await readNextPage(day.reading);
    if (page.kind === 'end') return 'whole';
    if (page.kind === 'endless' || isOver(day)) return 'not given';
    if (page.kind === 'unknown') {
      failures += 1;
      if (await pause(day, pauseAfter(failures), `the list was not given (${page.reason}): ask again`)) return 'asked';
      if (failures % REWIND_AFTER_FAILURES === 0) await rewindReading(day.reading);
    } else {
      failures = 0;
      show('READING', `page ${page.pages} of the list is read`);
    }
    await renewLongHistory(day);
  }
}

/** Asks about what list and books disagree on, until every answer is a definite one or it takes too long. */
async function settleDoubts(day: Day): Promise<'settled' | 'asked'> {
  for (;;) {
    const { after, rounds } = day.settling;
    const settled: Settled = await settleListed({ ...idOf(day.input), after, atMs: Date.now() });
    show('CHECKING', 'the provider is asked about what list and books disagree on');
    const doubts = day.settling.doubts + settled.doubts;
    if (isOver(day) || (settled.after === null && doubts === 0)) return 'settled';
    if (settled.after === null) {
      const summary = `the provider cannot tell of ${doubts} orders it lists: ask again`;
      if (await pause(day, pauseAfter(rounds), summary)) return 'asked';
      day.settling = { after: '', doubts: 0, rounds: rounds + 1 };
    } else {
      day.settling = { after: settled.after, doubts, rounds };
    }
    await renewLongHistory(day);
  }
}

/** Answers whether somebody asks for the day meanwhile: then it waits no longer. */
async function pause({ isAsked }: Day, ms: number, summary: string): Promise<boolean> {
  show('WAITING', `${summary}, ${new Date(Date.now() + ms).toISOString()}`);
  return condition(isAsked, ms, { summary });
}

function isOver({ sinceMs }: Day): boolean {
  return Date.now() - sinceMs >= PATIENCE_MS;
}

async function renewLongHistory({ input, isAsked, reading, sinceMs, settling }: Day): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await continueAsNew<typeof reconciliation>(input, { reading, sinceMs, settling, isAsked: isAsked() });
}

/** What operators see of it in the Temporal UI, and filter by. */
function show(status: string, details: string): void {
  upsertSearchAttributes([{ key: BUSINESS_STATUS, value: status }]);
  setCurrentDetails(details);
}
