import { rows, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import { QUERYABLE_ATTEMPTS } from '../payments/states.ts';
import type { StatementRow } from '../providers/provider.ts';
import { readScope, type Scope } from './runs.ts';
import type { DiscrepancyKind } from './states.ts';

/** What differs about one order of a day. */
export type Found = {
  kind: DiscrepancyKind;
  type: StatementRow['type'];
  orderId: string;
  ourStatus: string | null;
  ourSantim: Santim | null;
  theirSantim: Santim | null;
  theirCurrency: string | null;
  providerReference: string | null;
};

/** Orders and santim of one side. */
export type Sums = Record<'payments' | 'payouts' | 'reversals', { count: number; santim: Santim }>;

/** Both sides summed up. `clearingSantim`: what the provider owed by the ledger at the day's end. */
export type Sides = { theirs: Sums; ours: Sums; clearingSantim: Santim };

/** Small enough for a statement's time limit on any day. */
const LISTED_AT_ONCE = 2_000;
const BOOKED_AT_ONCE_MS = 15 * 60_000;
const CLEARING_AT_ONCE_MS = 7 * 24 * 60 * 60_000;

/**
 * Compares the day's list with what is booked, order by order, in as many small questions as the day is long. All that
 * the provider lists of an order counts together. What is booked late belongs to the day that lists it; what is on no
 * list, to the day it was booked. Throws NOT_FOUND, INVALID_STATE (the list was never read to its end).
 * @param onPart called after each question, with the differences that it found.
 */
export async function matchDay(
  db: Queryable,
  reconciliationId: string,
  onPart: (found: Found[]) => Promise<void>,
): Promise<Sides> {
  const scope = await readScope(db, reconciliationId);
  if (scope.completedImportNo === 0)
    throw new AppError('INVALID_STATE', 'The list of this day was never read to its end.');
  const sides: Sides = { theirs: noSums(), ours: noSums(), clearingSantim: 0n };
  for (let after: Position | null = START; after !== null;) {
    const judged: Judged[] = await matchListed(db, scope, after);
    after = add(sides, judged);
    await onPart(foundIn(judged));
  }
  for (const [from, until] of windows(scope.startsAt, scope.endsAt, BOOKED_AT_ONCE_MS)) {
    const judged = await findUnlisted(db, scope, { from, until });
    add(sides, judged);
    await onPart(foundIn(judged));
  }
  for (const [from, until] of windows(scope.firstEntryAt ?? scope.endsAt, scope.endsAt, CLEARING_AT_ONCE_MS)) {
    sides.clearingSantim += await owedBetween(db, scope, { from, until });
    await onPart([]);
  }
  return sides;
}

type Position = { type: StatementRow['type'] | ''; orderId: string };
const START: Position = { type: '', orderId: '' };

/** A difference (with its kind), or the sums of one type (without). */
type Judged = Omit<Found, 'kind'> & { kind: DiscrepancyKind | null; ours: number; theirs: number };

/** What is found, and what there is of each type. */
const JUDGED = `
  SELECT kind, type, order_id, our_status, our_santim, their_santim, their_currency, provider_reference, 0 AS ours, 0 AS theirs
  FROM judged WHERE kind IS NOT NULL
  UNION ALL
  SELECT NULL, type, max(order_id), NULL, CAST(coalesce(sum(our_santim), 0) AS bigint),
         CAST(coalesce(sum(their_santim), 0) AS bigint), NULL, NULL,
         CAST(count(our_santim) AS integer), CAST(count(their_santim) AS integer)
  FROM judged GROUP BY type`;

/**
 * The next orders of the list. A payout that failed here and came back there is even: no money is anywhere else. What is
 * listed under one reference with two amounts agrees with nothing.
 */
async function matchListed(db: Queryable, scope: Scope, after: Position): Promise<Judged[]> {
  return rows<Judged>(
    db,
    `WITH listed AS MATERIALIZED (
       SELECT type, order_id, CAST(sum(amount_santim) AS bigint) AS santim, max(currency) AS currency,
              min(provider_reference) AS provider_reference, count(*) > count(DISTINCT provider_reference) AS is_twofold
       FROM statement_row
       WHERE reconciliation_id = :reconciliationId AND import_no >= :read AND (type, order_id) > (:afterType, :afterOrder)
       GROUP BY type, order_id ORDER BY type, order_id LIMIT ${LISTED_AT_ONCE}
     ), pairs AS (
       SELECT l.type, l.order_id, a.status AS our_status, a.id IS NOT NULL AS is_known,
              CASE WHEN a.status <> ALL (:queryable) THEN coalesce(a.received_santim, a.amount_santim) END AS our_santim,
              coalesce(a.received_currency, a.currency) AS our_currency,
              l.santim AS their_santim, l.currency AS their_currency, l.provider_reference, l.is_twofold,
              false AS is_even
       FROM listed l
       LEFT JOIN payment_attempt a ON a.id = l.order_id AND a.environment = :environment AND a.channel = :channel
       WHERE l.type = 'payment'
       UNION ALL
       SELECT l.type, l.order_id, w.status, w.id IS NOT NULL,
              CASE WHEN w.status = 'REVERSED' OR (w.status = 'SUCCESS' AND l.type = 'payout') THEN coalesce(w.paid_santim, w.amount_santim) END,
              w.currency, l.santim, l.currency, l.provider_reference, l.is_twofold,
              w.status = 'FAILED' AND (
                SELECT count(DISTINCT o.type) FROM current_statement_row o WHERE o.order_id = l.order_id
                  AND o.type IN ('payout', 'payoutReversal') AND o.environment = :environment AND o.channel = :channel) = 2
       FROM listed l
       LEFT JOIN withdrawal w ON w.id = l.order_id AND w.environment = :environment AND w.channel = :channel
       WHERE l.type <> 'payment'
     ), judged AS MATERIALIZED (
       SELECT *, CASE WHEN NOT is_known THEN 'UNKNOWN_ORDER'
                      WHEN is_even AND NOT is_twofold THEN NULL
                      WHEN our_santim IS NULL AND NOT is_even THEN 'UNCONFIRMED'
                      WHEN is_twofold OR our_santim <> their_santim OR our_currency <> their_currency THEN 'AMOUNT_MISMATCH' END AS kind
       FROM pairs
     )${JUDGED}`,
    {
      reconciliationId: scope.reconciliationId,
      environment: scope.environment,
      channel: scope.channel,
      read: scope.completedImportNo,
      afterType: after.type,
      afterOrder: after.orderId,
      queryable: [...QUERYABLE_ATTEMPTS],
    },
  );
}

/**
 * What was booked in a part of the day and is on no list. It may be on a neighbour's list that was not read, if it began
 * before the day or ended next to its end.
 */
async function findUnlisted(db: Queryable, scope: Scope, span: { from: Date; until: Date }): Promise<Judged[]> {
  return rows<Judged>(
    db,
    `WITH booked AS MATERIALIZED (
       SELECT CASE j.kind WHEN 'WITHDRAWAL_PAID' THEN 'payout' WHEN 'WITHDRAWAL_REVERSED' THEN 'payoutReversal'
                          ELSE 'payment' END AS type,
              coalesce(CASE j.kind WHEN 'PAYMENT' THEN (SELECT a.id FROM payment_attempt a
                                     WHERE a.transaction_id = j.resource_id AND a.status = 'SUCCEEDED' LIMIT 1)
                                   WHEN 'PAYMENT_HELD' THEN substr(j.posting_key, length('held:') + 1) END, j.resource_id) AS order_id,
              abs(e.amount_santim) AS santim, e.effective_at
       FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id
       WHERE e.account_id = :accountId AND e.effective_at >= :from AND e.effective_at < :until
         AND j.kind IN ('PAYMENT', 'PAYMENT_HELD', 'WITHDRAWAL_PAID', 'WITHDRAWAL_REVERSED')
     ), unlisted AS MATERIALIZED (
       SELECT * FROM booked b WHERE (
         SELECT o.order_id FROM current_statement_row o WHERE o.order_id = b.order_id AND o.type = b.type
           AND o.environment = :environment AND o.channel = :channel LIMIT 1) IS NULL
     ), judged AS MATERIALIZED (
       SELECT 'MISSING_FROM_STATEMENT' AS kind, u.type, u.order_id, coalesce(a.status, w.status) AS our_status, u.santim AS our_santim,
              CAST(NULL AS bigint) AS their_santim, CAST(NULL AS text) AS their_currency, CAST(NULL AS text) AS provider_reference
       FROM unlisted u LEFT JOIN payment_attempt a ON a.id = u.order_id LEFT JOIN withdrawal w ON w.id = u.order_id
       WHERE (CAST(:knowsBefore AS boolean) OR coalesce(a.initiated_at, a.created_at, w.submitted_at, u.effective_at) >= :startsAt)
         AND (CAST(:knowsAfter AS boolean) OR u.effective_at < CAST(:endsAt AS timestamptz) - interval '10 minutes')
     )${JUDGED}`,
    {
      ...span,
      accountId: scope.accountId,
      environment: scope.environment,
      channel: scope.channel,
      knowsBefore: scope.knowsBefore,
      knowsAfter: scope.knowsAfter,
      startsAt: scope.startsAt,
      endsAt: scope.endsAt,
    },
  );
}

async function owedBetween(db: Queryable, { accountId }: Scope, span: { from: Date; until: Date }): Promise<Santim> {
  const [sum] = await rows<{ owed: Santim }>(
    db,
    `SELECT CAST(coalesce(-sum(amount_santim), 0) AS bigint) AS owed FROM ledger_entry
     WHERE account_id = :accountId AND effective_at >= :from AND effective_at < :until`,
    { accountId, ...span },
  );
  return sum?.owed ?? 0n;
}

function* windows(from: Date, until: Date, lengthMs: number): Generator<[Date, Date]> {
  for (let startMs = from.getTime(); startMs < until.getTime(); startMs += lengthMs) {
    yield [new Date(startMs), new Date(Math.min(startMs + lengthMs, until.getTime()))];
  }
}

const NOUN = { payment: 'payments', payout: 'payouts', payoutReversal: 'reversals' } as const;

function noSums(): Sums {
  const none = (): Sums['payments'] => ({ count: 0, santim: 0n });
  return { payments: none(), payouts: none(), reversals: none() };
}

function foundIn(judged: readonly Judged[]): Found[] {
  return judged.flatMap(({ kind, ...row }) => (kind === null ? [] : [{ kind, ...row }]));
}

/** Adds the sums of what was judged, and answers the last order of it if there may be more. */
function add(sides: Sides, judged: readonly Judged[]): Position | null {
  let [last, count]: [Position, number] = [START, 0];
  for (const { kind, ours, theirs, ...row } of judged) {
    if (kind !== null) continue;
    const [our, their] = [sides.ours[NOUN[row.type]], sides.theirs[NOUN[row.type]]];
    our.count += ours;
    our.santim += row.ourSantim ?? 0n;
    their.count += theirs;
    their.santim += row.theirSantim ?? 0n;
    count += theirs;
    // "payment" < "payout" < "payoutReversal", for PostgreSQL as well.
    if (row.type > last.type) last = { type: row.type, orderId: row.orderId };
  }
  return count < LISTED_AT_ONCE ? null : last;
}
