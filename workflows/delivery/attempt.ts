import {
  CancellationScope,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';

import type { BusyAttempt, DeliveryInput, FinishedAttempt, WebhookActivities } from '../../activities/webhooks.ts';

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
 * Soon after the database is back: the worker that sent it takes the delivery up no more, but another one may claim it
 * again once its claim is old (src/webhooks/claim.ts). The worker saves as well; whoever comes second changes nothing.
 */
const saving = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '10 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 1.5, maximumInterval: '1 s' },
});

/**
 * How attempts of this delivery are made. The first one of a healthy subscription is a local activity; all others run
 * on the slow queue's own slots, so that hanging receivers hold up nobody. What was sent but not saved is saved here,
 * never sent again. Only defects of ours fail an activity: the same rung is tried again after a pause.
 */
export function createAttempt(input: DeliveryInput): () => Promise<FinishedAttempt | BusyAttempt> {
  const slow = proxyActivities<WebhookActivities>({ ...SEND_TIMEOUTS, taskQueue: `${workflowInfo().taskQueue}-slow` });
  let fast = input.lane === 'fast' && input.attemptsMade === 0;
  let defectRetryMs = DEFECT_RETRY_MS.first;
  return async () => {
    const { attemptDelivery } = fast ? local : slow;
    fast = false;
    try {
      const report = await attemptDelivery({
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
