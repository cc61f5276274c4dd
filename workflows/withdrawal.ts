import { continueAsNew, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { WithdrawalActivities, WithdrawalInput } from '../activities/withdrawals.ts';
import { SANDBOX_REVIEW_MS } from '../src/lib/sandbox-review.ts';
import { publishEnd, publishStatus, rereadOn } from './visibility.ts';

const FIRST_POLL_MS = 2_000;
const POLL_MAX_MS = 30 * 60_000;
/** A decision of a person is signalled; the row is also read this often. */
const DECISION_POLL_MS = 24 * 60 * 60_000;

export const confirmed = defineSignal('confirmed');
export const approved = defineSignal('approved');
export const rejected = defineSignal('rejected');
export const cancelled = defineSignal('cancelled');
/** A check outside this workflow has recorded a report of the provider. */
export const providerResultRecorded = defineSignal('providerResultRecorded');

const { readWithdrawal, autoDecide, checkPayout } = proxyActivities<WithdrawalActivities>({
  startToCloseTimeout: '15 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

/**
 * One withdrawal: waits for the merchant's confirmation, which a job of the worker ends after 7 days, and for its review
 * without a limit; sends it, and polls the provider (2, 4, 8 s … 30 min) until the outcome is known. Its money stays
 * reserved until then.
 */
export async function withdrawal(input: WithdrawalInput): Promise<string> {
  const { withdrawalId, environment } = input;
  const wait = rereadOn(
    [confirmed, 'A second person of the merchant confirmed it: read the row again'],
    [approved, 'An operator approved it: read the row again'],
    [rejected, 'An operator rejected it: read the row again'],
    [cancelled, 'The merchant cancelled it, or did not confirm it in time: read the row again'],
    [providerResultRecorded, 'A check recorded a report of the provider: read the row again'],
  );

  let report = await readWithdrawal({ withdrawalId });
  while (report.stage === 'AWAITING_CONFIRMATION') {
    publishStatus(report.stage);
    await wait(DECISION_POLL_MS, 'waiting for a second person of the merchant to confirm it');
    report = await readWithdrawal({ withdrawalId });
  }
  if (report.stage === 'UNDER_REVIEW' && environment === 'sandbox') {
    publishStatus(report.stage);
    await wait(SANDBOX_REVIEW_MS, 'waiting for the sandbox to review it');
    report = await autoDecide({ withdrawalId, atMs: Date.now() });
  }
  while (report.stage === 'UNDER_REVIEW') {
    publishStatus(report.stage);
    await wait(DECISION_POLL_MS, 'waiting for an operator to approve or reject it');
    report = await readWithdrawal({ withdrawalId });
  }
  for (let pollMs = FIRST_POLL_MS; report.status === 'PENDING'; pollMs = Math.min(pollMs * 2, POLL_MAX_MS)) {
    report = await checkPayout({ withdrawalId, atMs: Date.now() });
    if (report.status !== 'PENDING') break;
    publishStatus(report.stage);
    await wait(pollMs, 'waiting to query the provider');
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof withdrawal>(input);
  }
  publishEnd(report.status);
  return report.status;
}
