import { ApplicationFailure, Context } from '@temporalio/activity';

import type { Clock } from '../src/lib/clock.ts';
import type { Database } from '../src/lib/db.ts';
import type { RunInTransaction } from '../src/outbox/record.ts';
import type { RetrySchedule } from '../src/webhooks/delivery/attempt.ts';
import { claimOne } from '../src/webhooks/delivery/claim.ts';
import type { Sending } from '../src/webhooks/delivery/dispatcher.ts';
import { abandonDelivery, readDelivery, type DeliveryNow } from '../src/webhooks/delivery/record-attempt.ts';
import { BATCH_EVERY_MS, runResendBatch, stopResendJob } from '../src/webhooks/delivery/resend-jobs.ts';
import { requestResend } from '../src/webhooks/delivery/resend.ts';
import type { DeliveryStatus } from '../src/webhooks/delivery/states.ts';
import { elapsedMs, withoutUselessRetries } from './running.ts';

export type { ResendJobInput } from '../src/webhooks/delivery/resend-workflow.ts';
export type { DeliveryInput, ListedAttempt } from '../src/webhooks/delivery/workflow.ts';

/** The outcome of a retry or a resend, and the delivery's state after it. `unsent`: the delivery is final, or not due. */
export type AttemptReport = {
  kind: 'delivered' | 'failed' | 'unsent';
  status: DeliveryStatus;
  /** Scheduled attempts that failed so far, and when the next is due, in ms since 1970. */
  attemptsMade: number;
  nextAttemptAtMs: number | null;
  httpStatus: number | null;
  code: string | null;
  /** When the attempt started, in ms since 1970, and the first characters of the response. */
  atMs?: number;
  answer?: string;
};

type AttemptRequest = RetrySchedule & {
  deliveryId: string;
  subscriptionId: string;
  /** The workflow's time. */
  atMs: number;
};

type ResendRequest = {
  deliveryId: string;
  force: boolean;
  /** The reason of the operator who requested it; '' for no reason. */
  reason: string;
};

export type WebhookDeps = Sending & {
  db: Database;
  runInTransaction: RunInTransaction;
  clock: Clock;
  /** Of one bulk resend. */
  resendsPerSecond: number;
  /** The running step of a trace; null: none. */
  traceparent?: () => string | null;
};

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

/** While the subscription's share of retries is in flight, or another attempt of the delivery is. */
const BUSY_RETRY = '2 s';

/** @param elapsed milliseconds since the running activity was scheduled. */
export function createWebhookActivities(deps: WebhookDeps, elapsed = elapsedMs) {
  const { db, inFlight } = deps;
  return withoutUselessRetries({
    /**
     * One attempt: claims, sends, records. Throws, for Temporal to retry, when the database is unavailable, the
     * subscription's share is in flight, or an attempt of this delivery is.
     */
    attemptDelivery: async (request: AttemptRequest): Promise<AttemptReport> => {
      const { deliveryId, atMs } = request;
      if (inFlight.holds(deliveryId)) throw busy('The outcome of an attempt is not saved yet');
      const endSend = inFlight.startRetry(request.subscriptionId);
      if (!endSend) throw busy('All retries that the subscription may have at once are in flight');
      try {
        const sinceMs = performance.now();
        const claim = { deliveryId, startedAt: new Date(atMs + elapsed()), reclaim: inFlight.mayReclaim() };
        const claimed = await claimOne(db, claim).catch((error: unknown) => {
          inFlight.noteFailure();
          throw error;
        });
        if (!claimed) return reportUnclaimed(await readDelivery(db, deliveryId), atMs);
        const release = inFlight.hold(claimed, sinceMs);
        try {
          // A resend by an operator has a trace of its own.
          const traceparent = deps.traceparent?.() ?? claimed.traceparent;
          const outcome = await deps.attempt({ ...claimed, traceparent }, request);
          const now = await deps.record(outcome);
          deps.onRecorded(now, outcome);
          const { answer, startedAt } = outcome;
          return { ...reportOf(now, outcome.ok ? 'delivered' : 'failed'), atMs: Date.parse(startedAt), answer };
        } finally {
          release();
        }
      } finally {
        endSend();
      }
    },

    requestResend: async ({ deliveryId, ...requested }: ResendRequest): Promise<void> => {
      const request = { scope: null, deliveryIds: [deliveryId], ...requested, signal: false };
      await deps.runInTransaction(async (tx) => requestResend(deps, tx, request));
    },

    /** Works through a bulk resend at its pace, and returns its status when all has ended. Rejects where it is to pause. */
    runResendJob: async ({ jobId }: { jobId: string }): Promise<string> => {
      const { heartbeat, sleep } = Context.current();
      for (let requested = 0; ;) {
        const batch = await runResendBatch(deps, { jobId, ratePerSecond: deps.resendsPerSecond });
        if (batch.hasEnded) return batch.status;
        requested += batch.requested;
        heartbeat({ requested });
        await sleep(BATCH_EVERY_MS);
      }
    },

    stopResendJob: async ({ jobId }: { jobId: string }): Promise<void> => stopResendJob(db, jobId),

    abandonDelivery: async ({ deliveryId, atMs }: { deliveryId: string; atMs: number }): Promise<DeliveryStatus> =>
      abandonDelivery(db, { deliveryId, at: new Date(atMs) }),
  });
}

function busy(message: string): ApplicationFailure {
  return ApplicationFailure.create({ message, type: 'Busy', nextRetryDelay: BUSY_RETRY });
}

function reportUnclaimed(now: DeliveryNow & { inFlight: boolean }, atMs: number): AttemptReport {
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
