import { continueAsNew, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { RefundActivities, RefundInput } from '../activities/refunds.ts';
import type { WithdrawalActivities, WithdrawalInput } from '../activities/withdrawals.ts';
import { SANDBOX_REVIEW_MS } from '../src/lib/sandbox-review.ts';
import type { UntilConfirmed } from '../src/payouts/states.ts';
import { publishEnd, publishStatus, rereadOn } from './visibility.ts';

const FIRST_POLL_MS = 2_000;
const POLL_MAX_MS = 30 * 60_000;
/** A person's decision is signalled; the row is also read this often, and when the time for a confirmation is over. */
const DECISION_POLL_MS = 24 * 60 * 60_000;
const DECISION_POLL_MIN_MS = 60_000;

export const confirmed = defineSignal('confirmed');
export const approved = defineSignal('approved');
export const rejected = defineSignal('rejected');
export const cancelled = defineSignal('cancelled');
/** A check outside this workflow has recorded a report of the provider. */
export const providerResultRecorded = defineSignal('providerResultRecorded');
/** A person has decided about a refund, or a check outside this workflow has ended it. */
export const refundUpdated = defineSignal('refundUpdated');

const { readWithdrawal, autoDecide, checkPayout, checkRefund } = proxyActivities<
  WithdrawalActivities & RefundActivities
>({
  startToCloseTimeout: '15 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

type Report = { status: string; stage: string } & UntilConfirmed;
type Wait = ReturnType<typeof rereadOn>;

/**
 * One withdrawal: waits for the merchant's confirmation, which ends after 7 days, and for its review without a limit; sends it,
 * and polls the provider (2, 4, 8 s … 30 min) until the outcome is known. Its money stays reserved until then.
 */
export async function withdrawal(input: WithdrawalInput): Promise<string> {
  const { withdrawalId, environment } = input;
  const wait = rereadOn(
    [confirmed, 'A second person of the merchant confirmed it: read the row again'],
    [approved, 'An operator approved it: read the row again'],
    [rejected, 'An operator rejected it: read the row again'],
    [cancelled, 'The merchant cancelled it: read the row again'],
    [providerResultRecorded, 'A check recorded a report of the provider: read the row again'],
  );
  const read = () => readWithdrawal({ withdrawalId, atMs: Date.now() });
  const check = () => checkPayout({ withdrawalId, atMs: Date.now() });

  let report: Report = await untilConfirmed(read, wait);
  if (report.stage === 'UNDER_REVIEW' && environment === 'sandbox') {
    publishStatus(report.stage);
    await wait(SANDBOX_REVIEW_MS, 'waiting for the sandbox to review it');
    report = await autoDecide({ withdrawalId, atMs: Date.now() });
  }
  while (report.stage === 'UNDER_REVIEW') {
    publishStatus(report.stage);
    await wait(DECISION_POLL_MS, 'waiting for an operator to approve or reject it');
    report = await read();
  }
  if (report.status === 'PENDING') report = await check();
  return untilEnded(report, { check, wait, continueAs: () => continueAsNew<typeof withdrawal>(input) });
}

/** One refund, as {@link withdrawal}, without a review. */
export async function refund(input: RefundInput): Promise<string> {
  const { refundId } = input;
  const wait = rereadOn([refundUpdated, 'It was decided or has ended: read the row again']);
  const check = () => checkRefund({ refundId, atMs: Date.now() });
  const report = await untilConfirmed(check, wait);
  return untilEnded(report, { check, wait, continueAs: () => continueAsNew<typeof refund>(input) });
}

async function untilConfirmed(read: () => Promise<Report>, wait: Wait): Promise<Report> {
  let report = await read();
  while (report.stage === 'AWAITING_CONFIRMATION') {
    publishStatus(report.stage);
    // Unknown of one that was read before 2026-11-29.
    const { confirmableUntilMs = Infinity } = report;
    const leftMs = Math.max(confirmableUntilMs - Date.now(), DECISION_POLL_MIN_MS);
    await wait(Math.min(leftMs, DECISION_POLL_MS), 'waiting for a second person of the merchant to confirm it');
    report = await read();
  }
  return report;
}

type Polled = { check: () => Promise<Report>; wait: Wait; continueAs: () => Promise<never> };

/** Polls the provider of a payout that was sent until it has ended. Returns its status. */
async function untilEnded(first: Report, { check, wait, continueAs }: Polled): Promise<string> {
  let report = first;
  for (let pollMs = FIRST_POLL_MS; report.status === 'PENDING'; pollMs = Math.min(pollMs * 2, POLL_MAX_MS)) {
    publishStatus(report.stage);
    await wait(pollMs, 'waiting to query the provider');
    if (workflowInfo().continueAsNewSuggested) await continueAs();
    report = await check();
  }
  publishEnd(report.status);
  return report.status;
}
