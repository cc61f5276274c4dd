import { type Database, rows } from '../lib/db.ts';
import { createDrainLoop } from '../lib/drain-loop.ts';
import { UnavailableError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Tracing } from '../lib/tracing.ts';
import { OUTBOX_PRIORITIES, type OutboxMessage, type OutboxRow } from './record.ts';

export type RelayDeps = {
  db: Database;
  send: (message: OutboxRow) => Promise<unknown>;
  log: Logger;
  /** False for a moment after Temporal was unavailable: nothing is sent then. */
  reachable: () => boolean;
  /** True while webhooks need the processor: retries that are not due wait. */
  isBusy: () => boolean;
  /** How many messages are sent to Temporal at once. */
  startConcurrency: number;
};

/** Sends a message to Temporal. Throws `UnavailableError` when it does not respond. */
export type SendMessage = (message: OutboxMessage) => Promise<unknown>;

export type Relay = ReturnType<typeof createRelay>;

/** Rows that a sweep leases for each that it sends at once. */
const SWEEP_DEPTH = 4;
/** How long a row stays with the sweep that leased it. */
const LEASE_SECONDS = 5;
/** Sweeps begin this far apart, so that each finds several rows. */
const SWEEP_EVERY_MS = 20;
/** A sweep releases the rows that it has not begun to send by then, well before their lease ends. */
const SWEEP_MS = 2_000;
/** Between failures the pause doubles from 1 s to this. */
const PAUSE_MAX_SECONDS = 30;

/** The result of sending. untried: not sent. unavailable: Temporal did not respond. failed: it rejected the message. */
type Outcome = 'sent' | 'untried' | 'unavailable' | 'failed';

/**
 * The statement for the rows of each result. While Temporal is unavailable rows are postponed by one second only, so that
 * all are free, in their order, once it is back; the process as a whole tries once a second meanwhile.
 */
const SQL_AFTER: Readonly<Record<Outcome, string>> = {
  sent: 'DELETE FROM outbox WHERE id = ANY(:ids)',
  untried: 'UPDATE outbox SET lease_until = NULL WHERE id = ANY(:ids)',
  unavailable: `UPDATE outbox SET lease_until = NULL, available_at = now() + interval '1 second' WHERE id = ANY(:ids)`,
  failed: `UPDATE outbox SET lease_until = NULL, failures = failures + 1,
             available_at = now() + make_interval(secs => least(power(2, least(failures, 10)), ${PAUSE_MAX_SECONDS}))
           WHERE id = ANY(:ids)`,
};

/**
 * Sends the outbox to Temporal (docs/adr/0002): outgoing money first, then retries, then the rest. Sending twice
 * is harmless: "already started" is success.
 */
export function createRelay(given: RelayDeps) {
  let sending = 0;
  const send: RelayDeps['send'] = async (message) => {
    sending += 1;
    return given.send(message).finally(() => (sending -= 1));
  };
  const deps = { ...given, send };
  const { trigger, stop } = createDrainLoop(
    async () => {
      try {
        return await sweepOnce(deps);
      } catch (error) {
        deps.log.warn({ err: error }, 'The outbox could not be swept; retrying');
        return false;
      }
    },
    () => SWEEP_EVERY_MS,
  );
  return {
    /** Leases free rows in batches and sends them to Temporal. */
    trigger,
    /** Whether it is sending messages. */
    isSending: (): boolean => sending > 0,
    /** Starts no more sweeps, and waits for the running one. */
    stop,
  };
}

/** Sends each message as a step of the trace of the change that caused it. */
export function traced(send: SendMessage, tracing: Tracing): SendMessage {
  return async (message) => {
    const { kind, workflowType, workflowId, traceparent: parent } = message;
    if (!parent) return send(message);
    const name = `${kind === 'signal' ? 'signal' : 'start'} workflow ${workflowType}`;
    const span = { name, kind: 'producer', parent, attributes: { 'meskot.workflow_id': workflowId } } as const;
    return tracing.run(span, async () => send(message));
  };
}

async function sendOne(deps: RelayDeps, message: OutboxRow): Promise<Outcome> {
  const { log, reachable } = deps;
  if (!reachable()) return 'untried';
  try {
    await deps.send(message);
    return 'sent';
  } catch (error) {
    log.warn({ err: error, workflowId: message.workflowId }, 'A message could not be sent to Temporal; retrying');
    return error instanceof UnavailableError ? 'unavailable' : 'failed';
  }
}

/** Leases and sends a batch; returns whether there is certainly more to do. */
async function sweepOnce(deps: RelayDeps): Promise<boolean> {
  const { reachable, isBusy, startConcurrency } = deps;
  if (!reachable()) return false;
  const limit = startConcurrency * SWEEP_DEPTH;
  const taken = await leaseFree(deps.db, { limit, isBusy: isBusy() });
  if (taken.length === 0) return false;
  const outcomes = new Map<string, Outcome>(taken.map(({ id }) => [id, 'untried']));
  const remaining = [...taken];
  const endMs = performance.now() + SWEEP_MS;
  const sendNext = async (): Promise<void> => {
    for (let next = remaining.shift(); next && performance.now() < endMs; next = remaining.shift()) {
      outcomes.set(next.id, await sendOne(deps, next));
    }
  };
  await Promise.all(Array.from({ length: startConcurrency }, sendNext));
  await applyOutcomes(deps.db, outcomes);
  const isMore = taken.length >= limit || [...outcomes.values()].includes('untried');
  return isMore && reachable();
}

async function applyOutcomes(db: Database, outcomes: ReadonlyMap<string, Outcome>): Promise<void> {
  for (const outcome of Object.keys(SQL_AFTER) as Outcome[]) {
    const ids = [...outcomes].filter(([, result]) => result === outcome).map(([id]) => id);
    if (ids.length > 0) await rows(db, SQL_AFTER[outcome], { ids });
  }
}

type Taken = OutboxRow & { rank: number; dueAt: Date };

/** In SQL: the ids of free rows that fulfil the condition, in their order. */
const selectFree = (condition: string): string => `ARRAY(
  SELECT id FROM outbox WHERE ${condition} AND (lease_until IS NULL OR lease_until < now())
  ORDER BY priority, available_at LIMIT :limit FOR UPDATE SKIP LOCKED)`;

const TAKE_DUE = selectFree('available_at <= now()');
const TAKE_EARLY = selectFree(
  `priority = ${OUTBOX_PRIORITIES.retry} AND available_at > now() AND failures = 0 AND NOT CAST(:isBusy AS boolean)`,
);

/** In the order of sending: rows that are due, and the workflows of retries before their time while the process is not busy. */
async function leaseFree(db: Database, { limit, isBusy }: { limit: number; isBusy: boolean }): Promise<Taken[]> {
  const sql = `
    UPDATE outbox SET lease_until = now() + interval '${LEASE_SECONDS} seconds'
    WHERE id = ANY (${TAKE_DUE} || ${TAKE_EARLY})
    RETURNING id, kind, workflow_type, workflow_id, input, signal, traceparent, priority AS rank, available_at AS due_at`;
  const taken = await rows<Taken>(db, sql, { limit, isBusy });
  return taken.toSorted((a, b) => a.rank - b.rank || a.dueAt.getTime() - b.dueAt.getTime());
}
