import { rows } from '../lib/db.ts';
import type { OutboxMessage, UnitOfWork } from '../outbox/record.ts';
import { findRecoverable } from '../outbox/recover-workflows.ts';
import type { PayoutKind, PayoutRow } from './queries.ts';

type Started = Pick<PayoutRow, 'id' | 'merchantId' | 'environment' | 'channel'>;

/**
 * The workflow of each withdrawal or refund, `<kind>-<id>`. Every signal means "read the row again": `recovered` to a workflow
 * that may have been lost, `resumed` to one whose merchant is active again. `isWaitOver`, in SQL: whether an order `o` that waits
 * for people is past due, by its stage.
 */
type OutgoingWorkflow<Signal> = {
  kind: PayoutKind;
  recovered: Signal;
  resumed: Signal;
  isWaitOver: Readonly<Record<string, string>>;
};

/** The workflow ends what is not confirmed in time. */
const UNCONFIRMED = "o.requested_at < now() - interval '7 days 1 hour'";

/** The id, the messages and the recovery of the workflows of withdrawals or refunds. */
export function outgoingWorkflow<Signal extends string>({ kind, isWaitOver, ...signals }: OutgoingWorkflow<Signal>) {
  const idOf = (id: string): string => `${kind}-${id}`;
  /** Type, id and input of the workflow, for outbox messages that can start it. */
  const start = ({ id, merchantId, environment, channel }: Started) => {
    const input = { [`${kind}Id`]: id, merchantId, environment, channel };
    return { workflowType: kind, priority: 'money', workflowId: idOf(id), input } as const;
  };
  const message = (id: string, signal: Signal): OutboxMessage => {
    return { kind: 'signal', workflowType: kind, workflowId: idOf(id), signal, priority: 'money' };
  };
  const waits = Object.entries({ AWAITING_CONFIRMATION: UNCONFIRMED, ...isWaitOver }).map(
    ([stage, isOver]) => `WHEN o.stage = '${stage}' THEN ${isOver}`,
  );
  return {
    idOf,
    start,
    message,
    /** Signals the workflows of those that were not sent while the merchant was suspended. */
    resumeUnsent: async (tx: UnitOfWork, merchantId: string): Promise<void> => {
      const sql = `SELECT id FROM payout WHERE kind = '${kind}' AND merchant_id = :merchantId AND status = 'PENDING' AND stage = 'CREATED'`;
      const unsent = await rows<{ id: string }>(tx.trx, sql, { merchantId });
      await tx.enqueue(unsent.map(({ id }) => message(id, signals.resumed)));
    },
    /**
     * Past due besides are those never sent, and those not queried within a poll interval (each as long as all before it, at
     * most 30 minutes).
     */
    findRecoverable: findRecoverable<Started>({
      columns: 'o.id, o.merchant_id, o.environment, o.channel',
      from: 'payout o',
      id: 'o.id',
      isOpen: `o.kind = '${kind}' AND o.status = 'PENDING'`,
      changedAt: 'o.created_at',
      isPastDue: `CASE ${waits.join(' ')} WHEN o.last_checked_at IS NULL THEN true
        ELSE o.last_checked_at + least(o.last_checked_at - o.submitted_at, interval '30 minutes') < now() - interval '1 minute' END`,
      workflowId: `'${idOf('')}' || o.id`,
      message: (row) => ({ kind: 'signalWithStart', signal: signals.recovered, ...start(row) }),
    }),
  };
}
