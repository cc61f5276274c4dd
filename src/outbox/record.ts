import { setTimeout as sleep } from 'node:timers/promises';

import { type Database, rows, type Trx } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';
import { NO_TRACING, type Tracing } from '../lib/tracing.ts';

/**
 * A message to Temporal: start a workflow, signal one, or signal-with-start. Written in the transaction of the change that
 * causes it, so it exists exactly if the change does (docs/adr/0002). `input` contains ids and numbers only.
 */
export type OutboxMessage = {
  kind: 'start' | 'signal' | 'signalWithStart';
  workflowType: string;
  workflowId: string;
  input?: Record<string, unknown>;
  signal?: string;
  /** 'normal' unless given. */
  priority?: OutboxPriority;
  /** How long after the change it is sent, at the earliest. */
  delayMs?: number;
  /** The step of a trace that caused it. `enqueue` adds it. */
  traceparent?: string | null;
};

export type OutboxRow = OutboxMessage & { id: string };

/** The order of sending. money: withdrawals, refunds and settlements; retry: failed deliveries that need a retry or a resend. */
type OutboxPriority = keyof typeof OUTBOX_PRIORITIES;

/** As stored in the table. */
export const OUTBOX_PRIORITIES = { money: 0, retry: 1, normal: 2 } as const;

/** One change, one transaction: an operation writes through `trx`; the workers send what it enqueues after the commit. */
export type UnitOfWork = {
  trx: Trx;
  /**
   * Sends a write without waiting for its result: the last one travels with the COMMIT. If it fails, the transaction
   * fails with the error that `explain` makes of it after the rollback.
   */
  writeDeferred: (
    sql: string,
    values: Record<string, unknown>,
    explain?: (error: unknown) => Promise<unknown>,
  ) => Promise<void>;
  /** Adds messages to the outbox, inside the transaction. */
  enqueue: (messages: OutboxMessage[]) => Promise<void>;
  /** Announces rows that another statement of the transaction has already written to the outbox. */
  enqueued: (messages: OutboxRow[]) => void;
  /** Triggers the dispatchers after the commit: there are new webhook deliveries. */
  triggerDispatcher: () => void;
  /** The running step of a trace, for rows that lead to other steps; null without traces. */
  traceparent: string | null;
};

/** Runs the work in one transaction and triggers the workers after its commit. */
export type RunInTransaction = <T>(work: (tx: UnitOfWork) => Promise<T>) => Promise<T>;

/** Triggers the workers after a commit. Never throws and is not awaited: the workers also poll. */
export type Dispatch = (written: OutboxRow[], triggersDispatcher: boolean) => void;

/** SQLSTATEs of a deadlock and of a serialisation failure: the transaction was rolled back and can be run again. */
const RETRYABLE: ReadonlySet<unknown> = new Set(['40P01', '40001']);
const TRIES_MAX = 3;
const PAUSE_MAX_MS = 50;

/** Runs the work again after a deadlock or a serialisation failure, so `work` must change nothing but the database. */
export function createTransactionRunner(
  db: Database,
  dispatch: Dispatch,
  { current }: Pick<Tracing, 'current'> = NO_TRACING,
): RunInTransaction {
  return async (work) => {
    for (let tries = 1; ; tries += 1) {
      try {
        const { result, enqueued, triggersDispatcher } = await runOnce(db, work, current());
        if (enqueued.length > 0 || triggersDispatcher) dispatch(enqueued, triggersDispatcher);
        return result;
      } catch (error) {
        const isRetryable = error instanceof Error && 'code' in error && RETRYABLE.has(error.code);
        if (!isRetryable || tries === TRIES_MAX) throw error;
        // Random, so that the two transactions do not meet again.
        await sleep(Math.random() * PAUSE_MAX_MS);
      }
    }
  };
}

async function runOnce<T>(db: Database, work: (tx: UnitOfWork) => Promise<T>, traceparent: string | null) {
  const written: { done: Promise<unknown>; explain: (error: unknown) => Promise<unknown> }[] = [];
  const enqueued: OutboxRow[] = [];
  let triggersDispatcher = false;
  const open = (trx: Trx): UnitOfWork => {
    const writeDeferred: UnitOfWork['writeDeferred'] = async (sql, values, explain = async (error) => error) => {
      const done = rows(trx, sql, values);
      done.catch(() => {});
      written.push({ done, explain });
    };
    return {
      trx,
      writeDeferred,
      enqueue: async (messages) => {
        if (messages.length === 0) return;
        const added = messages.map((message) => ({ ...message, id: newId('obx'), traceparent }));
        await writeDeferred(OUTBOX_INSERT, { messages: JSON.stringify(added) });
        enqueued.push(...added);
      },
      enqueued: (messages) => void enqueued.push(...messages),
      triggerDispatcher: () => {
        triggersDispatcher = true;
      },
      traceparent,
    };
  };
  const result = await db
    .transaction(async (trx) => work(open(trx)))
    .catch(async (error: unknown) => {
      // The first write that failed is the cause of all later errors.
      for (const { done, explain } of written) {
        await done.catch(async (cause: unknown) => {
          throw await explain(cause);
        });
      }
      throw error;
    });
  return { result, enqueued, triggersDispatcher };
}

/**
 * Does the work and undoes it: what it would have written is gone, and nothing is announced. Throws what the work throws;
 * the transaction is then unusable.
 */
export async function dryRun<T>(tx: UnitOfWork, work: (tx: UnitOfWork) => Promise<T>): Promise<T> {
  const { trx, traceparent } = tx;
  const writeDeferred = async (sql: string, values: Record<string, unknown>) => void (await rows(trx, sql, values));
  const announce = { enqueue: async () => {}, enqueued: () => {}, triggerDispatcher: () => {} };
  await rows(trx, 'SAVEPOINT dry_run');
  const result = await work({ trx, writeDeferred, ...announce, traceparent });
  await rows(trx, 'ROLLBACK TO SAVEPOINT dry_run');
  return result;
}

const PRIORITY_CASES = Object.entries(OUTBOX_PRIORITIES).map(([name, rank]) => `WHEN '${name}' THEN ${rank}`);

/** The columns of an outbox row as JSON for `jsonb_to_recordset`. */
export const OUTBOX_INSERT = `
  INSERT INTO outbox (id, kind, workflow_type, workflow_id, input, signal, traceparent, priority, available_at)
  SELECT m.id, m.kind, m."workflowType", m."workflowId", m.input, m.signal, m.traceparent,
         CASE m.priority ${PRIORITY_CASES.join(' ')} ELSE ${OUTBOX_PRIORITIES.normal} END,
         now() + coalesce(m."delayMs", 0) * interval '1 millisecond'
  FROM jsonb_to_recordset(CAST(:messages AS jsonb))
    AS m (id text, kind text, "workflowType" text, "workflowId" text, input jsonb, signal text, traceparent text, priority text,
          "delayMs" integer)`;
