import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

import type { WithdrawalActivities, WithdrawalInput, WithdrawalReport } from '../activities/withdrawals.ts';
import { SANDBOX_REVIEW_MS } from '../src/lib/sandbox-review.ts';
import { publishStatus } from './visibility.ts';

const FIRST_POLL_MS = 2_000;
const POLL_MAX_MS = 30 * 60_000;
/** A reviewer's word comes as a signal; the row is read this often all the same. */
const REVIEW_LOOK_MS = 24 * 60 * 60_000;

export const approved = defineSignal('approved');
export const rejected = defineSignal('rejected');
export const cancelled = defineSignal('cancelled');
/** The provider said something, and the API process has asked it and booked the answer. */
export const providerResultRecorded = defineSignal('providerResultRecorded');

const { readWithdrawal, autoDecide, checkPayout } = proxyActivities<WithdrawalActivities>({
  startToCloseTimeout: '15 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

/**
 * Owns one withdrawal's clock: waits for its reviewers however long they take, has it sent, and asks the provider (2,
 * 4, 8 s … 30 min) until it has a definite answer. Nothing is given back while the provider does not know.
 */
export async function withdrawal(input: WithdrawalInput): Promise<string> {
  const { withdrawalId, environment } = input;
  let changed = false;
  for (const [signal, description] of [
    [approved, 'An operator has approved it: read the row again'],
    [rejected, 'An operator has rejected it: read the row again'],
    [cancelled, 'The merchant has taken it back: read the row again'],
    [providerResultRecorded, 'A check elsewhere has booked an answer of the provider: read the row again'],
  ] as const) {
    setHandler(signal, () => void (changed = true), { description });
  }
  const wait = async (ms: number, summary: string): Promise<void> => {
    setCurrentDetails(`${summary}, ${new Date(Date.now() + ms).toISOString()}`);
    await condition(() => changed, ms, { summary });
    changed = false;
  };

  let report = await readWithdrawal({ withdrawalId });
  if (report.stage === 'UNDER_REVIEW' && environment === 'sandbox') {
    publish(report);
    await wait(SANDBOX_REVIEW_MS, 'the sandbox reviews it by itself');
    report = await autoDecide({ withdrawalId, atMs: Date.now() });
  }
  while (report.stage === 'UNDER_REVIEW') {
    publish(report);
    await wait(REVIEW_LOOK_MS, 'wait for an operator to approve or reject it');
    report = await readWithdrawal({ withdrawalId });
  }
  for (let pollMs = FIRST_POLL_MS; report.status === 'PENDING'; pollMs = Math.min(pollMs * 2, POLL_MAX_MS)) {
    report = await checkPayout({ withdrawalId, atMs: Date.now() });
    if (report.status !== 'PENDING') break;
    publish(report);
    await wait(pollMs, 'wait for the provider, then ask it');
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof withdrawal>(input);
  }
  publish(report);
  setCurrentDetails(`${report.status}: nothing is waited for any more`);
  return report.status;
}

/** What operators see of it in the Temporal UI, and filter by. */
function publish({ status, stage }: WithdrawalReport): void {
  publishStatus(status === 'PENDING' ? stage : status);
}
