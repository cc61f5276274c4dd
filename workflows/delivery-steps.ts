import { defineSearchAttributeKey } from '@temporalio/common';
import {
  CancellationScope,
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

/** Sooner than anybody else may claim the delivery again once the database is back. */
const saving = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '10 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 1.5, maximumInterval: '1 s' },
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
      if (report.kind !== 'unsaved') return report;
      // It was sent: not even a cancel may forget how it ended.
      return await CancellationScope.nonCancellable(async () => saving.saveAttempt(report.outcome));
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
  const httpStatus = report.kind === 'over' ? null : report.httpStatus;
  upsertSearchAttributes([
    { key: BUSINESS_STATUS, value: report.kind === 'delivered' ? 'DELIVERED' : report.status },
    ...(httpStatus === null ? [] : [{ key: LAST_HTTP_STATUS, value: httpStatus }]),
  ]);
  setCurrentDetails(describe(report));
}

/** The same for an end that no attempt brought. */
export function showEnd(status: string, why: string): void {
  upsertSearchAttributes([{ key: BUSINESS_STATUS, value: status }]);
  setCurrentDetails(`${status}: ${why}`);
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
