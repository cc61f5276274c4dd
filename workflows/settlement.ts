import { continueAsNew, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { SettlementActivities, SettlementInput, SettlementReport } from '../activities/settlements.ts';
import { SANDBOX_REVIEW_MS } from '../src/lib/sandbox-review.ts';
import { isOpen } from '../src/settlements/states.ts';
import { publishEnd, publishStatus, rereadOn } from './visibility.ts';

/** Every change is signalled. Once all days are over, the row is read this often besides, should a signal be lost. */
const REREAD_MS = 24 * 60 * 60_000;

export const approved = defineSignal('approved');
export const rejected = defineSignal('rejected');
export const cancelled = defineSignal('cancelled');
export const sent = defineSignal('sent');
export const bankResultRecorded = defineSignal('bankResultRecorded');
export const calendarChanged = defineSignal('calendarChanged');

const { readSettlement, decideSettlementInSandbox } = proxyActivities<SettlementActivities>({
  startToCloseTimeout: '30 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

const WAITS_FOR = {
  REQUESTED: 'wait for an operator to approve or reject it',
  APPROVED: 'wait for it to be sent to the bank',
  PROCESSING: 'wait for the bank to credit it',
};

/**
 * The clock of one settlement: waits through its business days, counted again whenever the calendar changes, and marks it
 * overdue when the last of them is over without a result from the bank; then waits on. Decisions and results of the
 * bank are booked by the API, which signals them.
 */
export async function settlement(input: SettlementInput): Promise<string> {
  const { settlementId, environment } = input;
  const wait = rereadOn(
    [approved, 'Approved by an operator: reads the row again'],
    [rejected, 'Rejected by an operator: reads the row again'],
    [cancelled, 'Cancelled by the merchant: reads the row again'],
    [sent, 'Sent to the bank: reads the row again'],
    [bankResultRecorded, "The bank's result is booked: reads the row again"],
    [calendarChanged, 'A holiday was edited: counts the days again'],
  );
  const now = () => ({ settlementId, atMs: Date.now() });

  let report = await readSettlement(now());
  let decideAtMs = environment === 'sandbox' ? Date.now() + SANDBOX_REVIEW_MS : Infinity;
  while (isOpen(report.status)) {
    publishStatus(report.overdue ? 'OVERDUE' : report.status);
    if (report.status === 'REQUESTED' && Date.now() >= decideAtMs) {
      decideAtMs = Infinity;
      report = await decideSettlementInSandbox(now());
      continue;
    }
    // The last day has ended since it was read: the next read marks it as overdue.
    if (!report.overdue && Date.now() >= report.overdueAtMs) {
      report = await readSettlement(now());
      continue;
    }
    const summary = `${WAITS_FOR[report.status]}${report.overdue ? ', overdue' : ''}`;
    await wait(nextInstant(report, decideAtMs) - Date.now(), summary);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof settlement>(input);
    report = await readSettlement(now());
  }
  publishEnd(report.status);
  return report.status;
}

/** When to continue: the sandbox's decision, the first expected day, the end of the last one, or in a day. */
function nextInstant({ earliestAtMs, overdueAtMs }: SettlementReport, decideAtMs: number): number {
  const next = Math.min(...[decideAtMs, earliestAtMs, overdueAtMs].filter((atMs) => atMs > Date.now()));
  return Number.isFinite(next) ? next : Date.now() + REREAD_MS;
}
