import { rows } from '../../src/lib/db.ts';
import { parseBirr } from '../../src/lib/money.ts';
import {
  SESSION_TRANSITIONS,
  transactionStatusOf,
  type SessionStatus,
  type TransactionStatus,
} from '../../src/payments/states.ts';
import type { Evidence } from './evidence.ts';

/** A callback may be lost: polling finds the payment within this time (workflows/payment.ts). */
const FOUND_WITHIN_MS = 90_000;

/** I4: our SUCCESS, held and duplicate amounts are exactly the payments of the providers. */
export async function providersTruth({ db, orders, now }: Evidence): Promise<string[]> {
  if (orders === null) return [];
  const attempts = await rows<{ id: string; status: string; amountSantim: bigint; accepted: boolean }>(
    db,
    "SELECT id, status, amount_santim, hold_resolution IS NOT DISTINCT FROM 'ACCEPTED' AS accepted FROM payment_attempt WHERE id = ANY(:ids) OR status = ANY(:paid)",
    { ids: orders.map(({ attemptId }) => attemptId), paid: ['SUCCEEDED', 'HELD', 'DUPLICATE'] },
  );
  const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  const problems: string[] = [];
  for (const order of orders) {
    const attempt = byId.get(order.attemptId);
    byId.delete(order.attemptId);
    if (!attempt) {
      problems.push(`the provider has an order ${order.attemptId} that no attempt of ours created`);
      continue;
    }
    const paid = order.state === 'PAID';
    const exact = parseBirr(order.paidAmount ?? '') === attempt.amountSantim;
    const expected = exact || attempt.accepted ? ['SUCCEEDED', 'DUPLICATE'] : ['HELD', 'DUPLICATE'];
    const ours = ['SUCCEEDED', 'HELD', 'DUPLICATE'].includes(attempt.status);
    const fresh = now.getTime() - (order.decidedAtMs ?? now.getTime()) < FOUND_WITHIN_MS;
    const stillAsking = fresh && ['CREATED', 'PENDING'].includes(attempt.status);
    if (paid && !expected.includes(attempt.status) && !stillAsking)
      problems.push(`order ${order.attemptId} is paid (${order.paidAmount}) but its attempt is ${attempt.status}`);
    if (!paid && ours) problems.push(`attempt ${attempt.id} is ${attempt.status} but its order is ${order.state}`);
  }
  const unknown = [...byId.values()].filter(({ status }) => status !== 'CREATED' && status !== 'PENDING');
  return [
    ...problems,
    ...unknown.map(({ id, status }) => `attempt ${id} is ${status} but the provider has no such order`),
  ];
}

type Story = {
  id: string;
  status: TransactionStatus;
  session: SessionStatus;
  late: boolean;
  moves: (SessionStatus | null)[];
  succeeded: number;
};

/** I5: timelines contain only allowed transitions and end in the status of the row. */
export async function onlyListedMoves(evidence: Evidence): Promise<string[]> {
  const stories = await rows<Story>(
    evidence.db,
    `SELECT t.id, t.status, s.status AS session, t.confirmed_late AS late,
            CAST((SELECT count(*) FROM payment_attempt a WHERE a.transaction_id = t.id AND a.status = 'SUCCEEDED') AS integer) AS succeeded,
            (SELECT array_agg(CASE l.kind
                WHEN 'session.created' THEN 'OPEN' WHEN 'attempt.started' THEN 'PROCESSING'
                WHEN 'attempt.declined' THEN l.detail ->> 'next' WHEN 'payment.succeeded' THEN 'COMPLETED'
                WHEN 'payment.returned' THEN CASE WHEN CAST(l.detail ->> 'failed' AS boolean) THEN 'FAILED' END
                WHEN 'session.cancelled' THEN 'CANCELLED' WHEN 'session.expired' THEN 'EXPIRED' END ORDER BY l.id)
             FROM timeline l WHERE l.resource_id = t.id) AS moves
     FROM transaction t JOIN checkout_session s ON s.id = t.session_id`,
  );
  return stories.flatMap((story) => {
    const moves = (story.moves ?? []).filter((move) => move !== null);
    const [first, ...later] = moves;
    const problems: string[] = [];
    let at = first;
    if (at !== 'OPEN') problems.push(`transaction ${story.id} began as ${at ?? 'nothing'}`);
    for (const next of later) {
      // A decline that ends an expired session has two rows: the provider's response and the end.
      if (next !== at && at !== undefined && !SESSION_TRANSITIONS[at].includes(next))
        problems.push(`transaction ${story.id} went from ${at} to ${next}`);
      at = next;
    }
    if (at !== story.session)
      problems.push(`session of ${story.id} is ${story.session}; its timeline ends ${at ?? 'nowhere'}`);
    if (transactionStatusOf(story.session) !== story.status)
      problems.push(`transaction ${story.id} is ${story.status} but its session is ${story.session}`);
    if (story.succeeded !== (story.status === 'SUCCESS' ? 1 : 0))
      problems.push(`transaction ${story.id} is ${story.status} with ${story.succeeded} succeeded attempts`);
    return problems;
  });
}

/** I6, first half: each transition to a final status recorded its events exactly once. */
export async function eventsOfEnds({ db }: Evidence): Promise<string[]> {
  const found = await rows<{ violation: string }>(
    db,
    `WITH transitions AS (
       SELECT resource_id AS id, CASE kind WHEN 'payment.succeeded' THEN 'SUCCESS' WHEN 'session.cancelled' THEN 'CANCELLED'
                WHEN 'session.expired' THEN 'EXPIRED' WHEN 'attempt.declined' THEN 'FAILED'
                WHEN 'payment.returned' THEN 'FAILED' END AS became
       FROM timeline
       WHERE kind IN ('payment.succeeded', 'session.cancelled', 'session.expired')
          OR (kind = 'attempt.declined' AND detail ->> 'next' = 'FAILED')
          OR (kind = 'payment.returned' AND CAST(detail ->> 'failed' AS boolean))
       UNION ALL
       SELECT DISTINCT resource_id, 'PAYING' FROM timeline WHERE kind = 'attempt.started'
     ), due AS (
       SELECT m.id, e.event, count(*) AS times
       FROM transitions m JOIN (VALUES ('SUCCESS', 'payment.succeeded'), ('SUCCESS', 'checkout.completed'), ('FAILED', 'checkout.failed'),
         ('CANCELLED', 'checkout.canceled'), ('EXPIRED', 'checkout.expired'), ('PAYING', 'payment.created')) AS e (became, event)
         ON e.became = m.became
       GROUP BY m.id, e.event
     ), inserted AS (
       SELECT resource_id AS id, event, count(*) AS times FROM webhook_event
       WHERE resource_type = 'transaction' AND event IN ('payment.succeeded', 'checkout.completed', 'checkout.failed',
         'checkout.canceled', 'checkout.expired', 'payment.created') AND resource_id IN (SELECT id FROM transaction)
       GROUP BY resource_id, event
     )
     SELECT 'transaction ' || id || ' should have ' || coalesce(due.times, 0) || ' ' || event || ' and has ' || coalesce(inserted.times, 0) AS violation
     FROM due FULL JOIN inserted USING (id, event) WHERE due.times IS DISTINCT FROM inserted.times`,
  );
  return found.map(({ violation }) => violation);
}
