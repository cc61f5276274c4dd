import { rows, type Knex } from '../lib/db.ts';
import type { OutboxRow } from '../outbox/record.ts';

/**
 * Of these messages the ids of those that would start the workflow of a payment attempt that is over: should such a
 * workflow run all the same, it finds out by itself.
 */
export async function findObsolete(db: Knex, messages: OutboxRow[]): Promise<ReadonlySet<string>> {
  const starts = messages.flatMap(({ id, kind, workflowType, input }) => {
    const attemptId = input?.['attemptId'];
    return workflowType === 'payment' && kind !== 'signal' && typeof attemptId === 'string' ? [{ id, attemptId }] : [];
  });
  if (starts.length === 0) return new Set();
  const over = await rows<{ id: string }>(
    db,
    `SELECT id FROM payment_attempt WHERE id = ANY(:attemptIds) AND status NOT IN ('CREATED', 'PENDING')`,
    { attemptIds: starts.map(({ attemptId }) => attemptId) },
  );
  const isOver = new Set(over.map(({ id }) => id));
  return new Set(starts.filter(({ attemptId }) => isOver.has(attemptId)).map(({ id }) => id));
}
