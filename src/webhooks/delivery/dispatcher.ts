import { setTimeout as sleep } from 'node:timers/promises';

import type { Knex } from '../../lib/db.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import { createPump } from '../../lib/pump.ts';
import { deliveryWorkflow } from '../workflow-input.ts';
import type { AttemptOutcome, RetrySchedule } from './attempt.ts';
import { claimDue, type ClaimedAttempt, type Reclaim } from './claim.ts';
import type { InFlight } from './in-flight.ts';
import type { RecordedDelivery, Recorder, Recording } from './record-attempt.ts';

export type DispatcherDeps = {
  db: Knex;
  log: Logger;
  attempt: (attempt: ClaimedAttempt, schedule: RetrySchedule) => Promise<AttemptOutcome>;
  recorder: Recorder;
  inFlight: InFlight;
  reclaim: Reclaim;
  /** Which deliveries get a workflow: every one, for operators to look at, or those that failed and will be retried. */
  workflows: 'every' | 'failed';
  retryDelaysSeconds: readonly number[];
  onRecorded: (recorded: RecordedDelivery, outcome: AttemptOutcome) => void;
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

/** In flight at once over all subscriptions: sockets, not processor time. */
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

/**
 * Makes the first attempt of every delivery: claims those that wait, sends, and records the outcomes in batches. What
 * happens afterwards, retries and resends, is the delivery's workflow's (workflows/webhook-delivery.ts), which the
 * recording starts. Nothing of Temporal is on this way.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { inFlight, recorder, reclaim, log } = deps;
  const working = new Set<Promise<void>>();
  /** Round robin over subscriptions: where the next claim begins, of all and of those that are not throttled. */
  const cursors = { all: '', unthrottled: '' };
  const pace = createPace(inFlight);

  const deliver = async (claimed: ClaimedAttempt): Promise<void> => {
    const end = inFlight.start(claimed.subscriptionId);
    const outcome = await deps.attempt(await inItsTurn(claimed), { ...deps, jitter: Math.random() });
    // Otherwise nothing was left waiting for want of room.
    const wasShort = inFlight.isShort(claimed.subscriptionId) || inFlight.total() >= IN_FLIGHT_HALF;
    end();
    if (wasShort) pump.poke();
    const recording = withWorkflow(deps, claimed, outcome);
    const recorded = await recorder.record(recording);
    deps.onRecorded(recorded, outcome);
    if (recording.start) deps.onWorkflow();
  };
  const claimSome = async (): Promise<boolean> => {
    const limit = Math.min(CLAIM_MAX, IN_FLIGHT_MAX - inFlight.total());
    if (limit <= 0) return false;
    const startedAtMs = performance.now();
    const turn = inFlight.total() < IN_FLIGHT_HALF ? 'all' : 'unthrottled';
    try {
      const { attempts, looked, last } = await claimDue(deps.db, {
        ...inFlight.limits,
        limit,
        after: cursors[turn],
        inFlight: inFlight.counts(),
        throttledToo: turn === 'all',
        held: recorder.held(),
        reclaim: reclaim.isDue(),
      });
      pace.note({ looked, tookMs: performance.now() - startedAtMs });
      for (const claimed of attempts) track(deliver(claimed));
      const wrapped = cursors[turn] !== '' && looked < limit;
      cursors[turn] = looked < limit ? '' : last;
      return wrapped || looked === limit;
    } catch (error) {
      reclaim.postpone();
      log.warn({ err: error }, 'Deliveries could not be claimed; retrying');
      return false;
    }
  };
  const pump = createPump(claimSome, pace.everyMs);
  const track = (work: Promise<void>): void => {
    const done = work
      .catch((error: unknown) => log.error({ err: error }, 'A first attempt broke off; its mark will run out'))
      .finally(() => working.delete(done));
    working.add(done);
  };

  return {
    trigger: pump.poke,
    isBusy: pace.isBusy,
    stop: async () => {
      await pump.stop();
      while (working.size > 0) await Promise.all(working);
    },
  };
}

/** The attempt when it begins: at once, or spread out where its subscription hung or failed lately. */
async function inItsTurn(claimed: ClaimedAttempt): Promise<ClaimedAttempt> {
  if (!claimed.throttled) return claimed;
  const waitMs = Math.round(Math.random() * THROTTLED_SPREAD_MS);
  await sleep(waitMs);
  // Its retry is due so long after its end, not after its claim's.
  return { ...claimed, startedAt: new Date(claimed.startedAt.getTime() + waitMs) };
}

/** How far apart claims begin, and whether this process is busy, by what the last claims found. */
function createPace(inFlight: InFlight) {
  let everyMs = CLAIM_EVERY_MS;
  let busyUntilMs = -Infinity;
  return {
    everyMs: () => everyMs,
    isBusy: () => performance.now() < busyUntilMs,
    note: ({ looked, tookMs }: { looked: number; tookMs: number }): void => {
      everyMs = Math.min(Math.max(CLAIM_EVERY_MS, looked * CLAIM_EVERY_MS_PER_DELIVERY), CLAIM_EVERY_MS_MAX);
      const isLoaded = looked >= BUSY_CLAIM_SIZE || tookMs > BUSY_CLAIM_MS || inFlight.total() >= IN_FLIGHT_BUSY;
      if (isLoaded) busyUntilMs = performance.now() + BUSY_FOR_MS;
    },
  };
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
