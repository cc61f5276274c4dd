import { ApplicationFailure } from '@temporalio/activity';

import { AppError } from '../src/lib/errors.ts';
import type { AttemptOutcome, RetrySchedule } from '../src/webhooks/delivery/attempt.ts';
import type { Claim, ClaimedAttempt } from '../src/webhooks/delivery/claim.ts';
import type { InFlight } from '../src/webhooks/delivery/in-flight.ts';
import type { DeliveryNow, Recorder } from '../src/webhooks/delivery/record-attempt.ts';
import type { DeliveryStatus } from '../src/webhooks/delivery/states.ts';
import { elapsedMs } from './running.ts';

export type { DeliveryInput } from '../src/webhooks/delivery/workflow.ts';

/** The outcome of a retry or a resend, and the delivery's state after it. `unsent`: the delivery is final, or not due. */
export type AttemptReport = {
  kind: 'delivered' | 'failed' | 'unsent';
  status: DeliveryStatus;
  /** Scheduled attempts that failed so far, and when the next is due, in ms since 1970. */
  attemptsMade: number;
  nextAttemptAtMs: number | null;
  httpStatus: number | null;
  code: string | null;
};

type AttemptRequest = RetrySchedule & {
  deliveryId: string;
  subscriptionId: string;
  /** The workflow's time. */
  atMs: number;
  /** The reason of the operator who requested it; '' for no reason, null when no operator did. */
  reason: string | null;
};

export type WebhookDeps = {
  claim: Claim;
  readDelivery: (deliveryId: string) => Promise<DeliveryNow & { inFlight: boolean }>;
  attempt: (attempt: ClaimedAttempt, schedule: RetrySchedule) => Promise<AttemptOutcome>;
  record: Recorder;
  inFlight: InFlight;
  onRecorded: (now: DeliveryNow, outcome: AttemptOutcome) => void;
  requestResend: (request: { deliveryId: string; force: boolean }) => Promise<void>;
  abandon: (request: { deliveryId: string; at: Date }) => Promise<DeliveryStatus>;
};

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

/** While the subscription's share of retries is in flight, or another attempt of the delivery is. */
const BUSY_RETRY = '2 s';

/** @param elapsed milliseconds since the running activity was scheduled. */
export function createWebhookActivities(deps: WebhookDeps, elapsed = elapsedMs) {
  return {
    /**
     * One attempt: claims, sends, records. Throws, for Temporal to retry, when the database is unavailable, the
     * subscription's share is in flight, or an attempt of this delivery is.
     */
    async attemptDelivery({ deliveryId, subscriptionId, ...request }: AttemptRequest): Promise<AttemptReport> {
      if (deps.inFlight.holds(deliveryId)) throw busy('The outcome of an attempt is not saved yet');
      const endSend = deps.inFlight.startRetry(subscriptionId);
      if (!endSend) throw busy('All retries that the subscription may have at once are in flight');
      try {
        const sinceMs = performance.now();
        const claimed = await deps.claim({ deliveryId, startedAt: new Date(request.atMs + elapsed()) });
        if (!claimed) return await reportUnclaimed(deps, deliveryId, request);
        return await attemptClaimed(deps, claimed, { ...request, sinceMs });
      } finally {
        endSend();
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

type Request = Omit<AttemptRequest, 'deliveryId' | 'subscriptionId'>;

async function attemptClaimed(
  deps: WebhookDeps,
  claimed: ClaimedAttempt,
  { sinceMs, ...request }: Request & { sinceMs: number },
): Promise<AttemptReport> {
  const release = deps.inFlight.hold(claimed, sinceMs);
  try {
    const outcome = { ...(await deps.attempt(claimed, request)), reason: request.reason };
    const now = await deps.record(outcome);
    deps.onRecorded(now, outcome);
    return reportOf(now, outcome.ok ? 'delivered' : 'failed');
  } finally {
    release();
  }
}

async function reportUnclaimed(deps: WebhookDeps, deliveryId: string, { atMs }: Request): Promise<AttemptReport> {
  const now = await deps.readDelivery(deliveryId);
  if (now.inFlight) throw busy('An attempt of this delivery is in flight');
  // An earlier try of this activity made the attempt, and its result was lost.
  const wasMade = now.lastAttemptAt !== null && now.lastAttemptAt.getTime() >= atMs;
  return reportOf(now, !wasMade ? 'unsent' : now.failure === null ? 'delivered' : 'failed');
}

function reportOf(now: DeliveryNow, kind: AttemptReport['kind']): AttemptReport {
  return {
    kind,
    status: now.status,
    attemptsMade: now.retryCount,
    nextAttemptAtMs: now.nextAttemptAt?.getTime() ?? null,
    httpStatus: now.httpStatus,
    code: now.failure?.code ?? null,
  };
}
