import { setTimeout as sleep } from 'node:timers/promises';

import type { Knex } from '../../lib/db.ts';
import { createDrainLoop } from '../../lib/drain-loop.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import type { AttemptOutcome, RetrySchedule } from './attempt.ts';
import { claimDue, type ClaimedAttempt } from './claim.ts';
import type { InFlight } from './in-flight.ts';
import type { DeliveryNow, Recorder, Recording } from './record-attempt.ts';
import { deliveryWorkflow } from './workflow-input.ts';

export type DispatcherDeps = {
  db: Knex;
  log: Logger;
  attempt: (attempt: ClaimedAttempt, schedule: RetrySchedule) => Promise<AttemptOutcome>;
  record: Recorder;
  inFlight: InFlight;
  /** Which deliveries get a workflow: every one, for operators to look at, or those that failed and will be retried. */
  workflows: 'every' | 'failed';
  retryDelaysSeconds: readonly number[];
  onRecorded: (now: DeliveryNow, outcome: AttemptOutcome) => void;
  /** The outbox holds a workflow to be started. */
  onWorkflow: () => void;
};

export type Dispatcher = {
  /** There may be new deliveries. */
  trigger: () => void;
  /** Whether receivers would wait for what else this process does now: many deliveries, slow claims, many that hang. */
  isBusy: () => boolean;
  /** Claims no more, and waits until what is in flight is recorded. */
  stop: () => Promise<void>;
};

/** Claimed and not recorded yet, of all subscriptions: sockets, and outcomes that wait for the database. */
const IN_FLIGHT_MAX = 1_000;
/** From then on subscriptions that hung or failed lately wait for the others. */
const IN_FLIGHT_HALF = IN_FLIGHT_MAX / 2;
/** From then on many hang: what is not urgent would hold up those that do not. */
const IN_FLIGHT_BUSY = IN_FLIGHT_MAX / 4;
const CLAIM_MAX = 100;
/** Claims begin this far apart, and further the more the last one found: many in one statement cost a fraction. */
const CLAIM_EVERY_MS = 3;
const CLAIM_EVERY_MS_MAX = 20;
const CLAIM_EVERY_MS_PER_DELIVERY = 2;
/** Sends that time out together would begin together again, and hold up all others each time: they are spread out. */
const THROTTLED_SPREAD_MS = 200;
/** A claim that takes longer, or finds more, is a sign of load, which is taken to last for a while. */
const BUSY_CLAIM_MS = 10;
const BUSY_CLAIM_SIZE = 10;
const BUSY_FOR_MS = 250;
/** So rarely that no such claim is under way when the database stands still. */
const RECLAIM_EVERY_MS = 1_000;

/**
 * Makes the first attempt of every delivery: claims those that wait, sends, and records the outcomes in batches. What
 * happens afterwards, retries and resends, is the delivery's workflow's (workflows/webhook-delivery.ts), which the
 * recording starts. Nothing of Temporal is on this way.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { inFlight, log, retryDelaysSeconds } = deps;
  const underWay = new Set<Promise<void>>();
  /** Round robin over subscriptions: where the next claim begins. */
  let cursor = '';
  const pace = createPace(() => underWay.size);

  const deliver = async (claimed: ClaimedAttempt, sinceMs: number): Promise<void> => {
    const letGo = inFlight.hold(claimed, sinceMs);
    const endSend = inFlight.startFirst(claimed.subscriptionId);
    try {
      const outcome = await deps.attempt(await afterSpread(claimed), { retryDelaysSeconds, jitter: Math.random() });
      const wasShort = inFlight.isShort(claimed.subscriptionId);
      endSend();
      if (wasShort) pump.trigger();
      await recordOutcome(deps, claimed, outcome);
    } finally {
      endSend();
      letGo();
    }
  };
  const claimSome = async (): Promise<boolean> => {
    const limit = Math.min(CLAIM_MAX, IN_FLIGHT_MAX - underWay.size);
    if (limit <= 0) return false;
    const startedAtMs = performance.now();
    const reclaim = inFlight.mayReclaim() && pace.isReclaimDue();
    try {
      const { attempts, skipped, last } = await claimDue(deps.db, {
        ...inFlight.limits,
        limit,
        after: cursor,
        inFlight: inFlight.counts(),
        slow: inFlight.slow(),
        throttledToo: underWay.size < IN_FLIGHT_HALF,
        reclaim,
        held: reclaim ? inFlight.held() : [],
      });
      const taken = attempts.length + skipped;
      pace.note({ taken, tookMs: performance.now() - startedAtMs });
      for (const claimed of attempts) track(deliver(claimed, startedAtMs));
      const wasWhole = cursor === '' && skipped === 0;
      cursor = taken < limit ? '' : last;
      return !wasWhole || taken === limit;
    } catch (error) {
      inFlight.noteFailure();
      log.warn({ err: error }, 'Deliveries could not be claimed; retrying');
      return false;
    }
  };
  const pump = createDrainLoop(claimSome, pace.everyMs);
  const track = (work: Promise<void>): void => {
    const done = work
      .catch((error: unknown) => log.error({ err: error }, 'A first attempt broke off; its mark will run out'))
      .finally(() => {
        underWay.delete(done);
        // What waits for room in the process may be claimed now.
        if (underWay.size >= IN_FLIGHT_HALF - 1) pump.trigger();
      });
    underWay.add(done);
  };

  return {
    trigger: pump.trigger,
    isBusy: pace.isBusy,
    stop: async () => {
      await pump.stop();
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** The attempt when it begins: at once, or spread out where its subscription hung or failed lately. */
async function afterSpread(claimed: ClaimedAttempt): Promise<ClaimedAttempt> {
  if (!claimed.throttled) return claimed;
  const waitMs = Math.round(Math.random() * THROTTLED_SPREAD_MS);
  await sleep(waitMs);
  // Its retry is due so long after its end, not after its claim's.
  return { ...claimed, startedAt: new Date(claimed.startedAt.getTime() + waitMs) };
}

/** How far apart claims begin, when run-out marks are looked at, and whether this process is busy, by what the last claims found. */
function createPace(inFlight: () => number) {
  let everyMs = CLAIM_EVERY_MS;
  let reclaimedAtMs = -Infinity;
  let busyUntilMs = -Infinity;
  return {
    everyMs: () => everyMs,
    isBusy: () => performance.now() < busyUntilMs,
    isReclaimDue: (): boolean => {
      if (performance.now() - reclaimedAtMs < RECLAIM_EVERY_MS) return false;
      reclaimedAtMs = performance.now();
      return true;
    },
    note: ({ taken, tookMs }: { taken: number; tookMs: number }): void => {
      everyMs = Math.min(Math.max(CLAIM_EVERY_MS, taken * CLAIM_EVERY_MS_PER_DELIVERY), CLAIM_EVERY_MS_MAX);
      const isLoaded = taken >= BUSY_CLAIM_SIZE || tookMs > BUSY_CLAIM_MS || inFlight() >= IN_FLIGHT_BUSY;
      if (isLoaded) busyUntilMs = performance.now() + BUSY_FOR_MS;
    },
  };
}

async function recordOutcome(deps: DispatcherDeps, claimed: ClaimedAttempt, outcome: AttemptOutcome): Promise<void> {
  const recording = withWorkflow(deps, claimed, outcome);
  deps.onRecorded(await deps.record(recording), outcome);
  if (recording.start) deps.onWorkflow();
}

/** The workflow that takes over after the first attempt, as the row that starts it. */
function withWorkflow(
  { workflows, log }: Pick<DispatcherDeps, 'workflows' | 'log'>,
  claimed: ClaimedAttempt,
  outcome: AttemptOutcome,
): Recording {
  if (outcome.ok && workflows === 'failed') return outcome;
  try {
    return { ...outcome, start: startOf(claimed, outcome) };
  } catch (error) {
    // What was sent is recorded in any case; recovery starts the workflow.
    log.error({ err: error, deliveryId: claimed.deliveryId }, 'A delivery got no workflow');
    return outcome;
  }
}

function startOf(claimed: ClaimedAttempt, { ok, httpStatus, failure, nextAttemptAt }: AttemptOutcome) {
  const { data } = JSON.parse(claimed.payload.toString()) as { data: { checkoutOrderNo?: string } };
  const start = deliveryWorkflow({
    ...claimed,
    eventType: claimed.event,
    checkoutOrderNo: data.checkoutOrderNo ?? null,
    attemptsMade: ok ? 0 : 1,
    lastOutcome: { ok, httpStatus, code: failure?.code ?? null },
    nextAttemptAt: nextAttemptAt === null ? null : new Date(nextAttemptAt),
  });
  return { id: newId('obx'), ...start };
}
