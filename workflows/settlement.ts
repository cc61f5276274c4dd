import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

import type { SettlementActivities, SettlementInput, SettlementReport } from '../activities/settlements.ts';
import { isOpen, SANDBOX_REVIEW_MS } from '../src/settlements/states.ts';
import { publishStatus } from './visibility.ts';

/** Whatever happens to it comes as a signal; once all its days are over, the row is read this often all the same. */
const LOOK_MS = 24 * 60 * 60_000;

export const approved = defineSignal('approved');
export const rejected = defineSignal('rejected');
export const cancelled = defineSignal('cancelled');
export const sent = defineSignal('sent');
export const bankResultRecorded = defineSignal('bankResultRecorded');
export const calendarChanged = defineSignal('calendarChanged');

const { readSettlement, decideSettlementInSandbox, markSettlementOverdue } = proxyActivities<SettlementActivities>({
  startToCloseTimeout: '30 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

const WAITS_FOR = {
  REQUESTED: 'wait for an operator to approve or reject it',
  APPROVED: 'wait for it to be sent to the bank',
  PROCESSING: 'wait for the bank to credit it',
};

/**
 * Owns one settlement's clock: waits through its business days, counted anew whenever the calendar changes, and notes
 * when the last of them is over without an answer of the bank; then goes on waiting. Everything that people and the
 * bank do is booked elsewhere and told to it.
 */
export async function settlement(input: SettlementInput): Promise<string> {
  const { settlementId, environment } = input;
  let changed = false;
  for (const [signal, description] of [
    [approved, 'An operator has approved it: read the row again'],
    [rejected, 'An operator has rejected it: read the row again'],
    [cancelled, 'The merchant has taken it back: read the row again'],
    [sent, 'It was sent to the bank: read the row again'],
    [bankResultRecorded, 'The bank has answered, which is booked: read the row again'],
    [calendarChanged, 'A holiday was edited: count its days again'],
  ] as const) {
    setHandler(signal, () => void (changed = true), { description });
  }
  const now = () => ({ settlementId, atMs: Date.now() });

  let report = await readSettlement(now());
  let decideAtMs = environment === 'sandbox' ? Date.now() + SANDBOX_REVIEW_MS : Infinity;
  while (isOpen(report.status)) {
    publish(report);
    if (report.status === 'REQUESTED' && Date.now() >= decideAtMs) {
      report = await decideSettlementInSandbox(now());
      decideAtMs = Infinity;
    } else if (!report.overdue && Date.now() >= report.overdueAtMs) {
      report = await markSettlementOverdue(now());
    } else {
      const untilMs = nextInstant(report, decideAtMs);
      const summary = WAITS_FOR[report.status];
      setCurrentDetails(`${summary}${report.overdue ? ', overdue' : ''}, ${new Date(untilMs).toISOString()}`);
      await condition(() => changed, untilMs - Date.now(), { summary });
      changed = false;
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof settlement>(input);
      report = await readSettlement(now());
    }
  }
  publish(report);
  setCurrentDetails(`${report.status}: nothing is waited for any more`);
  return report.status;
}

/** When to look next: the sandbox's decision, the first expected day, the end of the last one, or tomorrow. */
function nextInstant({ status, earliestAtMs, overdueAtMs }: SettlementReport, decideAtMs: number): number {
  const coming = [status === 'REQUESTED' ? decideAtMs : Infinity, earliestAtMs, overdueAtMs];
  const next = Math.min(...coming.filter((atMs) => atMs > Date.now()));
  return Number.isFinite(next) ? next : Date.now() + LOOK_MS;
}

/** What operators see of it in the Temporal UI, and filter by. */
function publish({ status, overdue }: SettlementReport): void {
  publishStatus(overdue && isOpen(status) ? 'OVERDUE' : status);
}
