import { isNativeError } from 'node:util/types';

import { type Database, rows } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import { QUERYABLE_ATTEMPTS, isQueryable } from '../payments/states.ts';
import type { CheckAttempt } from '../payments/sync.ts';
import { type Check } from '../payouts/check.ts';
import type { RefundRow } from '../payouts/refunds/queries.ts';
import { readWithdrawal, type WithdrawalRow } from '../payouts/withdrawals/queries.ts';
import { findProviderOf, type FindProvider, type StatementRow } from '../providers/provider.ts';
import { readScope, type Scope } from './runs.ts';

export type RecheckDeps = {
  db: Database;
  checkAttempt: CheckAttempt;
  checkPayout: Check<WithdrawalRow>;
  checkRefund: Check<RefundRow>;
  findProvider: FindProvider;
  log: Pick<Logger, 'warn' | 'error'>;
};

/** `after`: the position to continue from, null at the end. `uncertainCount`: the orders to query again. */
export type RecheckResult = { after: string | null; queried: number; uncertainCount: number };

const BATCH = 20;
/** Concurrent queries to one provider. */
const CONCURRENCY = 5;
/** Small enough for the time limit of one SQL statement. */
const LISTED_BATCH = 2_000;
/** Batches without an uncertain order that one call passes over. */
const PARTS_MAX = 20;

/**
 * Queries the provider about the next orders on which statement and ledger disagree: ended with an unknown outcome, listed as
 * paid and not posted (or released after a decline, or never sent), listed as reversed and still paid here. The statement
 * alone posts nothing: the results of the queries do, by the operations of payments and payouts. Throws NOT_FOUND.
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
  for (let index = 0; index < orders.length; index += CONCURRENCY) {
    const group = orders.slice(index, index + CONCURRENCY);
    const uncertain = await Promise.all(group.map(async (one) => isStillUncertain(deps, { ...one, scope }, at)));
    uncertainCount += uncertain.filter(Boolean).length;
  }
  return { after: next, queried: orders.length, uncertainCount };
}

/** An order to query, and why: `unknown` ended with an unknown outcome, the others are listed. */
type UncertainOrder = {
  type: 'unknown' | StatementRow['type'];
  orderId: string;
  /** A payout that was never sent, as far as we know. */
  isUnsent: boolean;
};
type Part = { orders: UncertainOrder[]; next: string | null };

/** Withdrawals that a provider's response may still change or contradict (FAILED, and listed as paid). */
const QUERYABLE_WITHDRAWALS: ReadonlySet<string> = new Set(['PENDING', 'SUCCESS', 'FAILED']);

/** Whether the provider must be queried again. A definite response that contradicts the statement is certain. */
async function isStillUncertain(
  deps: RecheckDeps,
  { type, orderId, isUnsent, scope }: UncertainOrder & { scope: Scope },
  now: Date,
): Promise<boolean> {
  try {
    if (isUnsent) return await isUnsentUncertain(deps, scope, orderId);
    const options = { minIntervalMs: 0, notifyWorkflow: true, now };
    if (type === 'unknown' || type === 'payment') {
      const state = await deps.checkAttempt(orderId, options);
      return (
        type === 'payment' && isQueryable(state.attemptStatus) && (!state.queried || state.outcomeKind === 'unknown')
      );
    }
    const listed = { ...options, proof: true, queryOnly: true };
    if (type === 'refund') {
      const { row, queried, outcome } = await deps.checkRefund(orderId, listed);
      return row.status !== 'SUCCESS' && (!queried || outcome === 'unknown');
    }
    const { row, queried, outcome } = await deps.checkPayout(orderId, listed);
    return QUERYABLE_WITHDRAWALS.has(row.status) && (!queried || outcome === 'unknown');
  } catch (error) {
    deps.log.warn({ err: error, orderId }, 'a listed order could not be queried yet');
    // A response that our code or database cannot process is a discrepancy of this day, and delays no other order.
    return type !== 'unknown' && !isPermanentError(error);
  }
}

/** Posts nothing: the response is stored with the statement row, for the operator who investigates the discrepancy. */
async function isUnsentUncertain({ db, findProvider, log }: RecheckDeps, scope: Scope, orderId: string) {
  const row = await readWithdrawal(db, orderId);
  const provider = await findProviderOf(findProvider, { ...row, sentAt: row.submittedAt ?? row.requestedAt });
  const outcome = (await provider?.queryPayout(orderId))?.kind ?? 'unknown';
  const isPaidOut = outcome === 'succeeded' || outcome === 'reversed';
  if (isPaidOut) log.error({ withdrawalId: orderId, outcome }, 'a provider reports a payout that was never sent to it');
  await rows(
    db,
    `UPDATE statement_row SET provider_response = :outcome
     WHERE reconciliation_id = :reconciliationId AND type = 'payout' AND order_id = :orderId`,
    { ...scope, orderId, outcome },
  );
  return outcome === 'unknown';
}

/** Positions are "type/order": orders with an unknown outcome come first, then the statement in the order of its key. */
const START_OF_LIST = 'list/';
type Position = { type: string; orderId: string };
const written = ({ type, orderId }: Position): string => `${type}/${orderId}`;

async function nextUncertain(db: Database, scope: Scope, after: string): Promise<Part> {
  const [type = '', ...order] = after.split('/');
  const position = { type, orderId: order.join('/') };
  return type === '' || type === 'unknown' ? nextUnknown(db, scope, position) : nextListed(db, scope, position);
}

/** Attempts that were open on this day, of transactions that ended with an unknown outcome. */
async function nextUnknown(db: Database, scope: Scope, { orderId }: Position): Promise<Part> {
  const orders = await rows<UncertainOrder>(
    db,
    `SELECT 'unknown' AS type, a.id AS order_id, false AS is_unsent
     FROM transaction t JOIN checkout_session s ON s.id = t.session_id JOIN payment_attempt a ON a.transaction_id = t.id
     WHERE t.needs_reconciliation AND a.environment = :environment AND a.channel = :channel AND a.status = ANY (:queryable)
       AND a.initiated_at < :endsAt AND s.ended_at >= :startsAt AND a.id > :orderId
     ORDER BY a.id LIMIT ${BATCH}`,
    { ...scope, queryable: [...QUERYABLE_ATTEMPTS], orderId },
  );
  const last = orders.at(-1);
  return { orders, next: last && orders.length === BATCH ? written(last) : START_OF_LIST };
}

/** Whether the order `l` is in the statement of the account that has sent it, or was sent by none, in SQL. */
const isListedFor = (account: string): string => `EXISTS (
  SELECT FROM current_statement_row c WHERE c.reconciliation_id = :reconciliationId AND c.type = l.type
    AND c.order_id = l.order_id AND c.account = coalesce(${account}, c.account))`;

/** The orders of the statement's next batch that are not posted as listed. */
async function nextListed(db: Database, scope: Scope, after: Position): Promise<Part> {
  const found = await rows<UncertainOrder>(
    db,
    `WITH part AS MATERIALIZED (
       SELECT DISTINCT type, order_id FROM current_statement_row
       WHERE reconciliation_id = :reconciliationId AND (type, order_id) > (:afterType, :afterOrder)
       ORDER BY type, order_id LIMIT ${LISTED_BATCH}
     ), uncertain AS MATERIALIZED (
       SELECT l.type, l.order_id, false AS is_unsent FROM part l JOIN payment_attempt a ON a.id = l.order_id
       WHERE l.type = 'payment' AND a.environment = :environment AND a.channel = :channel AND a.status = ANY (:queryable)
         AND ${isListedFor('a.provider_account')}
       UNION ALL
       SELECT l.type, l.order_id, unsent.is_unsent FROM part l JOIN payout w ON w.kind = 'withdrawal' AND w.id = l.order_id
       CROSS JOIN LATERAL (
         SELECT w.status IN ('REJECTED', 'CANCELLED') OR w.stage IN ('CREATED', 'UNDER_REVIEW') AS is_unsent) unsent
       WHERE l.type IN ('payout', 'payoutReversal') AND w.environment = :environment AND w.channel = :channel
         AND ${isListedFor('w.provider_account')}
         AND ((w.status = 'PENDING' AND w.stage IN ('SUBMITTED', 'UNKNOWN'))
           OR (w.status = 'SUCCESS' AND l.type = 'payoutReversal')
           OR (w.status = 'FAILED' AND l.type = 'payout' AND NOT coalesce((
                SELECT c.closed_at IS NOT NULL FROM payout_case c
                WHERE c.payout_id = w.id AND c.status = 'FAILED' ORDER BY c.id DESC LIMIT 1), false))
           OR (unsent.is_unsent AND l.type = 'payout'))
       UNION ALL
       SELECT l.type, l.order_id, false FROM part l JOIN payout r ON r.kind = 'refund' AND r.id = l.order_id
       WHERE l.type = 'refund' AND r.environment = :environment AND r.channel = :channel
         AND r.status <> 'SUCCESS' AND r.submitted_at IS NOT NULL AND ${isListedFor('r.provider_account')}
     )
     SELECT * FROM (
       (SELECT type, order_id, is_unsent, false AS is_last FROM uncertain ORDER BY type, order_id LIMIT ${BATCH})
       UNION ALL
       (SELECT type, order_id, false, true FROM part ORDER BY type DESC, order_id DESC LIMIT 1)
     ) found ORDER BY is_last, type, order_id`,
    { ...scope, queryable: [...QUERYABLE_ATTEMPTS], afterType: after.type, afterOrder: after.orderId },
  );
  const end = found.at(-1);
  const orders = found.slice(0, -1);
  const last = orders.length === BATCH ? orders.at(-1) : end;
  return { orders, next: last ? written(last) : null };
}

/** Errors of our own code that met an unexpected value. */
const CODE_ERRORS: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'SyntaxError', 'ReferenceError']);

/** SQLSTATE classes of values that PostgreSQL or a constraint rejects. */
const INVALID_VALUE = /^2[23][0-9A-Z]{3}$/;

/** Whether a retry would most likely fail again: because of the data, not because something is unavailable or busy. */
export function isPermanentError(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return CODE_ERRORS.has(error.name) || (typeof code === 'string' && INVALID_VALUE.test(code));
}
