import { newId } from './ids.ts';
import { rows, type Knex } from './db.ts';

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
  /** Set on a delivery's start: its first attempt may be made directly by the worker's relay. */
  deliveryId?: string;
  subscriptionId?: string;
};

export type OutboxRow = OutboxMessage & { id: string };

/** One change, one transaction: all that a command writes goes through `trx`; what it `tell`s is dispatched after the commit. */
export type Change = {
  trx: Knex.Transaction;
  /** Adds messages to the outbox, inside the transaction. */
  tell: (messages: OutboxMessage[]) => Promise<void>;
  /** Announces rows that a statement of the change wrote to the outbox itself. */
  told: (messages: OutboxRow[]) => void;
};

/** Runs the work in one transaction and, after its commit, hands what it told to the relay. */
export type RunChange = <T>(work: (change: Change) => Promise<T>) => Promise<T>;

/** How long a row belongs to the process that wrote it, before others may take it: longer than a send. */
export const OUTBOX_LEASE_SECONDS = 5;

/** `dispatch` never throws and is not awaited: what it fails to do, the sweeper does. */
export function createRunChange(db: Knex, dispatch: (messages: OutboxRow[]) => void): RunChange {
  return async (work) => {
    const told: OutboxRow[] = [];
    const result = await db.transaction(async (trx) => {
      const announce = (messages: OutboxRow[]): void => void told.push(...messages);
      return work({ trx, told: announce, tell: async (messages) => announce(await insertMessages(trx, messages)) });
    });
    if (told.length > 0) dispatch(told);
    return result;
  };
}

async function insertMessages(trx: Knex.Transaction, messages: OutboxMessage[]): Promise<OutboxRow[]> {
  const added = messages.map((message) => ({ ...message, id: newId('obx') }));
  if (added.length === 0) return added;
  await rows(
    trx,
    `INSERT INTO outbox (id, kind, workflow_type, workflow_id, input, signal, delivery_id, subscription_id, lease_until)
     SELECT m.*, now() + make_interval(secs => :leaseSeconds)
     FROM jsonb_to_recordset(:messages::jsonb)
       AS m (id text, kind text, "workflowType" text, "workflowId" text, input jsonb, signal text, "deliveryId" text, "subscriptionId" text)`,
    { messages: JSON.stringify(added), leaseSeconds: OUTBOX_LEASE_SECONDS },
  );
  return added;
}
