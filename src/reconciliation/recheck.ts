import { rows, type Knex } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import { QUERYABLE_ATTEMPTS, isQueryable } from '../payments/states.ts';
import type { CheckAttempt } from '../payments/sync.ts';
import type { FindProvider, StatementRow } from '../providers/provider.ts';
import type { CheckPayout } from '../withdrawals/sync.ts';
import { isPermanentError } from './permanent-error.ts';
import { readScope, type Scope } from './scope.ts';

export type RecheckDeps = {
  db: Knex;
  checkAttempt: CheckAttempt;
  checkPayout: CheckPayout;
  findProvider: FindProvider;
  log: Pick<Logger, 'warn' | 'error'>;
};

/** `after`: how far it came, null at the end. `doubts`: how many must be asked about again. */
export type RecheckResult = { after: string | null; queried: number; uncertainCount: number };

const BATCH = 20;
/** Questions to one provider at a time. */
const AT_ONCE = 5;
/** Small enough for a statement's time limit on any day. */
const LISTED_AT_ONCE = 2_000;
/** Parts of the list that are looked through in one call while nothing is found. */
const PARTS_MAX = 20;

/**
 * Asks the provider about the next orders whose list and our books disagree: ended while nobody knew, listed as paid and
 * not booked (or given back for its own no, or never sent), listed as back and still paid here. The list itself is believed in nothing: what the answers say is booked
 * by the one operation that books payments, and the one of payouts. Throws NOT_FOUND.
 */
export async function recheckOrders(
  deps: RecheckDeps,
  { reconciliationId, after, at }: { reconciliationId: string; after: string; at: Date },
): Promise<RecheckResult> {
  const scope = await readScope(deps.db, reconciliationId);
  let part: Part = { orders: [], next: after };
  for (let parts = 0; parts < PARTS_MAX && part.next !== null && part.orders.length === 0; parts += 1) {
    part = await nextUncertain(deps.db, scope, part.next);
  }
  const { orders, next } = part;
  let uncertainCount = 0;
  for (let index = 0; index < orders.length; index += AT_ONCE) {
    const group = orders.slice(index, index + AT_ONCE);
    const uncertain = await Promise.all(group.map(async (one) => isStillUncertain(deps, { ...one, scope }, at)));
    uncertainCount += uncertain.filter(Boolean).length;
  }
  return { after: next, queried: orders.length, uncertainCount };
}

/** Why an order is to be asked about: it ended while nobody knew, or it is listed as one of these. */
type UncertainOrder = {
  type: 'doubt' | StatementRow['type'];
  orderId: string;
  /** A payout that we have not sent, as far as we know. */
  isUnsent: boolean;
};
type Part = { orders: UncertainOrder[]; next: string | null };

/** Of which a provider's answer may still say something; one that has FAILED and is listed as paid contradicts it. */
const QUERYABLE_WITHDRAWALS: ReadonlySet<string> = new Set(['PENDING', 'SUCCESS', 'FAILED']);

/** Whether the provider must be asked again; a definite answer that contradicts the list is none of that. */
async function isStillUncertain(
  deps: RecheckDeps,
  { type, orderId, isUnsent, scope }: UncertainOrder & { scope: Scope },
  now: Date,
): Promise<boolean> {
  try {
    if (isUnsent) return await isUnsentUncertain(deps, scope, orderId);
    const options = { minIntervalMs: 0, notifyWorkflow: true, now };
    if (type === 'doubt' || type === 'payment') {
      const state = await deps.checkAttempt(orderId, options);
      return (
        type === 'payment' && isQueryable(state.attemptStatus) && (!state.queried || state.outcomeKind === 'unknown')
      );
    }
    const { row, queried, outcome } = await deps.checkPayout(orderId, { ...options, proof: true, queryOnly: true });
    return QUERYABLE_WITHDRAWALS.has(row.status) && (!queried || outcome === 'unknown');
  } catch (error) {
    deps.log.warn({ err: error, orderId }, 'a listed order could not be asked about yet');
    // What our code or our database cannot take from it is a difference of this day, and does not hold up the others.
    return type !== 'doubt' && !isPermanentError(error);
  }
}

/** Nothing is booked by this answer: it is kept beside the list, for whoever looks into the difference. */
async function isUnsentUncertain(
  { db, findProvider, log }: RecheckDeps,
  scope: Scope,
  orderId: string,
): Promise<boolean> {
  const outcome = (await findProvider(scope.channel, scope.environment)?.queryPayout(orderId))?.kind ?? 'unknown';
  const isMoved = outcome === 'succeeded' || outcome === 'reversed';
  if (isMoved) log.error({ withdrawalId: orderId, outcome }, 'a provider says it paid out what was never sent to it');
  await rows(
    db,
    `UPDATE statement_row SET provider_response = :outcome
     WHERE reconciliation_id = :reconciliationId AND type = 'payout' AND order_id = :orderId AND import_no >= :completedImportNo`,
    { ...scope, orderId, outcome },
  );
  return outcome === 'unknown';
}

/** Positions are written "type/order": those in doubt come first, then the list in the order of its key. */
const START_OF_LIST = 'list/';

async function nextUncertain(db: Knex, scope: Scope, after: string): Promise<Part> {
  const [type = '', ...order] = after.split('/');
  const position = { type, orderId: order.join('/') };
  return type === '' || type === 'doubt' ? nextUncertainPayout(db, scope, position) : nextListed(db, scope, position);
}

type Position = { type: string; orderId: string };
const written = ({ type, orderId }: Position): string => `${type}/${orderId}`;

/** Tries that lived on this day, of transactions that ended while their provider did not know. */
async function nextUncertainPayout(db: Knex, scope: Scope, { orderId }: Position): Promise<Part> {
  const orders = await rows<UncertainOrder>(
    db,
    `SELECT 'doubt' AS type, a.id AS order_id, false AS is_unsent
     FROM transaction t JOIN checkout_session s ON s.id = t.session_id JOIN payment_attempt a ON a.transaction_id = t.id
     WHERE t.needs_reconciliation AND a.environment = :environment AND a.channel = :channel AND a.status = ANY (:queryable)
       AND a.initiated_at < :endsAt AND s.ended_at >= :startsAt AND a.id > :orderId
     ORDER BY a.id LIMIT ${BATCH}`,
    {
      environment: scope.environment,
      channel: scope.channel,
      startsAt: scope.startsAt,
      endsAt: scope.endsAt,
      queryable: [...QUERYABLE_ATTEMPTS],
      orderId,
    },
  );
  const last = orders.at(-1);
  return { orders, next: last && orders.length === BATCH ? written(last) : START_OF_LIST };
}

/** Those of the list's next part that are not booked as it says. */
async function nextListed(db: Knex, scope: Scope, after: Position): Promise<Part> {
  const found = await rows<UncertainOrder & { isLast: boolean }>(
    db,
    `WITH part AS MATERIALIZED (
       SELECT DISTINCT type, order_id FROM statement_row
       WHERE reconciliation_id = :reconciliationId AND import_no >= :read AND (type, order_id) > (:afterType, :afterOrder)
       ORDER BY type, order_id LIMIT ${LISTED_AT_ONCE}
     ), doubtful AS MATERIALIZED (
       SELECT l.type, l.order_id, false AS is_unsent FROM part l JOIN payment_attempt a ON a.id = l.order_id
       WHERE l.type = 'payment' AND a.environment = :environment AND a.channel = :channel AND a.status = ANY (:queryable)
       UNION ALL
       SELECT l.type, l.order_id, unsent.really FROM part l JOIN withdrawal w ON w.id = l.order_id
       CROSS JOIN LATERAL (
         SELECT w.status IN ('REJECTED', 'CANCELLED') OR w.stage IN ('CREATED', 'UNDER_REVIEW') AS really) unsent
       WHERE l.type <> 'payment' AND w.environment = :environment AND w.channel = :channel
         AND ((w.status = 'PENDING' AND w.stage IN ('SUBMITTED', 'UNKNOWN'))
           OR (w.status = 'SUCCESS' AND l.type = 'payoutReversal')
           OR (w.status = 'FAILED' AND l.type = 'payout' AND NOT coalesce((
                SELECT c.closed_at IS NOT NULL FROM payout_case c
                WHERE c.withdrawal_id = w.id AND c.status = 'FAILED' ORDER BY c.id DESC LIMIT 1), false))
           OR (unsent.really AND l.type = 'payout'))
     )
     SELECT * FROM (
       (SELECT type, order_id, is_unsent, false AS is_last FROM doubtful ORDER BY type, order_id LIMIT ${BATCH})
       UNION ALL
       (SELECT type, order_id, false, true FROM part ORDER BY type DESC, order_id DESC LIMIT 1)
     ) found ORDER BY is_last, type, order_id`,
    {
      reconciliationId: scope.reconciliationId,
      read: scope.completedImportNo,
      environment: scope.environment,
      channel: scope.channel,
      queryable: [...QUERYABLE_ATTEMPTS],
      afterType: after.type,
      afterOrder: after.orderId,
    },
  );
  const end = found.at(-1);
  const orders = found.slice(0, -1).map(({ type, orderId, isUnsent }) => ({ type, orderId, isUnsent }));
  const last = orders.length === BATCH ? orders.at(-1) : end;
  return { orders, next: last ? written(last) : null };
}
