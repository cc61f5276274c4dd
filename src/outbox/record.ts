import { setTimeout as sleep } from 'node:timers/promises';

import { inTransaction, rows, type Knex } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';

/**
 * Something Temporal must be told because of a change: start a workflow, signal one, or signal-with-start. It is a row
 * written in the change's own transaction, so it exists exactly if the change does (docs/adr/0002).
 * `input` holds ids and numbers only.
 */
export type OutboxMessage = {
  kind: 'start' | 'signal' | 'signalWithStart';
  workflowType: string;
  workflowId: string;
  input?: Record<string, unknown>;
  signal?: string;
  /** 'normal' unless given. */
  priority?: OutboxPriority;
  /** Not to be brought to Temporal before so long after the change. */
  delayMs?: number;
};

export type OutboxRow = OutboxMessage & { id: string };

/**
 * What goes first when much is waiting. money: withdrawals and settlements; retry: deliveries that failed and wait for
 * a retry or a resend; visibility: workflows of deliveries that were made, only shown to operators.
 */
export type OutboxPriority = keyof typeof OUTBOX_PRIORITIES;

/** As the table has them. */
export const OUTBOX_PRIORITIES = { money: 0, retry: 1, normal: 2, visibility: 3 } as const;

/** One change, one transaction: a command writes through `trx`, and the workers bring what it `enqueue`s to Temporal after the commit. */
export type UnitOfWork = {
  trx: Knex.Transaction;
  /**
   * Sends a write whose answer is not needed, and does not wait for it: it travels with the COMMIT if it is the last one.
   * If it fails, so does the change, with the error that `explain` makes of it, after the rollback.
   */
  writeDeferred: (
    sql: string,
    values: Record<string, unknown>,
    explain?: (error: unknown) => Promise<unknown>,
  ) => Promise<void>;
  /** Adds messages to the outbox, inside the transaction. */
  enqueue: (messages: OutboxMessage[]) => Promise<void>;
  /** Announces rows that a larger statement of the change has already written to the outbox. */
  enqueued: (messages: OutboxRow[]) => void;
  /** Has the dispatchers look for new webhook deliveries after the commit. */
  triggerDispatcher: () => void;
};

/** Runs the work in one transaction and, after its commit, wakes the workers for what it wrote. */
export type RunInTransaction = <T>(work: (tx: UnitOfWork) => Promise<T>) => Promise<T>;

/** Wakes the workers after a commit. Never throws and is not awaited: where it fails they look by themselves. */
export type Dispatch = (written: OutboxRow[], triggersDispatcher: boolean) => void;

/** A deadlock's victim, and what a serialisation gave up on: nothing happened, and the same again usually works. */
const TRY_AGAIN: ReadonlySet<unknown> = new Set(['40P01', '40001']);
const TRIES_MAX = 3;
const PAUSE_MAX_MS = 50;

/** A change that PostgreSQL gives up on for another's sake is made again, so `work` changes nothing but the database. */
export function createTransactionRunner(db: Knex, dispatch: Dispatch): RunInTransaction {
  return async (work) => {
    for (let tries = 1; ; tries += 1) {
      try {
        const { result, enqueued, triggersDispatcher } = await changeOnce(db, work);
        if (enqueued.length > 0 || triggersDispatcher) dispatch(enqueued, triggersDispatcher);
        return result;
      } catch (error) {
        const isGivenUp = error instanceof Error && 'code' in error && TRY_AGAIN.has(error.code);
        if (!isGivenUp || tries === TRIES_MAX) throw error;
        // Not in step with the other.
        await sleep(Math.random() * PAUSE_MAX_MS);
      }
    }
  };
}

async function changeOnce<T>(db: Knex, work: (tx: UnitOfWork) => Promise<T>) {
  const written: { done: Promise<unknown>; explain: (error: unknown) => Promise<unknown> }[] = [];
  const enqueued: OutboxRow[] = [];
  let triggersDispatcher = false;
  const triggerDispatcher = (): void => {
    triggersDispatcher = true;
  };
  const announce = (messages: OutboxRow[]): void => {
    enqueued.push(...messages);
  };
  const result = await inTransaction(db, async (trx) => {
    const writeDeferred: UnitOfWork['writeDeferred'] = async (sql, values, explain = async (error) => error) => {
      const done = rows(trx, sql, values);
      done.catch(() => {});
      written.push({ done, explain });
    };
    const enqueue = async (messages: OutboxMessage[]) => announce(await writeMessages(writeDeferred, messages));
    return work({ trx, writeDeferred, enqueue, enqueued: announce, triggerDispatcher });
  }).catch(async (error: unknown) => {
    // The first write that failed is why all after it did.
    for (const { done, explain } of written) {
      await done.catch(async (cause: unknown) => {
        throw await explain(cause);
      });
    }
    throw error;
  });
  return { result, enqueued, triggersDispatcher };
}

const PRIORITY_CASES = Object.entries(OUTBOX_PRIORITIES).map(([name, rank]) => `WHEN '${name}' THEN ${rank}`);

/** The columns of an outbox row as JSON for `jsonb_to_recordset`. */
export const OUTBOX_INSERT = `
  INSERT INTO outbox (id, kind, workflow_type, workflow_id, input, signal, priority, available_at)
  SELECT m.id, m.kind, m."workflowType", m."workflowId", m.input, m.signal,
         CASE m.priority ${PRIORITY_CASES.join(' ')} ELSE ${OUTBOX_PRIORITIES.normal} END,
         now() + coalesce(m."delayMs", 0) * interval '1 millisecond'
  FROM jsonb_to_recordset(CAST(:messages AS jsonb))
    AS m (id text, kind text, "workflowType" text, "workflowId" text, input jsonb, signal text, priority text, "delayMs" integer)`;

async function writeMessages(
  writeDeferred: UnitOfWork['writeDeferred'],
  messages: OutboxMessage[],
): Promise<OutboxRow[]> {
  if (messages.length === 0) return [];
  const added = messages.map((message) => ({ ...message, id: newId('obx') }));
  await writeDeferred(OUTBOX_INSERT, { messages: JSON.stringify(added) });
  return added;
}
