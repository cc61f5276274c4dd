import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import type { StatementRow } from '../providers/provider.ts';
import { ASKABLE_ATTEMPTS } from '../transactions/states.ts';
import type { DifferenceKind } from './states.ts';

/** What differs about one order of a day. */
export type Found = {
  kind: DifferenceKind;
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

export type Comparison = { found: Found[]; theirs: Sums; ours: Sums };

/**
 * Each order of the day once for each way its money went, with what the provider lists of it (all rows together) and
 * what we have booked. What is booked late belongs to the day that lists it; what is on no list, to the day it was
 * booked: it may be on a neighbour's list that was not read, if it began or ended next to midnight.
 */
const PAIRS = `
  this AS (
    SELECT *, CAST(day AS timestamp) AT TIME ZONE 'Africa/Addis_Ababa' AS starts_at,
           CAST(day + 1 AS timestamp) AT TIME ZONE 'Africa/Addis_Ababa' AS ends_at,
           EXISTS (SELECT FROM reconciliation b WHERE b.environment = r.environment AND b.channel = r.channel
                   AND b.day = r.day - 1 AND b.read > 0) AS knows_before,
           EXISTS (SELECT FROM reconciliation b WHERE b.environment = r.environment AND b.channel = r.channel
                   AND b.day = r.day + 1 AND b.read > 0) AS knows_after
    FROM reconciliation r WHERE id = :reconciliationId
  ), listed AS (
    SELECT type, order_id, CAST(sum(amount_santim) AS bigint) AS santim, max(currency) AS currency,
           min(provider_reference) AS provider_reference
    FROM listed_row WHERE reconciliation_id = :reconciliationId GROUP BY type, order_id
  ), booked AS (
    SELECT CASE j.kind WHEN 'WITHDRAWAL_PAID' THEN 'payout' WHEN 'WITHDRAWAL_REVERSED' THEN 'payoutReversal'
                       ELSE 'payment' END AS type,
           CASE j.kind WHEN 'PAYMENT' THEN (SELECT a.id FROM payment_attempt a
                         WHERE a.transaction_id = j.resource_id AND a.status = 'SUCCEEDED' LIMIT 1)
                       WHEN 'PAYMENT_HELD' THEN substr(j.key, length('held:') + 1)
                       ELSE j.resource_id END AS order_id,
           abs(e.amount_santim) AS santim, e.at
    FROM this
    JOIN ledger_account c ON c.environment = this.environment AND c.kind = 'CHANNEL_CLEARING' AND c.channel = this.channel
    JOIN ledger_entry e ON e.account_id = c.id AND e.at >= this.starts_at AND e.at < this.ends_at
    JOIN ledger_journal j ON j.id = e.journal_id
    WHERE j.kind IN ('PAYMENT', 'PAYMENT_HELD', 'WITHDRAWAL_PAID', 'WITHDRAWAL_REVERSED')
  ), pairs AS (
    SELECT l.type, l.order_id, a.status AS our_status, a.channel IS NOT NULL AS is_known,
           CASE WHEN a.status <> ALL (:askable) THEN coalesce(a.received_santim, a.amount_santim) END AS our_santim,
           coalesce(a.received_currency, a.currency) AS our_currency,
           l.santim AS their_santim, l.currency AS their_currency, l.provider_reference, false AS is_even
    FROM this CROSS JOIN listed l
    LEFT JOIN payment_attempt a ON a.id = l.order_id AND a.environment = this.environment AND a.channel = this.channel
    WHERE l.type = 'payment'
    UNION ALL
    SELECT l.type, l.order_id, w.status, w.channel IS NOT NULL,
           CASE WHEN w.status = 'REVERSED' OR (w.status = 'SUCCESS' AND l.type = 'payout') THEN w.amount_santim END,
           w.currency, l.santim, l.currency, l.provider_reference,
           w.status IN ('FAILED', 'REJECTED', 'CANCELLED') AND (
             SELECT count(DISTINCT o.type) FROM listed_row o
             WHERE o.order_id = l.order_id AND o.environment = this.environment AND o.channel = this.channel) = 2
    FROM this CROSS JOIN listed l
    LEFT JOIN withdrawal w ON w.id = l.order_id AND w.environment = this.environment AND w.channel = this.channel
    WHERE l.type <> 'payment'
    UNION ALL
    SELECT b.type, b.order_id, coalesce(a.status, w.status), true, b.santim, NULL, NULL, NULL, NULL, false
    FROM this CROSS JOIN booked b
    LEFT JOIN payment_attempt a ON a.id = b.order_id LEFT JOIN withdrawal w ON w.id = b.order_id
    WHERE NOT EXISTS (SELECT FROM listed_row o WHERE o.order_id = b.order_id AND o.type = b.type
                      AND o.environment = this.environment AND o.channel = this.channel)
      AND (this.knows_before OR coalesce(a.initiated_at, a.created_at, w.submitted_at, b.at) >= this.starts_at)
      AND (this.knows_after OR b.at < this.ends_at - interval '10 minutes')
  ), judged AS (
    SELECT *, CASE WHEN their_santim IS NULL THEN 'NOT_LISTED'
                   WHEN NOT is_known THEN 'UNKNOWN_ORDER'
                   WHEN is_even THEN NULL
                   WHEN our_santim IS NULL THEN 'NOT_CONFIRMED'
                   WHEN our_santim <> their_santim OR our_currency <> their_currency THEN 'AMOUNT_DIFFERS' END AS kind
    FROM pairs
  )`;

/** More than an operator can look at; the next comparison finds the others. */
const FOUND_MAX = 5_000;

/** Compares the day's list with what is booked, in two questions. */
export async function comparePairs(db: Queryable, reconciliationId: string): Promise<Comparison> {
  const asked = { reconciliationId, askable: [...ASKABLE_ATTEMPTS] };
  const found = await rows<Found>(
    db,
    `WITH ${PAIRS}
     SELECT kind, type, order_id, our_status, our_santim, their_santim, their_currency, provider_reference
     FROM judged WHERE kind IS NOT NULL ORDER BY order_id, type LIMIT ${FOUND_MAX}`,
    asked,
  );
  const sums = await rows<SumsRow>(
    db,
    `WITH ${PAIRS}
     SELECT type, CAST(count(their_santim) AS integer) AS theirs, CAST(coalesce(sum(their_santim), 0) AS bigint) AS theirs_santim,
            CAST(count(our_santim) AS integer) AS ours, CAST(coalesce(sum(our_santim), 0) AS bigint) AS ours_santim
     FROM judged GROUP BY type`,
    asked,
  );
  return {
    found,
    theirs: sumsOf(sums, (row) => ({ count: row.theirs, santim: row.theirsSantim })),
    ours: sumsOf(sums, (row) => ({ count: row.ours, santim: row.oursSantim })),
  };
}

type SumsRow = { type: StatementRow['type']; theirs: number; theirsSantim: Santim; ours: number; oursSantim: Santim };
type Sum = Sums['payments'];

function sumsOf(all: readonly SumsRow[], side: (row: SumsRow) => Sum): Sums {
  const of = (type: StatementRow['type']): Sum => {
    const row = all.find((one) => one.type === type);
    return row ? side(row) : { count: 0, santim: 0n };
  };
  return { payments: of('payment'), payouts: of('payout'), reversals: of('payoutReversal') };
}
