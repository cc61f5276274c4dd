import { setTimeout as sleep } from 'node:timers/promises';

import type { Database } from '../../lib/db.ts';
import { createDrainLoop } from '../../lib/drain-loop.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import type { AttemptOutcome, RetrySchedule } from './attempt.ts';
import { claimDue, type ClaimedAttempt } from './claim.ts';
import type { InFlight } from './in-flight.ts';
import type { DeliveryNow, Recorder } from './record-attempt.ts';
import { deliveryWorkflow } from './workflow.ts';

/** Sending and recording of one attempt, shared by the dispatcher and the deliveries' workflows. */
export type Sending = {
  attempt: (attempt: ClaimedAttempt, schedule: RetrySchedule) => Promise<AttemptOutcome>;
  record: Recorder;
  inFlight: InFlight;
  onRecorded: (now: DeliveryNow, outcome: AttemptOutcome) => void;
};

export type DispatcherDeps = Sending & {
  db: Database;
  log: Logger;
  /** Which deliveries get a workflow: every one, for operators to look at, or only failed ones that will be retried. */
  workflows: 'every' | 'failed';
  retryDelaysSeconds: readonly number[];
  /** Called when a workflow waits to be started: one that makes retries, or one of a delivered event. */
  onWorkflow: (isDelivered: boolean) => void;
};

export type Dispatcher = ReturnType<typeof createDispatcher>;

/** Claimed and not recorded yet, over all subscriptions: open sockets and unsaved outcomes. */
const IN_FLIGHT_MAX = 1_000;
/** From this number on throttled subscriptions wait for the others. */
const IN_FLIGHT_HALF = IN_FLIGHT_MAX / 2;
/** From this number on many hang, and work that is not urgent would delay the others. */
const IN_FLIGHT_BUSY = IN_FLIGHT_MAX / 4;
const CLAIM_MAX = 100;
/** The interval of claims, which grows with the size of the last one: one statement for many costs a fraction. */
const CLAIM_EVERY_MS = 3;
const CLAIM_EVERY_MS_MAX = 20;
const CLAIM_EVERY_MS_PER_DELIVERY = 2;
/** Spreads out sends to throttled subscriptions: those that time out together would all start together again. */
const THROTTLED_SPREAD_MS = 200;
/** A claim that takes longer, or finds more, indicates load, which is assumed to last for BUSY_FOR_MS. */
const BUSY_CLAIM_MS = 10;
const BUSY_CLAIM_SIZE = 10;
const BUSY_FOR_MS = 250;
/** Rare, so that hardly any such claim is running when the database hangs. */
const RECLAIM_EVERY_MS = 1_000;

/**
 * Makes the first attempt of every delivery: claims queued deliveries, sends them, and records the outcomes in batches.
 * Recording a failure starts the delivery's workflow (workflows/webhook-delivery.ts), which makes retries and resends.
 * Temporal is not involved in first attempts.
 */
export function createDispatcher(deps: DispatcherDeps) {
  const { inFlight, log, retryDelaysSeconds } = deps;
  const running = new Set<Promise<void>>();
  /** Round robin over subscriptions: the next claim starts after this id. */
  let cursor = '';
  const pace = createPace(() => running.size);

  const deliver = async (claimed: ClaimedAttempt, sinceMs: number): Promise<void> => {
    const release = inFlight.hold(claimed, sinceMs);
    const endSend = inFlight.startFirst(claimed.subscriptionId);
    try {
      const outcome = await deps.attempt(await afterSpread(claimed), { retryDelaysSeconds, jitter: Math.random() });
      const wasAtShare = inFlight.isAtShare(claimed.subscriptionId);
      endSend();
      if (wasAtShare) claiming.trigger();
      await recordOutcome(deps, claimed, outcome);
    } finally {
      endSend();
      release();
    }
  };
  const claimSome = async (): Promise<boolean> => {
    const limit = Math.min(CLAIM_MAX, IN_FLIGHT_MAX - running.size);
    if (limit <= 0) return false;
    const startedAtMs = performance.now();
    const reclaim = inFlight.mayReclaim() && pace.isReclaimDue();
    try {
      const { attempts, found, last } = await claimDue(deps.db, {
        ...inFlight.limits,
        limit,
        after: cursor,
        inFlight: inFlight.counts(),
        slow: inFlight.slow(),
        throttledToo: running.size < IN_FLIGHT_HALF,
        reclaim,
        held: reclaim ? inFlight.held() : [],
      });
      pace.note({ found, tookMs: performance.now() - startedAtMs });
      for (const claimed of attempts) track(deliver(claimed, startedAtMs));
      const wasWhole = cursor === '' && attempts.length === found;
      cursor = found < limit ? '' : last;
      return !wasWhole || found === limit;
    } catch (error) {
      inFlight.noteFailure();
      log.warn({ err: error }, 'Deliveries could not be claimed; retrying');
      return false;
    }
  };
  const claiming = createDrainLoop(claimSome, pace.everyMs);
  const track = (work: Promise<void>): void => {
    const done = work
      .catch((error: unknown) => log.error({ err: error }, 'A first attempt was aborted; its mark will expire'))
      .finally(() => {
        running.delete(done);
        // Deliveries that waited for room in the process may be claimed now.
        if (running.size >= IN_FLIGHT_HALF - 1) claiming.trigger();
      });
    running.add(done);
  };

  return {
    trigger: claiming.trigger,
    isBusy: pace.isBusy,
    /** Claims no more, and waits until everything in flight is recorded. */
    stop: async (): Promise<void> => {
      await claiming.stop();
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Delays an attempt at random where its subscription hung or failed recently. */
async function afterSpread(claimed: ClaimedAttempt): Promise<ClaimedAttempt> {
  if (!claimed.throttled) return claimed;
  const waitMs = Math.round(Math.random() * THROTTLED_SPREAD_MS);
  await sleep(waitMs);
  // The next retry is counted from the end of the send, so its start is corrected too.
  return { ...claimed, startedAt: new Date(claimed.startedAt.getTime() + waitMs) };
}

/** The interval of claims and of looking for expired marks, and whether this process is busy, from the results of the last claims. */
function createPace(inFlight: () => number) {
  let everyMs = CLAIM_EVERY_MS;
  let reclaimedAtMs = -Infinity;
  let busyUntilMs = -Infinity;
  return {
    everyMs: () => everyMs,
    /** Whether other work would delay receivers: there are many deliveries, slow claims, or many that hang. */
    isBusy: () => performance.now() < busyUntilMs,
    isReclaimDue: (): boolean => {
      if (performance.now() - reclaimedAtMs < RECLAIM_EVERY_MS) return false;
      reclaimedAtMs = performance.now();
      return true;
    },
    note: ({ found, tookMs }: { found: number; tookMs: number }): void => {
      everyMs = Math.min(Math.max(CLAIM_EVERY_MS, found * CLAIM_EVERY_MS_PER_DELIVERY), CLAIM_EVERY_MS_MAX);
      const isLoaded = found >= BUSY_CLAIM_SIZE || tookMs > BUSY_CLAIM_MS || inFlight() >= IN_FLIGHT_BUSY;
      if (isLoaded) busyUntilMs = performance.now() + BUSY_FOR_MS;
    },
  };
}

async function recordOutcome(deps: DispatcherDeps, claimed: ClaimedAttempt, outcome: AttemptOutcome): Promise<void> {
  const hasWorkflow = !outcome.ok || deps.workflows === 'every';
  const recording = hasWorkflow ? { ...outcome, start: startOf(claimed, outcome) } : outcome;
  deps.onRecorded(await deps.record(recording), outcome);
  if (hasWorkflow) deps.onWorkflow(outcome.ok);
}

/** The start of the workflow for what follows the first attempt. */
function startOf(
  claimed: ClaimedAttempt,
  { ok, httpStatus, failure, nextAttemptAt, startedAt, answer }: AttemptOutcome,
) {
  const { data } = JSON.parse(claimed.payload.toString()) as { data: { checkoutOrderNo?: string } };
  const start = deliveryWorkflow({
    ...claimed,
    eventType: claimed.event,
    checkoutOrderNo: data.checkoutOrderNo ?? null,
    attemptsMade: ok ? 0 : 1,
    lastOutcome: { ok, httpStatus, code: failure?.code ?? null, atMs: Date.parse(startedAt), answer },
    nextAttemptAt: nextAttemptAt === null ? null : new Date(nextAttemptAt),
  });
  return { id: newId('obx'), ...start, traceparent: claimed.traceparent };
}
