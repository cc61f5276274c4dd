import { rows, type Queryable } from '../lib/db.ts';
import type { Environment } from '../lib/scope.ts';
import type { OpenPage, RecoverableWorkflow } from '../outbox/recover-workflows.ts';

/** The input of `workflows/payment.ts`: ids and numbers. */
export type PaymentInput = {
  attemptId: string;
  merchantId: string;
  environment: Environment;
  channel: string;
  /** The session's end, in ms since 1970. */
  expiresAtMs: number;
};

/** One workflow id per attempt, for its whole life. */
export function paymentWorkflowId(attemptId: string): string {
  return `payment-${attemptId}`;
}

/** Workflow type, id and input of an attempt, for every outbox message that may start its workflow. */
export function paymentWorkflow({ expiresAt, ...ids }: Omit<PaymentInput, 'expiresAtMs'> & { expiresAt: Date }) {
  const input: PaymentInput = { ...ids, expiresAtMs: expiresAt.getTime() };
  return { workflowType: 'payment', workflowId: paymentWorkflowId(ids.attemptId), input };
}

/**
 * Attempts that are not over and have no outbox row, so must have a running workflow. Past due: not queried for longer than
 * the interval between two polls (a minute; after the session's end the time since then, at most 30 minutes). Attempts of
 * the last half minute are left out, since Temporal's list of workflows lags behind.
 */
export async function findRecoverableAttempts(
  db: Queryable,
  { onlyPastDue, ...page }: OpenPage,
): Promise<RecoverableWorkflow[]> {
  const open = await rows<Parameters<typeof paymentWorkflow>[0]>(
    db,
    `SELECT a.id AS attempt_id, a.merchant_id, a.environment, a.channel, s.expires_at
     FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id
     WHERE a.id > :after AND a.status IN ('CREATED', 'PENDING') AND a.created_at < now() - interval '30 seconds'
       AND (NOT CAST(:onlyPastDue AS boolean) OR coalesce(a.last_checked_at, a.created_at)
         + least(greatest(a.last_checked_at - s.expires_at, interval '1 minute'), interval '30 minutes')
         < now() - interval '1 minute')
       AND NOT EXISTS (SELECT FROM outbox b WHERE b.workflow_id = 'payment-' || a.id)
     ORDER BY a.id LIMIT :limit`,
    { ...page, onlyPastDue },
  );
  return open.map((payment) => ({
    id: payment.attemptId,
    message: { kind: 'signalWithStart', signal: 'attemptUpdated', ...paymentWorkflow(payment) },
  }));
}
