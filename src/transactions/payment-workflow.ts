import { rows, type Knex } from '../lib/db.ts';
import type { OutboxMessage } from '../lib/outbox.ts';
import type { Environment } from '../lib/owner.ts';
import { paymentWorkflowId } from './attempt.ts';

type AttemptToStart = {
  attemptId: string;
  merchantId: string;
  environment: Environment;
  channel: string;
  /** The session's end. */
  expiresAt: Date;
};

/** Workflow type, id and input of an attempt's workflow, as every outbox message that may start it needs them. */
export function paymentWorkflow(attempt: AttemptToStart): Pick<OutboxMessage, 'workflowType' | 'workflowId' | 'input'> {
  const { expiresAt, ...input } = attempt;
  return {
    workflowType: 'payment',
    workflowId: paymentWorkflowId(attempt.attemptId),
    input: { ...input, expiresAtMs: expiresAt.getTime() },
  };
}

/**
 * Attempts that are not over and have no outbox row, so must have a running workflow: `limit` of them after an id, in
 * its order, each with what wakes it. Those of the last half minute are left out: Temporal's list lags a little.
 */
export async function openAttempts(
  db: Knex,
  after: string,
  limit: number,
): Promise<{ id: string; wake: OutboxMessage }[]> {
  const open = await rows<AttemptToStart>(
    db,
    `SELECT a.id AS attempt_id, a.merchant_id, a.environment, a.channel, s.expires_at
     FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id
     WHERE a.id > :after AND a.status IN ('CREATED', 'PENDING') AND a.created_at < now() - interval '30 seconds'
       AND NOT EXISTS (SELECT FROM outbox b WHERE b.workflow_id = 'payment-' || a.id)
     ORDER BY a.id LIMIT :limit`,
    { after, limit },
  );
  return open.map((attempt) => ({
    id: attempt.attemptId,
    wake: { kind: 'signalWithStart', signal: 'settled', ...paymentWorkflow(attempt) },
  }));
}
