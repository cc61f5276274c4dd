import { ApplicationFailure, activityInfo } from '@temporalio/activity';

import { AppError } from '../src/lib/errors.ts';
import type { AttemptOutcome, RetrySchedule } from '../src/webhooks/delivery/attempt.ts';
import type { ClaimedAttempt, Unclaimed } from '../src/webhooks/delivery/claim.ts';
import type { InFlight } from '../src/webhooks/delivery/in-flight.ts';
import type { RecordedDelivery, Recorder } from '../src/webhooks/delivery/record-attempt.ts';
import type { DeliveryStatus } from '../src/webhooks/states.ts';
import { elapsedMs } from './elapsed.ts';

export type { DeliveryInput } from '../src/webhooks/workflow-input.ts';

/** How a retry or a resend ended, and where its delivery is now. `unsent`: final, or not due. */
export type AttemptReport = {
  kind: 'delivered' | 'failed' | 'unsent';
  status: DeliveryStatus;
  /** Scheduled attempts that failed so far, and when the next is due, in ms since 1970. */
  attemptsMade: number;
  nextAttemptAtMs: number | null;
  httpStatus: number | null;
  code: string | null;
};

export type AttemptRequest = RetrySchedule & {
  deliveryId: string;
  subscriptionId: string;
  /** The workflow's time. */
  atMs: number;
  /** Why an operator asked for it; '' for no reason, null when no operator did. */
  reason: string | null;
};

export type WebhookDeps = {
  claim: (request: { deliveryId: string; startedAt: Date }) => Promise<ClaimedAttempt | Unclaimed>;
  attempt: (attempt: ClaimedAttempt, schedule: RetrySchedule) => Promise<AttemptOutcome>;
  recorder: Recorder;
  inFlight: InFlight;
  onRecorded: (recorded: RecordedDelivery, outcome: AttemptOutcome) => void;
  requestResend: (request: { deliveryId: string; force: boolean }) => Promise<void>;
  abandon: (request: { deliveryId: string; at: Date }) => Promise<DeliveryStatus>;
};

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

/** While the subscription has its share in flight, or another attempt of the delivery is. */
const BUSY_RETRY = '2 s';

/** @param elapsed milliseconds since the running activity was scheduled. */
export function createWebhookActivities(deps: WebhookDeps, elapsed = elapsedMs) {
  return {
    /**
     * One attempt: claims, sends, records. Throws what Temporal retries: the database is away, the subscription has its
     * share in flight, or an attempt of this delivery is.
     */
    async attemptDelivery({ deliveryId, subscriptionId, ...request }: AttemptRequest): Promise<AttemptReport> {
      if (deps.recorder.held().includes(deliveryId)) throw busy('The outcome of an attempt is still to be saved');
      if (!deps.inFlight.hasRoom(subscriptionId)) throw busy('The subscription has its share of sends in flight');
      const end = deps.inFlight.start(subscriptionId);
      try {
        const claimed = await deps.claim({ deliveryId, startedAt: new Date(request.atMs + elapsed()) });
        if ('status' in claimed) return reportOfUnclaimed(claimed);
        const outcome = { ...(await deps.attempt(claimed, request)), reason: request.reason };
        const recorded = await deps.recorder.record(outcome);
        deps.onRecorded(recorded, outcome);
        return reportOf(recorded, outcome);
      } finally {
        end();
      }
    },

    async requestResend(request: { deliveryId: string; force: boolean }): Promise<void> {
      try {
        await deps.requestResend(request);
      } catch (error) {
        if (error instanceof AppError) throw ApplicationFailure.nonRetryable(error.message, 'ResendRejected');
        throw error;
      }
    },

    async abandonDelivery(request: { deliveryId: string; atMs: number }): Promise<DeliveryStatus> {
      return deps.abandon({ deliveryId: request.deliveryId, at: new Date(request.atMs) });
    },
  };
}

function busy(message: string): ApplicationFailure {
  return ApplicationFailure.create({ message, type: 'Busy', nextRetryDelay: BUSY_RETRY });
}

function reportOf({ status, rungsUsed, nextAttemptAt }: RecordedDelivery, outcome: AttemptOutcome): AttemptReport {
  return {
    kind: outcome.ok ? 'delivered' : 'failed',
    status,
    attemptsMade: rungsUsed,
    nextAttemptAtMs: nextAttemptAt?.getTime() ?? null,
    httpStatus: outcome.httpStatus,
    code: outcome.failure?.code ?? null,
  };
}

function reportOfUnclaimed(delivery: Unclaimed): AttemptReport {
  if (delivery.inFlight) throw busy('An attempt of this delivery is in flight');
  // An earlier try of this activity made the attempt, and its result was lost.
  const isMade = activityInfo().attempt > 1;
  return {
    kind: !isMade ? 'unsent' : delivery.status === 'DELIVERED' ? 'delivered' : 'failed',
    status: delivery.status,
    attemptsMade: delivery.rungsUsed,
    nextAttemptAtMs: delivery.nextAttemptAt?.getTime() ?? null,
    httpStatus: delivery.httpStatus,
    code: delivery.failure?.code ?? null,
  };
}
