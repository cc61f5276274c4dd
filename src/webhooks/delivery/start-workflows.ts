import { setTimeout as sleep } from 'node:timers/promises';

import { type Database, rows } from '../../lib/db.ts';
import { createDrainLoop } from '../../lib/drain-loop.ts';
import { UnavailableError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { SendMessage } from '../../outbox/relay.ts';
import { deliveryWorkflowId, type DeliveryInput } from './workflow.ts';

export type StarterDeps = {
  db: Database;
  send: SendMessage;
  log: Logger;
  /** False for a moment after Temporal was unavailable: nothing is started then. */
  reachable: () => boolean;
  /** True while deliveries, retries or money need the processor or Temporal. */
  isBusy: () => boolean;
};

export type WorkflowStarter = ReturnType<typeof createWorkflowStarter>;

/** How many workflows a worker starts at once. */
const AT_ONCE = 2;
/** While it is busy, it starts one in this time: at least five a second. */
const BUSY_EVERY_MS = 180;
const BUSY_POLL_MS = 20;
const BATCH = 50;
/** Rounds begin this far apart, so that each finds several rows. */
const ROUND_EVERY_MS = 100;
/** A round releases the rows that it has not begun to start by then, well before their lease ends. */
const ROUND_MS = 12_000;
/** The rows of a dead process are free after this, and one that Temporal has rejected is tried again. */
const LEASE_SECONDS = 30;
/** A pass over the table that has lasted this long begins again with the oldest row. */
const PASS_MS = 60_000;

/**
 * Starts the workflows of deliveries that succeeded at their first attempt, which operators only look at (docs/adr/0009): each
 * may be late, and none is dropped. It works in the background: two at once, and five a second while there is anything
 * more urgent, so that a million waiting rows delay nothing else. "Already started" is success.
 */
export function createWorkflowStarter(deps: StarterDeps) {
  let isStopping = false;
  const pass = createPass();
  const turn = createTurns(deps.isBusy);
  const round = createDrainLoop(
    async () => {
      try {
        return await startSome(deps, { pass, turn, isStopping: () => isStopping });
      } catch (error) {
        deps.log.warn({ err: error }, 'Workflows of deliveries could not be started; retrying');
        return false;
      }
    },
    () => ROUND_EVERY_MS,
  );
  return {
    /** Starts all workflows that wait. */
    trigger: round.trigger,
    /** Starts no more, and releases the rows that were not begun. */
    stop: async (): Promise<void> => {
      isStopping = true;
      await round.stop();
    },
  };
}

/**
 * Where the next round begins: after the last row of this one, so that no round reads the dead rows before it. Rows come
 * behind it too, and leases end there: a pass begins again at the end of the table, and after a minute.
 */
function createPass() {
  let after = '';
  let begunAtMs = performance.now();
  return {
    after: () => after,
    /** Takes note of the last row of a round; returns whether another round may find rows. */
    goOn: (last: string | undefined, isEnd: boolean): boolean => {
      const wasFirst = after === '';
      const isOver = isEnd || performance.now() - begunAtMs > PASS_MS;
      if (isOver) begunAtMs = performance.now();
      after = isOver ? '' : (last ?? '');
      return !isEnd || !wasFirst;
    },
  };
}

/** Waits for the next start: not at all, or until it is 180 ms after the last one, or nothing is more urgent any more. */
function createTurns(isBusy: () => boolean) {
  let lastMs = -Infinity;
  return async (): Promise<void> => {
    while (isBusy() && performance.now() < lastMs + BUSY_EVERY_MS) await sleep(BUSY_POLL_MS);
    lastMs = performance.now();
  };
}

type Round = { pass: ReturnType<typeof createPass>; turn: () => Promise<void>; isStopping: () => boolean };

type Waiting = { deliveryId: string; input: Omit<DeliveryInput, 'retryDelaysSeconds'>; traceparent: string | null };

/** Leases a batch and starts its workflows; returns whether there may be more to do. */
async function startSome(deps: StarterDeps, { pass, turn, isStopping }: Round): Promise<boolean> {
  const { db, reachable } = deps;
  if (!reachable()) return false;
  const taken = await takeNext(db, pass.after());
  const [started, untried] = [[] as string[], new Set(taken.map(({ deliveryId }) => deliveryId))];
  const remaining = [...taken];
  const endMs = performance.now() + ROUND_MS;
  const startNext = async (): Promise<void> => {
    for (let next = remaining.shift(); next && performance.now() < endMs; next = remaining.shift()) {
      await turn();
      if (isStopping() || !reachable()) return;
      const outcome = await startOne(deps, next);
      if (outcome !== 'unavailable') untried.delete(next.deliveryId);
      if (outcome === 'started') started.push(next.deliveryId);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, startNext));
  if (started.length > 0) await rows(db, DELETE, { ids: started });
  if (untried.size > 0) await rows(db, RELEASE, { ids: [...untried] });
  // Released rows are behind the last one.
  const isEnd = taken.length < BATCH || untried.size > 0;
  return pass.goOn(taken.at(-1)?.deliveryId, isEnd) && reachable();
}

/** rejected: its row stays leased, and so waits. */
type Outcome = 'started' | 'unavailable' | 'rejected';

async function startOne({ send, log }: StarterDeps, { input, traceparent }: Waiting): Promise<Outcome> {
  const workflowId = deliveryWorkflowId(input.eventId, input.subscriptionId);
  try {
    await send({ kind: 'start', workflowType: 'webhookDelivery', workflowId, input, traceparent });
    return 'started';
  } catch (error) {
    log.warn({ err: error, workflowId }, 'The workflow of a delivery could not be started; retrying');
    return error instanceof UnavailableError ? 'unavailable' : 'rejected';
  }
}

const TAKE = `
  UPDATE webhook_workflow_start SET lease_until = now() + interval '${LEASE_SECONDS} seconds'
  WHERE delivery_id = ANY (ARRAY(
    SELECT delivery_id FROM webhook_workflow_start
    WHERE delivery_id > :after AND (lease_until IS NULL OR lease_until < now())
    ORDER BY delivery_id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))
  RETURNING delivery_id, input, traceparent`;
const DELETE = 'DELETE FROM webhook_workflow_start WHERE delivery_id = ANY(:ids)';
const RELEASE = 'UPDATE webhook_workflow_start SET lease_until = NULL WHERE delivery_id = ANY(:ids)';

/** Leases the oldest free rows after this one. */
async function takeNext(db: Database, after: string): Promise<Waiting[]> {
  const taken = await rows<Waiting>(db, TAKE, { after });
  return taken.toSorted((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
}
