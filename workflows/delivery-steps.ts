import { defineSearchAttributeKey } from '@temporalio/common';
import {
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';

import type { BusyAttempt, DeliveryInput, FinishedAttempt, WebhookActivities } from '../activities/webhooks.ts';

const BUSINESS_STATUS = defineSearchAttributeKey('BusinessStatus', 'KEYWORD');
const LAST_HTTP_STATUS = defineSearchAttributeKey('LastHttpStatus', 'INT');

/** What a defect of ours costs before the same rung is tried again: 1 s, doubling to 60 s. */
const DEFECT_RETRY_MS = { first: 1_000, max: 60_000 };

// A send takes at most 4 s. No attempt is retried by Temporal: the ladder is ours.
const SEND_TIMEOUTS = { startToCloseTimeout: '10 s', retry: { maximumAttempts: 1 } } as const;

const local = proxyLocalActivities<WebhookActivities>({ ...SEND_TIMEOUTS, scheduleToCloseTimeout: '10 s' });

/** Statements only; repeated until the database answers. */
export const deliveryActivities = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '10 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s', nonRetryableErrorTypes: ['ResendRefused'] },
});

/**
 * How attempts of this delivery are made. The first one of a healthy subscription is a local activity; all others run
 * on the slow queue's own slots, so that hanging receivers hold up nobody. What was sent but not saved is saved here,
 * never sent again. Only defects of ours fail an activity: the same rung is tried again after a pause.
 */
export function createAttempt(input: DeliveryInput): (fast: boolean) => Promise<FinishedAttempt | BusyAttempt> {
  const slow = proxyActivities<WebhookActivities>({ ...SEND_TIMEOUTS, taskQueue: `${workflowInfo().taskQueue}-slow` });
  let defectRetryMs = DEFECT_RETRY_MS.first;
  return async (fast) => {
    try {
      const report = await (fast ? local : slow).attemptDelivery({
        deliveryId: input.deliveryId,
        subscriptionId: input.subscriptionId,
        startedAtMs: Date.now(),
        retryDelaysSeconds: input.retryDelaysSeconds,
        jitter: Math.random(),
      });
      defectRetryMs = DEFECT_RETRY_MS.first;
      return report.kind === 'unsaved' ? await deliveryActivities.saveAttempt(report.outcome) : report;
    } catch (error) {
      if (isCancellation(error)) throw error;
      const retryAfterMs = defectRetryMs;
      defectRetryMs = Math.min(defectRetryMs * 2, DEFECT_RETRY_MS.max);
      return { kind: 'busy', retryAfterMs };
    }
  };
}

/** What operators see of a delivery in the Temporal UI. */
export function showProgress(report: FinishedAttempt): void {
  const status = report.kind === 'delivered' ? 'DELIVERED' : report.status;
  const httpStatus = report.kind === 'over' ? null : report.httpStatus;
  upsertSearchAttributes([
    { key: BUSINESS_STATUS, value: status },
    ...(httpStatus === null ? [] : [{ key: LAST_HTTP_STATUS, value: httpStatus }]),
  ]);
  if (report.kind === 'failed') setCurrentDetails(describe(report));
}

/** One sentence for people. */
export function describe(report: FinishedAttempt): string {
  if (report.kind === 'delivered') return `DELIVERED: the receiver answered ${report.httpStatus ?? '2xx'}`;
  if (report.kind === 'over') return `${report.status}: nothing was sent`;
  const what = report.httpStatus === null ? report.code : `HTTP ${report.httpStatus}`;
  const next =
    report.nextAttemptAtMs === null
      ? 'no automatic retry is left'
      : `next attempt ${new Date(report.nextAttemptAtMs).toISOString()}`;
  return `${report.status}: last failure ${what}; ${next}`;
}
