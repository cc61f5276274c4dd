import { rows } from '../../src/lib/db.ts';
import { paymentWorkflowId } from '../../src/payments/workflow.ts';
import { deliveryWorkflowId } from '../../src/webhooks/delivery/workflow.ts';
import type { Evidence } from './evidence.ts';

const LATE_MS = 5_000;
/** Workflow code that fails this often in succession does not recover by itself. */
const STUCK_AFTER_FAILURES = 3;

/**
 * I12: the outbox drains, each open row has a workflow or an outbox row, and no workflow is stuck or outlives its row.
 */
export async function everythingIsLookedAfter(evidence: Evidence): Promise<string[]> {
  const { db, now, running } = evidence;
  const before = new Date(now.getTime() - LATE_MS);
  const overdue = await rows<{ violation: string }>(
    db,
    `SELECT kind || ' of ' || workflow_id || ' is left in the outbox since ' || greatest(lease_until, available_at) AS violation
     FROM outbox WHERE greatest(lease_until, available_at) < :before
     UNION ALL
     SELECT 'session ' || id || ' is OPEN past its end' FROM checkout_session WHERE status = 'OPEN' AND expires_at < :before
     UNION ALL
     SELECT 'session ' || s.id || ' is PROCESSING with no attempt that could end it' FROM checkout_session s
     WHERE s.status = 'PROCESSING' AND NOT EXISTS (
       SELECT FROM payment_attempt a WHERE a.session_id = s.id AND a.status IN ('CREATED', 'PENDING', 'HELD'))`,
    { before },
  );
  const attempts = await rows<{ id: string; open: boolean }>(
    db,
    `SELECT id, status IN ('CREATED', 'PENDING') AS open FROM payment_attempt`,
  );
  const deliveries = await rows<{ eventId: string; subscriptionId: string; open: boolean; parked: boolean }>(
    db,
    `SELECT event_id, subscription_id, status IN ('PENDING', 'RETRYING') AS open, status = 'FAILED' AS parked FROM webhook_delivery`,
  );
  const inOutbox = new Set(
    (await rows<{ workflowId: string }>(db, 'SELECT workflow_id FROM outbox')).map(({ workflowId }) => workflowId),
  );
  const gateway = [
    ...attempts.map(({ id, open }) => ({ workflowId: paymentWorkflowId(id), open, mayRun: open })),
    ...deliveries.map(({ eventId, subscriptionId, open, parked }) => ({
      workflowId: deliveryWorkflowId(eventId, subscriptionId),
      open,
      mayRun: open || parked,
    })),
  ];
  const withoutWorkflow = gateway.flatMap(({ workflowId, open, mayRun }) => {
    if (open && !running.has(workflowId) && !inOutbox.has(workflowId))
      return [`${workflowId} is open with neither a workflow nor an outbox row`];
    return !mayRun && running.has(workflowId) && !inOutbox.has(workflowId)
      ? [`${workflowId} still runs although its row is final`]
      : [];
  });
  const stuck = [...running]
    .filter(([, { failures }]) => failures >= STUCK_AFTER_FAILURES)
    .map(([workflowId, { failures }]) => `${workflowId} is stuck: its code failed ${failures} times in a row`);
  return [...overdue.map(({ violation }) => violation), ...withoutWorkflow, ...stuck];
}
