import { defineSearchAttributeKey } from '@temporalio/common';
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';

import type { Reading, ReconciliationActivities, ReconciliationInput, Settled } from '../activities/reconciliation.ts';
import { PATIENCE_MS, pauseAfter } from '../src/reconciliation/states.ts';

const BUSINESS_STATUS = defineSearchAttributeKey('BusinessStatus', 'KEYWORD');

/** After so many failures in a row a list is begun anew: its provider may take an old cursor no more. */
const REWIND_AFTER_FAILURES = 5;

export const asked = defineSignal('asked');

const retry = { initialInterval: '1 s', maximumInterval: '60 s' } as const;
// After a worker's death its activity is given to another one when this is over.
const { askForLastDays, beginReading, readNextPage, rewindReading, giveDayUp } =
  proxyActivities<ReconciliationActivities>({ startToCloseTimeout: '15 s', retry });
/** A day of a million orders takes minutes. */
const { compareDay } = proxyActivities<ReconciliationActivities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '15 s',
  retry,
});
/** Twenty orders, five at a time. */
const { settleListed } = proxyActivities<ReconciliationActivities>({ startToCloseTimeout: '60 s', retry });

/** Every night by a schedule of Temporal's: asks for yesterday, and again for the days before it. */
export async function nightlyReconciliation(): Promise<number> {
  const days = await askForLastDays({ atMs: Date.now() });
  setCurrentDetails(`Asked for ${days} days of channels; each is a workflow "reconciliation-…" of its own.`);
  return days;
}

/** A reading that goes on in a new run, its history having grown long. */
type GoingOn = { reading: Reading; sinceMs: number };

/**
 * Compares one channel's day: reads the provider's list page by page, asks about whatever list and books disagree on,
 * and leaves what still differs to operators. A provider that is away is asked ever more rarely, for 20 h.
 */
export async function reconciliation(input: ReconciliationInput, goingOn?: GoingOn): Promise<string> {
  const { reconciliationId } = input;
  let isAsked = false;
  setHandler(asked, () => void (isAsked = true), {
    description: 'Somebody wants this day compared: wait no longer, and begin anew if the list was read already',
  });
  for (let resumed = goingOn; ; resumed = undefined) {
    const reading = resumed?.reading ?? (await beginReading({ reconciliationId, atMs: Date.now() }));
    // What was asked for until here, this reading answers.
    isAsked = false;
    const day: Day = {
      input,
      reading,
      sinceMs: resumed?.sinceMs ?? Date.now(),
      pause: async (ms, summary) => {
        show('WAITING', `${summary}, ${new Date(Date.now() + ms).toISOString()}`);
        await condition(() => isAsked, ms, { summary });
        isAsked = false;
      },
    };
    const isRead = await readList(day);
    if (isRead) await settleDoubts(day);
    const atMs = Date.now();
    const { status, differences } = await (isRead
      ? compareDay({ reconciliationId, atMs })
      : giveDayUp({ reconciliationId }));
    show(status, `${status}: ${differences} differences wait for an operator`);
    if (!isAsked) return status;
  }
}

/** A day that is being compared. `pause` waits, unless somebody asks for the day meanwhile. */
type Day = {
  input: ReconciliationInput;
  reading: Reading;
  sinceMs: number;
  pause: (ms: number, summary: string) => Promise<void>;
};

/** False when the provider did not give its whole list in time. */
async function readList(day: Day): Promise<boolean> {
  for (let failures = 0; ;) {
    const page = await readNextPage(day.reading);
    if (page.kind === 'end') return true;
    if (page.kind === 'unknown') {
      if (isOver(day)) return false;
      failures += 1;
      await day.pause(pauseAfter(failures), `the list was not given (${page.reason}): ask again`);
      if (failures % REWIND_AFTER_FAILURES === 0) await rewindReading(day.reading);
    } else {
      failures = 0;
      show('READING', `page ${page.pages} of the list is read`);
    }
    await renewLongHistory(day);
  }
}

/** Asks about what list and books disagree on, until every answer is a definite one or it takes too long. */
async function settleDoubts(day: Day): Promise<void> {
  const { reconciliationId } = day.input;
  for (let rounds = 1; ; rounds += 1) {
    let doubts = 0;
    for (let after: string | null = ''; after !== null;) {
      const settled: Settled = await settleListed({ reconciliationId, after, atMs: Date.now() });
      doubts += settled.doubts;
      after = settled.after;
      show('CHECKING', 'the provider is asked about what list and books disagree on');
      await renewLongHistory(day);
    }
    if (doubts === 0 || isOver(day)) return;
    await day.pause(pauseAfter(rounds), `the provider cannot tell of ${doubts} orders it lists: ask again`);
  }
}

function isOver({ sinceMs }: Day): boolean {
  return Date.now() - sinceMs >= PATIENCE_MS;
}

async function renewLongHistory({ input, reading, sinceMs }: Day): Promise<void> {
  if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reconciliation>(input, { reading, sinceMs });
}

/** What operators see of it in the Temporal UI, and filter by. */
function show(status: string, details: string): void {
  upsertSearchAttributes([{ key: BUSINESS_STATUS, value: status }]);
  setCurrentDetails(details);
}
