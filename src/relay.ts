import { rows, type Knex } from './lib/db.ts';
import { AwayError } from './lib/errors.ts';
import type { Logger } from './lib/log.ts';
import { OUTBOX_LEASE_SECONDS, OUTBOX_PRIORITIES, type OutboxRow } from './lib/outbox.ts';
import { createPump } from './lib/pump.ts';
import { createTurns } from './lib/turns.ts';

/** The channel on which writers wake the workers after a commit. */
export const OUTBOX_CHANNEL = 'meskot_outbox';

export type RelayDeps = {
  db: Knex;
  tell: (message: OutboxRow) => Promise<unknown>;
  log: Logger;
  /** The webhook dispatcher, where this process is a worker; null in the API, which never sends to merchants. */
  dispatcher: { trigger: () => void } | null;
  /** Whether it makes sense to try: false for a moment after Temporal did not answer. */
  reachable?: () => boolean;
  /** Whether this process has better things to do than to show deliveries that were made, or to start retries that are not due for long. */
  isBusy?: () => boolean;
  /** How many workflows of webhooks are being started at once, and how many messages of any kind by the sweep. */
  startConcurrency?: number;
  /** The ids of those of these rows that nobody needs any more. */
  findObsolete?: (messages: OutboxRow[]) => Promise<ReadonlySet<string>>;
};

export type Relay = {
  /** Dispatches rows that this process wrote, right after their commit, and triggers the webhook dispatchers. Never throws. */
  dispatch: (messages: OutboxRow[], triggersDispatcher: boolean) => void;
  /** There may be free rows: takes them all, one batch after the other, and tells Temporal. */
  trigger: () => void;
  /** Deletes what has waited for too long to be shown, at most 1,000 a call; how many. */
  dropUnshown: () => Promise<number>;
  /** Waits for what is under way. */
  idle: () => Promise<void>;
  /** Sweeps no more, and waits for what is under way. */
  stop: () => Promise<void>;
};

/** As the setting's default. */
const START_CONCURRENCY = 8;
const ALWAYS = (): boolean => true;
const NEVER = (): boolean => false;
/** Rows a sweep takes, for each that it tells at once. */
const SWEEP_DEPTH = 4;
/** Sweeps begin this far apart, so that each finds several. */
const SWEEP_EVERY_MS = 20;
/** What a sweep has not begun by then it gives back: others may, and its lease has not run out. */
const SWEEP_MS = 2_000;
/** Between failures the pause doubles from 1 s to this. */
const PAUSE_MAX_SECONDS = 30;
/** A delivery that was made is shown within this, or not at all. */
const SHOWN_WITHIN_SECONDS = 60;
const DROP_MAX = 1_000;

/**
 * What became of a message. untried: nothing was asked of Temporal. away: Temporal did not answer, which says nothing
 * about the message. failed: Temporal did not take it.
 */
type Outcome = 'told' | 'untried' | 'away' | 'failed';

/**
 * What is done with rows then. Temporal's absence puts nothing off by more than a second, so that all is free, in its
 * order, once it is back; the process as a whole asks once a second meanwhile.
 */
const AFTER: Readonly<Record<Outcome, string>> = {
  told: 'DELETE FROM outbox WHERE id = ANY(:ids)',
  untried: 'UPDATE outbox SET lease_until = NULL WHERE id = ANY(:ids)',
  away: `UPDATE outbox SET lease_until = NULL, not_before = now() + interval '1 second' WHERE id = ANY(:ids)`,
  failed: `UPDATE outbox SET lease_until = NULL, failures = failures + 1,
             not_before = now() + make_interval(secs => least(power(2, least(failures, 10)), ${PAUSE_MAX_SECONDS}))
           WHERE id = ANY(:ids)`,
};

/**
 * Brings the outbox to Temporal (docs/adr/0002): money that goes out first, then retries, then the rest, and last what is
 * only shown. Repeats do no harm: "already started" is success.
 */
export function createRelay(deps: RelayDeps): Relay {
  const underWay = new Set<Promise<void>>();
  const run = (work: Promise<void>): void => {
    const settled = work
      .catch((error: unknown) => deps.log.error({ err: error }, 'the outbox could not be worked on; the sweeper will'))
      .finally(() => underWay.delete(settled));
    underWay.add(settled);
  };
  const tell = createTell(deps);
  const dispatchOwn = async (messages: OutboxRow[], triggersDispatcher: boolean): Promise<void> => {
    if (triggersDispatcher) await triggerDispatchers();
    const atOnce = messages.filter(({ delayMs }) => delayMs === undefined);
    const outcomes = atOnce.map(async (message) => [message.id, await tell(message)] as const);
    await settle(deps.db, new Map(await Promise.all(outcomes)));
  };
  let notified: Promise<unknown> = Promise.resolve();
  let next: Promise<unknown> | null = null;
  const triggerDispatchers = async (): Promise<void> => {
    if (deps.dispatcher) return deps.dispatcher.trigger();
    // One notification in flight at a time; the next one stands for all that is committed before it is sent. Where it
    // fails they look by themselves within a second.
    next ??= notified.then(async () => {
      next = null;
      notified = deps.db.raw(`NOTIFY ${OUTBOX_CHANNEL}`).catch(() => {});
      await notified;
    });
    await next;
  };
  const pump = createPump(
    async () => {
      try {
        return await sweepOnce(deps, tell);
      } catch (error) {
        deps.log.warn({ err: error }, 'the outbox could not be swept; tried again shortly');
        return false;
      }
    },
    () => SWEEP_EVERY_MS,
  );
  const idle = async (): Promise<void> => {
    await Promise.all(underWay);
  };
  return {
    dispatch: (messages, triggersDispatcher) => run(dispatchOwn(messages, triggersDispatcher)),
    trigger: pump.poke,
    dropUnshown: async () => dropUnshown(deps.db),
    idle,
    stop: async () => {
      await pump.stop();
      await idle();
    },
  };
}

type Tell = (message: OutboxRow) => Promise<Outcome>;

function createTell({ tell, log, reachable = ALWAYS, startConcurrency = START_CONCURRENCY }: RelayDeps): Tell {
  const webhookTurns = createTurns(startConcurrency);
  const tellNow: Tell = async (message) => {
    if (!reachable()) return 'untried';
    try {
      await tell(message);
      return 'told';
    } catch (error) {
      log.warn({ err: error, workflowId: message.workflowId }, 'Temporal was not told; it will be');
      return error instanceof AwayError ? 'away' : 'failed';
    }
  };
  return async (message) =>
    message.workflowType === 'webhookDelivery' ? webhookTurns(async () => tellNow(message)) : tellNow(message);
}

/** Takes and tells a batch; whether there is certainly more to do. */
async function sweepOnce(deps: RelayDeps, tell: Tell): Promise<boolean> {
  const { reachable = ALWAYS, isBusy = NEVER, startConcurrency = START_CONCURRENCY, findObsolete } = deps;
  if (!reachable()) return false;
  const limit = startConcurrency * SWEEP_DEPTH;
  const taken = await takeFree(deps.db, { limit, isBusy: isBusy() });
  if (taken.length === 0) return false;
  const obsolete = (await findObsolete?.(taken)) ?? new Set();
  const outcomes = new Map<string, Outcome>(taken.map(({ id }) => [id, obsolete.has(id) ? 'told' : 'untried']));
  const left = taken.filter(({ id }) => !obsolete.has(id));
  const endMs = performance.now() + SWEEP_MS;
  const tellNext = async (): Promise<void> => {
    for (let next = left.shift(); next && performance.now() < endMs; next = left.shift()) {
      if (!(next.isOnlyShown && isBusy())) outcomes.set(next.id, await tell(next));
    }
  };
  await Promise.all(Array.from({ length: startConcurrency }, tellNext));
  await settle(deps.db, outcomes);
  const isMore = taken.length >= limit || [...outcomes.values()].includes('untried');
  return isMore && reachable();
}

async function settle(db: Knex, outcomes: ReadonlyMap<string, Outcome>): Promise<void> {
  for (const outcome of Object.keys(AFTER) as Outcome[]) {
    const ids = [...outcomes].filter(([, became]) => became === outcome).map(([id]) => id);
    if (ids.length > 0) await rows(db, AFTER[outcome], { ids });
  }
}

type Taken = OutboxRow & { isOnlyShown: boolean; rank: number; dueAt: Date };

/** In SQL: free rows that fulfil the condition, in their order. */
const free = (condition: string): string => `ARRAY(
  SELECT id FROM outbox WHERE ${condition} AND (lease_until IS NULL OR lease_until < now())
  ORDER BY priority, not_before LIMIT :limit FOR UPDATE SKIP LOCKED)`;

const { retry, normal, visibility } = OUTBOX_PRIORITIES;
const TAKE_DUE = free('priority <= :upTo AND not_before <= now()');
const TAKE_EARLY = free(`priority = ${retry} AND not_before > now() AND failures = 0 AND NOT CAST(:isBusy AS boolean)`);

/** In the order in which they are to be told: what is due, and workflows of retries before their time, when there is time. */
async function takeFree(db: Knex, { limit, isBusy }: { limit: number; isBusy: boolean }): Promise<Taken[]> {
  const taken = await rows<Taken>(
    db,
    `UPDATE outbox SET lease_until = now() + interval '${OUTBOX_LEASE_SECONDS} seconds'
     WHERE id = ANY (${TAKE_DUE} || ${TAKE_EARLY})
     RETURNING id, kind, workflow_type, workflow_id, input, signal, priority AS rank, not_before AS due_at,
               priority = ${visibility} AS is_only_shown`,
    { limit, isBusy, upTo: isBusy ? normal : visibility },
  );
  return taken.toSorted((a, b) => a.rank - b.rank || a.dueAt.getTime() - b.dueAt.getTime());
}

async function dropUnshown(db: Knex): Promise<number> {
  const dropped = await rows(
    db,
    `DELETE FROM outbox WHERE id = ANY (ARRAY(
       SELECT id FROM outbox
       WHERE priority = ${OUTBOX_PRIORITIES.visibility} AND not_before <= now()
         AND created_at < now() - interval '${SHOWN_WITHIN_SECONDS} seconds'
         AND (lease_until IS NULL OR lease_until < now())
       LIMIT ${DROP_MAX} FOR UPDATE SKIP LOCKED))
     RETURNING 1`,
  );
  return dropped.length;
}
