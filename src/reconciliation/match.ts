import { rows, type Queryable } from '../lib/db.ts';
import { invalidState } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import { QUERYABLE_ATTEMPTS } from '../payments/states.ts';
import type { StatementRow } from '../providers/provider.ts';
import type { FoundDiscrepancy } from './discrepancies.ts';
import { readScope, type Scope } from './runs.ts';
import type { DiscrepancyKind, SideSums } from './states.ts';

/**
 * The sums of both sides. `clearingSantim`: the provider's debt in the ledger at the end of the day. `unlistedAccounts`: those
 * with bookings of the day, of which no statement of the day was ever read.
 */
export type Sides = { listed: SideSums; booked: SideSums; clearingSantim: Santim; unlistedAccounts: Set<string> };

/** Small enough for the time limit of one SQL statement. */
const LISTED_BATCH = 2_000;
const BOOKED_WINDOW_MS = 15 * 60_000;
const CLEARING_WINDOW_MS = 7 * 24 * 60 * 60_000;

/**
 * Compares the statements of a day with the ledger, order by order, in small queries. A statement's row can only be of an
 * order that was sent by its account, or by none. All rows of an order in a statement count together.
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
  if (!scope.hasStatement) throw invalidState('The statement of this day was never imported completely.');
  const sides: Sides = { listed: noSums(), booked: noSums(), clearingSantim: 0n, unlistedAccounts: new Set() };
  for (let after: Position | undefined = START; after !== undefined;) {
    const matched: Match[] = await matchListed(db, scope, after);
    await onPart(addUp(sides, matched));
    after = matched.length < LISTED_BATCH ? undefined : matched.at(-1);
  }
  for (const [from, until] of windows(scope.startsAt, scope.endsAt, BOOKED_WINDOW_MS)) {
    const unlisted = await findUnlisted(db, scope, { from, until });
    for (const { kind, account } of unlisted) if (kind === null) sides.unlistedAccounts.add(account);
    await onPart(addUp(sides, unlisted));
  }
  for (const [from, until] of windows(scope.firstEntryAt ?? scope.endsAt, scope.endsAt, CLEARING_WINDOW_MS)) {
    sides.clearingSantim += await owedBetween(db, scope, { from, until });
    await onPart([]);
  }
  return sides;
}

type Position = { type: StatementRow['type'] | ''; orderId: string; account: string };
const START: Position = { type: '', orderId: '', account: '' };

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
       SELECT s.type, s.order_id, s.account, CAST(sum(s.amount_santim) AS bigint) AS santim, max(s.currency) AS currency,
              min(s.provider_reference) AS provider_reference, count(*) > count(DISTINCT s.provider_reference) AS has_conflicting_rows
       FROM statement_row s JOIN reconciliation_statement t ON t.reconciliation_id = s.reconciliation_id AND t.account = s.account
       WHERE s.reconciliation_id = :reconciliationId AND t.completed_import_no > 0 AND s.import_no >= t.completed_import_no
         AND (s.type, s.order_id, s.account) > (:type, :orderId, :account)
       GROUP BY s.type, s.order_id, s.account ORDER BY s.type, s.order_id, s.account LIMIT ${LISTED_BATCH}
     ), pairs AS (
       SELECT l.type, l.order_id, l.account, a.status AS order_status, a.id IS NOT NULL AS is_known,
              CASE WHEN a.status <> ALL (:queryable) THEN coalesce(a.received_santim, a.amount_santim) END AS booked_santim,
              coalesce(a.received_currency, a.currency) AS booked_currency,
              l.santim AS listed_santim, l.currency AS listed_currency, l.provider_reference, l.has_conflicting_rows,
              false AS is_paid_and_reversed
       FROM listed l
       LEFT JOIN payment_attempt a ON a.id = l.order_id AND a.environment = :environment AND a.channel = :channel
         AND coalesce(a.provider_account, l.account) = l.account
       WHERE l.type = 'payment'
       UNION ALL
       SELECT l.type, l.order_id, l.account, w.status, w.id IS NOT NULL,
              CASE WHEN w.status = 'REVERSED' OR (w.status = 'SUCCESS' AND l.type = 'payout') THEN coalesce(w.paid_santim, w.amount_santim) END,
              w.currency, l.santim, l.currency, l.provider_reference, l.has_conflicting_rows,
              w.status = 'FAILED' AND (
                SELECT count(DISTINCT o.type) FROM current_statement_row o WHERE o.order_id = l.order_id AND o.account = l.account
                  AND o.type IN ('payout', 'payoutReversal') AND o.environment = :environment AND o.channel = :channel) = 2
       FROM listed l
       LEFT JOIN payout w ON w.kind = 'withdrawal' AND w.id = l.order_id AND w.environment = :environment AND w.channel = :channel
         AND coalesce(w.provider_account, l.account) = l.account
       WHERE l.type IN ('payout', 'payoutReversal')
       UNION ALL
       SELECT l.type, l.order_id, l.account, r.status, r.id IS NOT NULL,
              CASE WHEN r.status = 'SUCCESS' THEN coalesce(r.paid_santim, r.amount_santim) END,
              r.currency, l.santim, l.currency, l.provider_reference, l.has_conflicting_rows, false
       FROM listed l
       LEFT JOIN payout r ON r.kind = 'refund' AND r.id = l.order_id AND r.environment = :environment AND r.channel = :channel
         AND coalesce(r.provider_account, l.account) = l.account
       WHERE l.type = 'refund'
     )
     SELECT CASE WHEN NOT is_known THEN 'UNKNOWN_ORDER'
                 WHEN is_paid_and_reversed AND NOT has_conflicting_rows THEN NULL
                 WHEN booked_santim IS NULL AND NOT is_paid_and_reversed THEN 'UNCONFIRMED'
                 WHEN has_conflicting_rows OR booked_santim <> listed_santim OR booked_currency <> listed_currency THEN 'AMOUNT_MISMATCH' END AS kind,
            type, order_id, account, order_status, booked_santim, listed_santim, listed_currency, provider_reference
     FROM pairs ORDER BY type, order_id, account`,
    { ...scope, ...after, queryable: [...QUERYABLE_ATTEMPTS] },
  );
}

/**
 * Finds postings in a window of the day that no statement of their account lists; without a kind, its statement of the day
 * was never read. Those that started before the day or were posted just before its end may be in the account's statement of
 * a neighbouring day, and are skipped while that was not imported.
 */
async function findUnlisted(db: Queryable, scope: Scope, span: { from: Date; until: Date }): Promise<Match[]> {
  return rows<Match>(
    db,
    `WITH booked AS MATERIALIZED (
       SELECT CASE j.kind WHEN 'WITHDRAWAL_PAID' THEN 'payout' WHEN 'WITHDRAWAL_REVERSED' THEN 'payoutReversal'
                          WHEN 'REFUND_PAID' THEN 'refund' ELSE 'payment' END AS type,
              coalesce(CASE j.kind WHEN 'PAYMENT' THEN (SELECT a.id FROM payment_attempt a
                                     WHERE a.transaction_id = j.resource_id AND a.status = 'SUCCEEDED' LIMIT 1)
                                   WHEN 'PAYMENT_HELD' THEN substr(j.posting_key, length('held:') + 1) END, j.resource_id) AS order_id,
              abs(e.amount_santim) AS santim, e.effective_at
       FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id
       WHERE e.account_id = :accountId AND e.effective_at >= :from AND e.effective_at < :until
         AND j.kind IN ('PAYMENT', 'PAYMENT_HELD', 'WITHDRAWAL_PAID', 'WITHDRAWAL_REVERSED', 'REFUND_PAID')
     ), unlisted AS MATERIALIZED (
       SELECT b.*, coalesce(a.status, p.status) AS order_status,
              coalesce(a.provider_account, p.provider_account, '') AS account,
              coalesce(a.initiated_at, a.created_at, p.submitted_at, b.effective_at) AS sent_at
       FROM booked b LEFT JOIN payment_attempt a ON a.id = b.order_id LEFT JOIN payout p ON p.id = b.order_id
       WHERE (
         SELECT o.order_id FROM current_statement_row o WHERE o.order_id = b.order_id AND o.type = b.type
           AND o.account = coalesce(a.provider_account, p.provider_account, o.account)
           AND o.environment = :environment AND o.channel = :channel LIMIT 1) IS NULL
     )
     SELECT CASE WHEN ${isRead(0)} THEN 'MISSING_FROM_STATEMENT' END AS kind, u.type, u.order_id, u.account, u.order_status,
            u.santim AS booked_santim, CAST(NULL AS bigint) AS listed_santim, NULL AS listed_currency, NULL AS provider_reference
     FROM unlisted u
     WHERE (u.sent_at >= :startsAt OR ${isRead(-1)})
       AND (u.effective_at < CAST(:endsAt AS timestamptz) - interval '10 minutes' OR ${isRead(1)})`,
    { ...scope, ...span },
  );
}

/** Whether the statement of the order `u`'s account was ever read, of the day or so many days from it. */
const isRead = (days: number): string => `EXISTS (
  SELECT FROM reconciliation r JOIN reconciliation_statement t ON t.reconciliation_id = r.id
  WHERE r.environment = :environment AND r.channel = :channel AND r.day = CAST(:day AS date) + ${days}
    AND t.account = u.account AND t.completed_import_no > 0)`;

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

function noSums(): SideSums {
  const none = () => ({ count: 0, santim: 0n });
  return { payments: none(), payouts: none(), reversals: none(), refunds: none() };
}

const NOUN = { payment: 'payments', payout: 'payouts', payoutReversal: 'reversals', refund: 'refunds' } as const;

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
