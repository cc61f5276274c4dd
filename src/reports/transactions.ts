import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { countUpTo, orderSql, type ListPart } from '../lib/paginate-newest.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import {
  listedTransactions,
  transactionConditions,
  transactionOrder,
  transactionValues,
  type TransactionRow,
  type TransactionFilter,
  type TransactionSort,
} from '../payments/queries.ts';
import type { TransactionStatus } from '../payments/states.ts';

/** What refunds have paid back and given back of the fee, what they have reserved, and what they leave of the net. */
type Returned<Amount> = Record<
  'refundedSantim' | 'feeReturnedSantim' | 'feeTaxReturnedSantim' | 'reservedSantim' | 'netAfterRefundsSantim',
  Amount
>;

/**
 * A transaction as reports list it. Fee, tax, received and net are set for paid ones; a second payment that an operator
 * released to the merchant is included, as the ledger has booked it. What its refunds have moved is set where it has any.
 */
export type ExportedTransaction = Omit<
  TransactionRow,
  'merchantId' | 'environment' | 'metadata' | 'needsReconciliation' | 'refundedSantim' | 'version'
> &
  Returned<Santim | null> & { netSantim: Santim | null; position: string };

/** Second payments that were released to the merchant, by transaction. They are few and have an index of their own. */
const SECOND = `second AS MATERIALIZED (
  SELECT a.transaction_id, sum(CAST(l.detail ->> 'receivedSantim' AS bigint))::bigint AS received_santim,
         sum(CAST(l.detail ->> 'feeSantim' AS bigint))::bigint AS fee_santim,
         sum(CAST(l.detail ->> 'feeTaxSantim' AS bigint))::bigint AS fee_tax_santim
  FROM payment_attempt a
  JOIN timeline l ON l.resource_id = a.transaction_id AND l.kind = 'payment.accepted'
    AND l.detail ->> 'attemptId' = a.id
  WHERE a.status = 'DUPLICATE' AND a.hold_resolution = 'ACCEPTED' AND a.merchant_id = :merchantId AND a.environment = :environment
  GROUP BY a.transaction_id)`;

/** Of a transaction t and its second payment s, if any. */
const RECEIVED = `(CASE WHEN t.fee_santim IS NOT NULL THEN coalesce(t.received_santim, t.amount_santim) END + coalesce(s.received_santim, 0))`;
const FEE = '(t.fee_santim + coalesce(s.fee_santim, 0))';
const FEE_TAX = '(t.fee_tax_santim + coalesce(s.fee_tax_santim, 0))';
const NET = `(${RECEIVED} - ${FEE} - ${FEE_TAX})`;

const paid = (santim: string): string => `sum(${santim}) FILTER (WHERE f.status = 'SUCCESS')::bigint`;
/** In SQL: what refunds f have moved of the balance, as the ledger has booked it. Excess payments are not charged. */
const OF_REFUNDS = `-${paid('f.fee_santim')} AS fee_returned_santim, -${paid('f.fee_tax_santim')} AS fee_tax_returned_santim,
  ${paid('least(f.paid_santim, f.amount_santim) + f.fee_santim + f.fee_tax_santim')} AS charged_santim,
  sum(f.amount_santim + f.fee_santim + f.fee_tax_santim) FILTER (WHERE f.status = 'PENDING')::bigint AS reserved_santim`;

/** The refunds of all transactions from the first of the days on, by transaction. */
const REFUNDS = `refunds AS MATERIALIZED (
  SELECT f.transaction_id, ${OF_REFUNDS} FROM payout f
  WHERE f.kind = 'refund' AND f.merchant_id = :merchantId AND f.environment = :environment
    -- None is older than its payment; clocks may differ.
    AND f.requested_at >= CAST(:from AS timestamptz) - interval '1 day'
  GROUP BY f.transaction_id)`;

/** Of a transaction t and its refunds r. */
const NET_AFTER_REFUNDS = `(${NET} - coalesce(r.charged_santim, 0))`;

/** At most `limit` of the transactions that the list returns for the same filter and sort, after a position. */
export async function exportTransactions(
  db: Queryable,
  filter: TransactionFilter,
  { after, limit, sort = '-createdAt' }: ListPart & { sort?: TransactionSort },
): Promise<ExportedTransaction[]> {
  const order = transactionOrder(sort);
  const { isAfter, orderBy } = orderSql(order, 't.id');
  return rows<ExportedTransaction>(
    db,
    `WITH ${SECOND}, page AS MATERIALIZED (
       SELECT t.* FROM transaction t WHERE ${transactionConditions(filter)}
         ${after ? `AND ${isAfter}` : ''} ${orderBy} LIMIT :limit)
     SELECT t.id, t.session_id, t.checkout_order_no, t.amount_santim, t.currency, t.type, t.status, t.channel,
            t.provider_reference, t.failure, t.confirmed_late, t.hold_reason, ${FEE} AS fee_santim, ${FEE_TAX} AS fee_tax_santim,
            t.customer_name, t.customer_email, t.customer_phone, t.created_at, t.completed_at,
            ${RECEIVED} AS received_santim, ${NET} AS net_santim, nullif(t.refunded_santim, 0) AS refunded_santim,
            r.fee_returned_santim, r.fee_tax_returned_santim, r.reserved_santim, ${NET_AFTER_REFUNDS} AS net_after_refunds_santim,
            ${order.column}::text AS position
     FROM page t LEFT JOIN second s ON s.transaction_id = t.id
     CROSS JOIN LATERAL (SELECT ${OF_REFUNDS} FROM payout f WHERE f.transaction_id = t.id) r ${orderBy}`,
    { ...transactionValues(filter), afterAt: after?.at ?? null, afterId: after?.id ?? null, limit },
  );
}

/** The number of transactions that match the filter, counted up to `most`. */
export async function countTransactions(db: Queryable, filter: TransactionFilter, most: number): Promise<number> {
  return countUpTo(db, listedTransactions(filter), most);
}

/** Transactions counted and summed: received, fee, tax, net and refunds of the paid ones, else 0. */
type TransactionSums = { count: number } & Returned<Santim> &
  Record<'amountSantim' | 'receivedSantim' | 'feeSantim' | 'feeTaxSantim' | 'netSantim', Santim>;

/** In SQL: the columns of {@link TransactionSums}. */
const SUMS = `count(*)::int AS count, sum(t.amount_santim)::bigint AS amount_santim,
  coalesce(sum(${RECEIVED}), 0)::bigint AS received_santim,
  coalesce(sum(${FEE}), 0)::bigint AS fee_santim, coalesce(sum(${FEE_TAX}), 0)::bigint AS fee_tax_santim,
  coalesce(sum(${NET}), 0)::bigint AS net_santim, sum(t.refunded_santim)::bigint AS refunded_santim,
  coalesce(sum(r.fee_returned_santim), 0)::bigint AS fee_returned_santim,
  coalesce(sum(r.fee_tax_returned_santim), 0)::bigint AS fee_tax_returned_santim,
  coalesce(sum(r.reserved_santim), 0)::bigint AS reserved_santim,
  coalesce(sum(${NET_AFTER_REFUNDS}), 0)::bigint AS net_after_refunds_santim`;

/** In SQL: transactions t with their second payments and refunds. */
const SUMMED = `transaction t LEFT JOIN second s ON s.transaction_id = t.id LEFT JOIN refunds r ON r.transaction_id = t.id`;

export type TransactionGroup = TransactionSums & { status: TransactionStatus; channel: Channel | null };

/** The transactions that match the filter, summed by status and channel. */
export async function groupTransactions(db: Queryable, filter: TransactionFilter): Promise<TransactionGroup[]> {
  return rows<TransactionGroup>(
    db,
    `WITH ${SECOND}, ${REFUNDS}
     SELECT t.status, t.channel, ${SUMS}
     FROM ${SUMMED} WHERE ${transactionConditions(filter)}
     GROUP BY t.status, t.channel ORDER BY t.status, t.channel NULLS LAST`,
    transactionValues(filter),
  );
}

/** What transactions are grouped by within a day; the failure's code is that of FAILED ones. */
const KEYS = {
  status: 't.status',
  channel: 't.channel',
  failureReason: "CASE WHEN t.status = 'FAILED' THEN t.failure ->> 'code' END",
} as const;
export type TransactionKey = keyof typeof KEYS;

/** The transactions that match the filter, summed by day in Addis Ababa (YYYY-MM-DD) and a key, null where there is none. */
export async function groupTransactionsByDay(db: Queryable, filter: TransactionFilter, by: TransactionKey) {
  return rows<TransactionSums & { day: string; key: string | null }>(
    db,
    `WITH ${SECOND}, ${REFUNDS}
     SELECT CAST(CAST(t.created_at AT TIME ZONE interval '3 hours' AS date) AS text) AS day, ${KEYS[by]} AS key, ${SUMS}
     FROM ${SUMMED} WHERE ${transactionConditions(filter)}
     GROUP BY 1, 2 ORDER BY 1, 2`,
    transactionValues(filter),
  );
}
