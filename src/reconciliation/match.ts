import { rows, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import { QUERYABLE_ATTEMPTS } from '../payments/states.ts';
import type { StatementRow } from '../providers/provider.ts';
import type { FoundDiscrepancy } from './discrepancies.ts';
import { readScope, type Scope } from './runs.ts';
import type { DiscrepancyKind, SideSums } from './states.ts';

/** The sums of both sides. `clearingSantim`: the provider's debt in the ledger at the end of the day. */
export type Sides = { listed: SideSums; booked: SideSums; clearingSantim: Santim };

/** Small enough for the time limit of one SQL statement. */
const LISTED_BATCH = 2_000;
const BOOKED_WINDOW_MS = 15 * 60_000;
const CLEARING_WINDOW_MS = 7 * 24 * 60 * 60_000;

/**
 * Compares the statement of a day with the ledger, order by order, in small queries. All rows of an order count together.
 * A late posting belongs to the day whose statement lists it; an unlisted one to the day of its posting. Throws NOT_FOUND,
 * INVALID_STATE (the statement was never imported completely).
 * @param onPart called after each query with the discrepancies it found.
 */
export async function matchDay(
  db: Queryable,
  reconciliationId: string,
  onPart: (found: FoundDiscrepancy[]) => Promise<void>,
): Promise<Sides> {
  const scope = await readScope(db, reconciliationId);
  if (scope.completedImportNo === 0)
    throw new AppError('INVALID_STATE', 'The statement of this day was never imported completely.');
  const sides: Sides = { listed: noSums(), booked: noSums(), clearingSantim: 0n };
  for (let after: Position | undefined = START; after !== undefined;) {
    const matched: Match[] = await matchListed(db, scope, after);
    await onPart(addUp(sides, matched));
    after = matched.length < LISTED_BATCH ? undefined : matched.at(-1);
  }
  for (const [from, until] of windows(scope.startsAt, scope.endsAt, BOOKED_WINDOW_MS)) {
    await onPart(addUp(sides, await findUnlisted(db, scope, { from, until })));
  }
  for (const [from, until] of windows(scope.firstEntryAt ?? scope.endsAt, scope.endsAt, CLEARING_WINDOW_MS)) {
    sides.clearingSantim += await owedBetween(db, scope, { from, until });
    await onPart([]);
  }
  return sides;
}

type Position = { type: StatementRow['type'] | ''; orderId: string };
const START: Position = { type: '', orderId: '' };

/** One order on both sides; without a kind they agree. */
type Match = Omit<FoundDiscrepancy, 'kind'> & { kind: DiscrepancyKind | null };

/**
 * Matches the next orders of the statement. A failed payout that the provider lists as paid and reversed nets to zero.
 * Rows that conflict, which have one reference and two amounts, match nothing.
 */
async function matchListed(db: Queryable, scope: Scope, after: Position): Promise<Match[]> {
  return rows<Match>(
    db,
    `WITH listed AS MATERIALIZED (
       SELECT type, order_id, CAST(sum(amount_santim) AS bigint) AS santim, max(currency) AS currency,
              min(provider_reference) AS provider_reference, count(*) > count(DISTINCT provider_reference) AS has_conflicting_rows
       FROM statement_row
       WHERE reconciliation_id = :reconciliationId AND import_no >= :completedImportNo AND (type, order_id) > (:afterType, :afterOrder)
       GROUP BY type, order_id ORDER BY type, order_id LIMIT ${LISTED_BATCH}
     ), pairs AS (
       SELECT l.type, l.order_id, a.status AS order_status, a.id IS NOT NULL AS is_known,
              CASE WHEN a.status <> ALL (:queryable) THEN coalesce(a.received_santim, a.amount_santim) END AS booked_santim,
              coalesce(a.received_currency, a.currency) AS booked_currency,
              l.santim AS listed_santim, l.currency AS listed_currency, l.provider_reference, l.has_conflicting_rows,
              false AS is_paid_and_reversed
       FROM listed l
       LEFT JOIN payment_attempt a ON a.id = l.order_id AND a.environment = :environment AND a.channel = :channel
       WHERE l.type = 'payment'
       UNION ALL
       SELECT l.type, l.order_id, w.status, w.id IS NOT NULL,
              CASE WHEN w.status = 'REVERSED' OR (w.status = 'SUCCESS' AND l.type = 'payout') THEN coalesce(w.paid_santim, w.amount_santim) END,
              w.currency, l.santim, l.currency, l.provider_reference, l.has_conflicting_rows,
              w.status = 'FAILED' AND (
                SELECT count(DISTINCT o.type) FROM current_statement_row o WHERE o.order_id = l.order_id
                  AND o.type IN ('payout', 'payoutReversal') AND o.environment = :environment AND o.channel = :channel) = 2
       FROM listed l
       LEFT JOIN withdrawal w ON w.id = l.order_id AND w.environment = :environment AND w.channel = :channel
       WHERE l.type <> 'payment'
     )
     SELECT CASE WHEN NOT is_known THEN 'UNKNOWN_ORDER'
                 WHEN is_paid_and_reversed AND NOT has_conflicting_rows THEN NULL
                 WHEN booked_santim IS NULL AND NOT is_paid_and_reversed THEN 'UNCONFIRMED'
                 WHEN has_conflicting_rows OR booked_santim <> listed_santim OR booked_currency <> listed_currency THEN 'AMOUNT_MISMATCH' END AS kind,
            type, order_id, order_status, booked_santim, listed_santim, listed_currency, provider_reference
     FROM pairs ORDER BY type, order_id`,
    { ...scope, afterType: after.type, afterOrder: after.orderId, queryable: [...QUERYABLE_ATTEMPTS] },
  );
}

/**
 * Finds postings in a window of the day that no statement lists. Those that started before the day or were posted just
 * before its end may be in the statement of a neighbouring day, and are skipped while that was not imported.
 */
async function findUnlisted(db: Queryable, scope: Scope, span: { from: Date; until: Date }): Promise<Match[]> {
  return rows<Match>(
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
     )
     SELECT 'MISSING_FROM_STATEMENT' AS kind, u.type, u.order_id, coalesce(a.status, w.status) AS order_status, u.santim AS booked_santim,
            CAST(NULL AS bigint) AS listed_santim, NULL AS listed_currency, NULL AS provider_reference
     FROM unlisted u LEFT JOIN payment_attempt a ON a.id = u.order_id LEFT JOIN withdrawal w ON w.id = u.order_id
     WHERE (CAST(:hasStatementBefore AS boolean) OR coalesce(a.initiated_at, a.created_at, w.submitted_at, u.effective_at) >= :startsAt)
       AND (CAST(:hasStatementAfter AS boolean) OR u.effective_at < CAST(:endsAt AS timestamptz) - interval '10 minutes')`,
    { ...scope, ...span },
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

const noSums = (): SideSums => ({
  payments: { count: 0, santim: 0n },
  payouts: { count: 0, santim: 0n },
  reversals: { count: 0, santim: 0n },
});

const NOUN = { payment: 'payments', payout: 'payouts', payoutReversal: 'reversals' } as const;

/** Adds the orders to the sums, and returns the discrepancies. */
function addUp(sides: Sides, matched: readonly Match[]): FoundDiscrepancy[] {
  for (const { type, listedSantim, bookedSantim } of matched) {
    for (const [side, santim] of [
      [sides.listed[NOUN[type]], listedSantim],
      [sides.booked[NOUN[type]], bookedSantim],
    ] as const) {
      if (santim === null) continue;
      side.count += 1;
      side.santim += santim;
    }
  }
  return matched.flatMap(({ kind, ...order }) => (kind === null ? [] : [{ kind, ...order }]));
}
