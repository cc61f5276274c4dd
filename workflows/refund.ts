import { continueAsNew, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { RefundActivities, RefundInput } from '../activities/refunds.ts';
import { publishEnd, publishStatus, rereadOn } from './visibility.ts';

const FIRST_POLL_MS = 2_000;
const POLL_MAX_MS = 30 * 60_000;
/** A person's decision is signalled; the row is also read this often, and the refund fails after 7 days without one. */
const DECISION_POLL_MS = 24 * 60 * 60_000;

/** A person has decided about it, or a check outside this workflow has ended it. */
export const refundUpdated = defineSignal('refundUpdated');

const { checkRefund } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '15 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

/**
 * One refund: waits for the merchant's confirmation where one is needed, sends it, and polls the provider (2, 4, 8 s … 30 min)
 * until the outcome is known. Its money stays reserved until then.
 */
export async function refund(input: RefundInput): Promise<string> {
  const { refundId } = input;
  const wait = rereadOn([refundUpdated, 'It was decided or has ended: read the row again']);
  const check = () => checkRefund({ refundId, atMs: Date.now() });

  let report = await check();
  while (report.stage === 'AWAITING_CONFIRMATION') {
    publishStatus(report.stage);
    await wait(DECISION_POLL_MS, 'waiting for a second person of the merchant to confirm it');
    report = await check();
  }
  for (let pollMs = FIRST_POLL_MS; report.status === 'PENDING'; pollMs = Math.min(pollMs * 2, POLL_MAX_MS)) {
    publishStatus(report.stage);
    await wait(pollMs, 'waiting to query the provider');
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof refund>(input);
    report = await check();
  }
  publishEnd(report.status);
  return report.status;
}
