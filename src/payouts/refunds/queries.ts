import type { Payout } from '../../ledger/postings.ts';
import { snakeCase } from '../../lib/column-names.ts';
import { first, rows, type Queryable } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import type { Santim } from '../../lib/money.ts';
import { paginateNewest } from '../../lib/paginate-newest.ts';
import type { Page } from '../../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { isContradictedSql } from '../cases.ts';
import { createPayoutExport, OUTGOING_COLUMNS, OUTGOING_EXPORT, payoutConditions } from '../list.ts';
import type { AllPayouts, ExportedPayout, OutgoingFilter } from '../list.ts';
import { findPayout, payoutById, type PayoutRow } from '../queries.ts';
import type { RefundStage, RefundStatus } from './states.ts';

/** Its fee and tax: what is given back of the payment's, 0 or below. */
export type RefundRow = PayoutRow<'refund', RefundStatus, RefundStage> & {
  transactionId: string;
  /** The paid attempt: the order at the provider. */
  attemptId: string;
  /** Requested without an amount. */
  isRemainder: boolean;
  returnFee: boolean;
};

/** A refund of any merchant by its id; locked until the end of the transaction. Throw NOT_FOUND. */
export const { read: readRefund, lock: lockRefund } = payoutById<RefundRow>('refund');

/** One refund of the merchant, by our id or its own reference. Throws NOT_FOUND. */
export const findRefund = async (db: Queryable, scope: MerchantScope, idOrReference: string) =>
  findPayout<RefundRow>(db, scope, { kind: 'refund', idOrReference });

/** The refund with this reference of the merchant, if there is one. */
export async function findByReference(db: Queryable, scope: MerchantScope, reference: string) {
  const sql =
    "SELECT * FROM payout WHERE kind = 'refund' AND merchant_id = :merchantId AND environment = :environment AND reference = :reference";
  return first<RefundRow>(db, sql, { ...scopeOf(scope), reference });
}

/** The refunds of a transaction, oldest first. `isCounted`: whether it uses its part of the payment. */
export async function listRefundsOf(
  db: Queryable,
  transactionId: string,
): Promise<(RefundRow & { isCounted: boolean })[]> {
  const sql = `SELECT r.*, ${IS_COUNTED} AS is_counted FROM payout r WHERE r.transaction_id = :transactionId ORDER BY r.id`;
  return rows<RefundRow & { isCounted: boolean }>(db, sql, { transactionId });
}

const SAME_ORDER_NO_MAX = 100;

/**
 * The transactions with this order number, which each merchant may have used once in each environment, and their refunds:
 * of one merchant if it is given.
 */
export async function findTransactionIds(
  db: Queryable,
  checkoutOrderNo: string,
  scope?: MerchantScope,
): Promise<string[]> {
  const ofMerchant = scope ? 'AND merchant_id = :merchantId AND environment = :environment' : '';
  const sql = `
    WITH found AS (SELECT id FROM transaction WHERE checkout_order_no = :checkoutOrderNo ${ofMerchant} LIMIT :most)
    SELECT id FROM found UNION ALL SELECT r.id FROM payout r JOIN found f ON f.id = r.transaction_id`;
  const found = await rows<{ id: string }>(db, sql, { ...scope, checkoutOrderNo, most: SAME_ORDER_NO_MAX });
  return found.map(({ id }) => id);
}

const SEARCHED = ['reference', 'transaction_id', 'provider_reference'];

/** Refunds, newest first: of one merchant, or for operators of all. */
export async function listRefunds(
  db: Queryable,
  filter: AllPayouts<OutgoingFilter<RefundStatus, RefundStage>>,
  page: Page,
) {
  const listed = {
    table: 'payout',
    time: 'requested_at',
    ...payoutConditions(filter, { kind: 'refund', searched: SEARCHED }),
  };
  return paginateNewest<RefundRow>(db, listed, page);
}

const EXPORTED = [...OUTGOING_COLUMNS, 'transactionId', 'reference'] as const satisfies (keyof RefundRow)[];

export type ExportedRefund = ExportedPayout<Pick<RefundRow, (typeof EXPORTED)[number]>>;

export const refundExport = createPayoutExport<Pick<RefundRow, (typeof EXPORTED)[number]>>({
  ...OUTGOING_EXPORT,
  searched: SEARCHED,
  table: 'payout',
  kind: 'refund',
  columns: EXPORTED.map(snakeCase).join(', '),
  sign: '-',
});

/** When the payment of a refund was sent, by which its account at the provider is found. */
export async function readPaidAt(db: Queryable, { attemptId }: RefundRow): Promise<Date> {
  const sql = 'SELECT coalesce(initiated_at, created_at) AS sent_at FROM payment_attempt WHERE id = :attemptId';
  return found(await first<{ sentAt: Date }>(db, sql, { attemptId }), 'payment attempt').sentAt;
}

/** In SQL: whether a refund `r` uses its part of the payment. A failed one that its provider contradicts may have. */
export const IS_COUNTED = `(r.status <> 'FAILED' OR EXISTS (
  SELECT FROM payout_case c WHERE c.payout_id = r.id AND ${isContradictedSql('r')}))`;

/** What a refund pays to the payer. */
export function paidOf({ paidSantim, amountSantim }: Pick<RefundRow, 'paidSantim' | 'amountSantim'>): Santim {
  return paidSantim ?? amountSantim;
}

/** The refund that the ledger posts. */
export function toPayout(row: RefundRow): Payout & { type: 'refund' } {
  return { ...row, type: 'refund', paidSantim: paidOf(row) };
}
