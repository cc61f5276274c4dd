import { ApplicationFailure } from '@temporalio/activity';

import { AppError } from '../src/lib/errors.ts';
import { reportOf, type AttemptReport, type AttemptRequest, type FinishedAttempt } from '../src/webhooks/deliver.ts';
import type { AttemptOutcome, SavedDelivery } from '../src/webhooks/save.ts';
import type { SendSlots } from '../src/webhooks/slots.ts';
import type { DeliveryStatus } from '../src/webhooks/states.ts';

export type { BusyAttempt, FinishedAttempt } from '../src/webhooks/deliver.ts';
export type { DeliveryInput } from '../src/webhooks/workflow-input.ts';

export type WebhookDeps = {
  attempt: (request: AttemptRequest) => Promise<AttemptReport>;
  save: (outcome: AttemptOutcome) => Promise<SavedDelivery>;
  requestResend: (request: { deliveryId: string; force: boolean }) => Promise<void>;
  giveUp: (request: { deliveryId: string; at: Date }) => Promise<DeliveryStatus>;
  slots: SendSlots;
  /** First attempts that this worker started hold their sending slot since then (src/first-attempts.ts). */
  started: {
    begin: (deliveryId: string) => Promise<boolean>;
    finished: (deliveryId: string) => void;
    /** Sent but not saved: this worker saves it too, and takes the delivery up no more before that. */
    keep: (outcome: AttemptOutcome) => void;
  };
};

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

/** When a subscription has its share of sends in progress, its other attempts wait this long, durably. */
const SLOT_RETRY_MS = 2_000;

export function createWebhookActivities(deps: WebhookDeps) {
  const attempt = async (request: Omit<AttemptRequest, 'lane'>): Promise<AttemptReport> => {
    const report = await deps.attempt({ ...request, lane: 'workflow' });
    if (report.kind === 'unsaved') deps.started.keep(report.outcome);
    return report;
  };
  return {
    async attemptDelivery(request: Omit<AttemptRequest, 'lane'> & { subscriptionId: string }): Promise<AttemptReport> {
      const { deliveryId, subscriptionId } = request;
      if (await deps.started.begin(deliveryId))
        return attempt(request).finally(() => deps.started.finished(deliveryId));
      deps.started.finished(deliveryId);
      if (!deps.slots.tryTake(subscriptionId)) return { kind: 'busy', retryAfterMs: SLOT_RETRY_MS };
      return attempt(request).finally(() => deps.slots.release(subscriptionId));
    },

    async saveAttempt(outcome: AttemptOutcome): Promise<FinishedAttempt> {
      return reportOf(outcome, await deps.save(outcome));
    },

    async requestResend(request: { deliveryId: string; force: boolean }): Promise<void> {
      try {
        await deps.requestResend(request);
      } catch (error) {
        if (error instanceof AppError) throw ApplicationFailure.nonRetryable(error.message, 'ResendRefused');
        throw error;
      }
    },

    async giveUpDelivery(request: { deliveryId: string; atMs: number }): Promise<DeliveryStatus> {
      return deps.giveUp({ deliveryId: request.deliveryId, at: new Date(request.atMs) });
    },
  };
}
