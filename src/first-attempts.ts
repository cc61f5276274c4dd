import { createInProgress, type InProgress } from './first-attempts-in-progress.ts';
import { rows, type Knex } from './lib/db.ts';
import type { Logger } from './lib/log.ts';
import { OUTBOX_LEASE_SECONDS, type OutboxRow } from './lib/outbox.ts';
import { createPump } from './lib/pump.ts';
import type { AttemptReport, AttemptRequest } from './webhooks/deliver.ts';
import type { AttemptOutcome, SavedDelivery } from './webhooks/save.ts';
import type { SendSlots } from './webhooks/slots.ts';

export type FirstAttemptsDeps = {
  db: Knex;
  /** Starts a delivery's workflow. */
  tell: (message: OutboxRow) => Promise<'told' | 'already'>;
  /** Whether Temporal is there at all. */
  reachable: () => boolean;
  attempt: (request: AttemptRequest) => Promise<AttemptReport>;
  save: (outcome: AttemptOutcome) => Promise<SavedDelivery>;
  slots: SendSlots;
  /** every: the first attempt belongs to the workflow, unless too many are under way. failed: always made directly. */
  workflows: 'every' | 'failed';
  startsMax: number;
  retryDelaysSeconds: readonly number[];
  log: Logger;
};

export type FirstAttempts = {
  /** There may be new deliveries. */
  poke: () => void;
  /**
   * A workflow begins its delivery's first attempt. True if this worker started it and holds its sending slot: nobody
   * takes the attempt over any more. If it was taken over already, resolves once that is done.
   */
  begin: (deliveryId: string) => Promise<boolean>;
  /** A started delivery's first attempt is over. */
  finished: (deliveryId: string) => void;
  /** An attempt was sent but not saved: it is saved from here as well, and its delivery not taken up before it is. */
  keep: (outcome: AttemptOutcome) => void;
  /** Takes no more, and waits for what is being sent. */
  stop: () => Promise<void>;
};

type NewDelivery = OutboxRow & { deliveryId: string; subscriptionId: string };

/** How many due rows one take looks at, and how many it may take. */
const LOOK_MAX = 500;
const TAKE_MAX = 100;
/** Under load takes begin this far apart, so that each finds several. */
const TAKE_EVERY_MS = 5;
/**
 * Soon after the database is back: a delivery that waits to be saved is taken up by nobody in this worker, but another
 * one may claim it again once its claim is old (webhooks/claim.ts). All that wait share one statement.
 */
const SAVE_RETRY_MS = 200;

/**
 * Brings new deliveries to their first attempt: by starting their workflow, or, when too many started
 * ones have not finished theirs, when Temporal is behind or away, or in `failed` mode, by making it directly: same
 * claim, same send, same rows. A direct success ends the delivery; after a direct failure its outbox row stays and
 * starts the workflow, which takes up the ladder from there. So a burst, a slow or an absent engine delays no healthy
 * receiver, and the bound keeps Temporal's tasks from timing out and being done twice.
 */
export function createFirstAttempts(deps: FirstAttemptsDeps): FirstAttempts {
  const inProgress = createInProgress(deps.slots, () => pump.poke());

  const unsaved = createUnsaved(deps);
  const isUnderWay = ({ deliveryId }: NewDelivery): boolean => inProgress.has(deliveryId) || unsaved.has(deliveryId);

  /** Takes what there is room for; true when there is certainly more to look at. */
  const takeSome = async (): Promise<boolean> => {
    const room = Math.min(TAKE_MAX, inProgress.room());
    if (room <= 0) return false;
    try {
      const slowToo = !inProgress.isHalfFull();
      const taken = await takeNew(deps, { limit: room, slowToo });
      // A row whose lease ran out while we are at work on it stays leased: whoever works on it ends it.
      const refused = taken.filter((row) => !isUnderWay(row) && !making.make(row));
      await giveBack(deps.db, refused);
      return taken.length === room;
    } catch (error) {
      deps.log.warn({ err: error }, 'new deliveries could not be taken; tried again shortly');
      return false;
    }
  };
  const pump = createPump(takeSome, TAKE_EVERY_MS);
  const making = createMaking(deps, inProgress, pump.poke);

  return {
    poke: pump.poke,
    finished: making.finished,
    begin: inProgress.begin,
    keep: unsaved.keep,
    stop: async () => {
      await pump.stop();
      unsaved.leave();
      await inProgress.settle();
    },
  };
}

/** What was sent by workflows and is not saved yet. After `leave` their workflows save it alone. */
function createUnsaved(deps: FirstAttemptsDeps) {
  const waiting = new Set<string>();
  let isLeft = false;
  return {
    has: (deliveryId: string) => waiting.has(deliveryId),
    keep: (outcome: AttemptOutcome): void => {
      waiting.add(outcome.deliveryId);
      void saveWithoutEnd(deps, outcome, () => isLeft).finally(() => waiting.delete(outcome.deliveryId));
    },
    leave: (): void => {
      isLeft = true;
    },
  };
}

/** Makes first attempts, by workflow or directly. */
function createMaking(deps: FirstAttemptsDeps, inProgress: InProgress, onRoom: () => void) {
  /** False when its subscription has its share in progress. */
  const make = (row: NewDelivery): boolean => {
    if (!deps.slots.tryTake(row.subscriptionId)) return false;
    const hasRoom = inProgress.started() < deps.startsMax && !inProgress.isBehind();
    const byWorkflow = deps.workflows === 'every' && hasRoom && deps.reachable();
    if (byWorkflow) void start(row);
    else makeDirectly(row);
    return true;
  };
  const start = async (row: NewDelivery): Promise<void> => {
    const onForgotten = (): void => finished(row.deliveryId);
    // Those to receivers that hung or failed lately wait for slots of their own, and say nothing about the engine.
    const onSlow = row.input?.['lane'] === 'slow' ? null : (): void => takeOver(row);
    inProgress.addStart(row, { onSlow, onForgotten });
    try {
      // Its outbox row goes when the attempt is saved; until then it stands for the delivery. One that was started
      // before and still has its row may have been terminated: the claim says whether anything is left to send.
      const told = await deps.tell(row);
      if (told === 'already') giveUpStart(row);
    } catch (error) {
      deps.log.warn({ err: error, deliveryId: row.deliveryId }, 'the workflow was not started; attempting directly');
      giveUpStart(row);
    }
  };
  const giveUpStart = (row: NewDelivery): void => {
    // It was started all the same, and is at work: it ends its start itself.
    if (inProgress.hasBegun(row.deliveryId)) return;
    takeOver(row);
    inProgress.forgetStart(row.deliveryId);
  };
  /** The claim decides between us and the workflow; the start goes on counting, or a slow engine would get ever more. */
  const takeOver = (row: NewDelivery): void => {
    if (inProgress.takeSlot(row.deliveryId)) makeDirectly(row);
  };
  const finished = (deliveryId: string): void => {
    const start = inProgress.forgetStart(deliveryId);
    if (start?.holdsSlot) release(start.subscriptionId);
  };
  const release = (subscriptionId: string): void => {
    const wasFull = deps.slots.isFull(subscriptionId);
    deps.slots.release(subscriptionId);
    if (wasFull) onRoom();
  };
  const makeDirectly = (row: NewDelivery): void => {
    const work = attemptDirectly(deps, row)
      .then((report) => {
        // Its workflow made the attempt after all, in another worker.
        if (report.kind === 'over' || report.kind === 'busy') inProgress.forgetStart(row.deliveryId);
      })
      .catch((error: unknown) => {
        deps.log.error({ err: error, deliveryId: row.deliveryId }, 'a first attempt broke off; it is taken up again');
      });
    inProgress.addDirect(row.deliveryId, { work, onSettled: () => release(row.subscriptionId) });
  };
  return { make, finished };
}

async function attemptDirectly(deps: FirstAttemptsDeps, row: NewDelivery): Promise<AttemptReport> {
  const report = await deps.attempt({
    deliveryId: row.deliveryId,
    startedAtMs: Date.now(),
    retryDelaysSeconds: deps.retryDelaysSeconds,
    jitter: Math.random(),
    lane: 'direct',
  });
  if (report.kind === 'unsaved') await saveWithoutEnd(deps, report.outcome, () => false);
  // busy: somebody else is sending it. The row's lease runs out, and it is looked at again.
  return report;
}

/** It was sent: sending it again because the database blinked would be a duplicate. */
async function saveWithoutEnd(
  deps: FirstAttemptsDeps,
  outcome: AttemptOutcome,
  isLeftToOthers: () => boolean,
): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, SAVE_RETRY_MS));
    if (isLeftToOthers()) return;
    try {
      await deps.save(outcome);
      return;
    } catch (error) {
      deps.log.warn({ err: error, deliveryId: outcome.deliveryId }, 'an outcome could not be saved yet');
    }
  }
}

/**
 * Free new deliveries, at most a subscription's share of each, oldest first; leaves alone those that are full, and,
 * when half of all room is taken, those to receivers that hung or failed lately.
 */
async function takeNew(deps: FirstAttemptsDeps, wanted: { limit: number; slowToo: boolean }): Promise<NewDelivery[]> {
  return rows<NewDelivery>(
    deps.db,
    `WITH due AS (
       SELECT id, subscription_id FROM outbox
       WHERE delivery_id IS NOT NULL AND not_before <= now() AND (lease_until IS NULL OR lease_until < now())
         AND subscription_id <> ALL(:full) AND (:slowToo OR input ->> 'lane' = 'fast')
       ORDER BY not_before, id LIMIT ${LOOK_MAX}
     ), fair AS (
       SELECT id, row_number() OVER (PARTITION BY subscription_id ORDER BY id) AS place FROM due
     )
     UPDATE outbox SET lease_until = now() + interval '${OUTBOX_LEASE_SECONDS} seconds'
     WHERE id IN (
       SELECT o.id FROM outbox o JOIN fair f ON f.id = o.id
       WHERE f.place <= :share AND (o.lease_until IS NULL OR o.lease_until < now())
       ORDER BY o.id LIMIT :limit FOR UPDATE OF o SKIP LOCKED)
     RETURNING id, kind, workflow_type, workflow_id, input, delivery_id, subscription_id`,
    { full: deps.slots.full(), share: deps.slots.perSubscriptionMax, ...wanted },
  );
}

async function giveBack(db: Knex, refused: NewDelivery[]): Promise<void> {
  if (refused.length === 0) return;
  await rows(db, 'UPDATE outbox SET lease_until = NULL WHERE id = ANY(:ids)', { ids: refused.map((row) => row.id) });
}
