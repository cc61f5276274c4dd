import { ApplicationFailure } from '@temporalio/activity';

import { AppError } from '../src/lib/errors.ts';
import { reportOf, type AttemptReport, type AttemptRequest, type FinishedAttempt } from '../src/webhooks/deliver.ts';
import type { AttemptOutcome, SavedDelivery } from '../src/webhooks/save.ts';
import type { SendSlots } from '../src/webhooks/slots.ts';

export type { BusyAttempt, FinishedAttempt } from '../src/webhooks/deliver.ts';
export type { DeliveryInput } from '../src/webhooks/workflow-input.ts';

export type WebhookDeps = {
  attempt: (request: AttemptRequest) => Promise<AttemptReport>;
  save: (outcome: AttemptOutcome) => Promise<SavedDelivery>;
  requestResend: (request: { deliveryId: string; force: boolean }) => Promise<void>;
  giveUp: (request: { deliveryId: string; at: Date }) => Promise<void>;
  slots: SendSlots;
  /** First attempts that this worker started hold their sending slot since then. */
  started: { begin: (deliveryId: string) => Promise<boolean>; finished: (deliveryId: string) => void };
};

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

/** When a subscription has its share of sends in progress, its other attempts wait this long, durably. */
const SLOT_RETRY_MS = 2_000;

export function createWebhookActivities(deps: WebhookDeps) {
  return {
    async attemptDelivery(request: Omit<AttemptRequest, 'lane'> & { subscriptionId: string }): Promise<AttemptReport> {
      const { deliveryId, subscriptionId } = request;
      if (await deps.started.begin(deliveryId)) {
        const report = await deps.attempt({ ...request, lane: 'workflow' }).catch((error: unknown) => {
          deps.started.finished(deliveryId);
          throw error;
        });
        // Sent but not saved: nobody may take the delivery up until it is.
        if (report.kind !== 'unsaved') deps.started.finished(deliveryId);
        return report;
      }
      deps.started.finished(deliveryId);
      if (!deps.slots.tryTake(subscriptionId)) return { kind: 'busy', retryAfterMs: SLOT_RETRY_MS };
      return deps.attempt({ ...request, lane: 'workflow' }).finally(() => deps.slots.release(subscriptionId));
    },

    async saveAttempt(outcome: AttemptOutcome): Promise<FinishedAttempt> {
      const saved = await deps.save(outcome);
      deps.started.finished(outcome.deliveryId);
      return reportOf(outcome, saved);
    },

    async requestResend(request: { deliveryId: string; force: boolean }): Promise<void> {
      try {
        await deps.requestResend(request);
      } catch (error) {
        if (error instanceof AppError) throw ApplicationFailure.nonRetryable(error.message, 'ResendRefused');
        throw error;
      }
    },

    async giveUpDelivery(request: { deliveryId: string; atMs: number }): Promise<void> {
      await deps.giveUp({ deliveryId: request.deliveryId, at: new Date(request.atMs) });
    },
  };
}
