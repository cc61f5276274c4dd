import type { z } from 'zod';

import { first, rows, type Queryable } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import { pageOffset, toPage, type DayRange, type Page, type pageQuery } from '../lib/pagination.ts';
import { readPhoneSearch, type PhoneSearch } from '../lib/phone.ts';
import type { MerchantScope } from '../lib/scope.ts';
import type { TransactionRow } from './present.ts';
import type { TransactionStatus } from './states.ts';
import type { TransactionListQuery } from './transaction-schema.ts';

/** A filter of the list; undefined and null do not narrow. */
export type TransactionFilter = MerchantScope &
  Omit<z.output<typeof TransactionListQuery>, 'startDate' | 'endDate' | 'status' | keyof typeof pageQuery> & {
    range: DayRange;
    statuses: TransactionStatus[] | null;
  };

/** SQL conditions on a transaction t for the filters that are set. */
export function transactionConditions(filter: TransactionFilter): string {
  const conditions = [
    't.merchant_id = :merchantId',
    't.environment = :environment',
    't.created_at >= :from',
    't.created_at < :until',
    't.currency = :currency',
    filter.statuses && 't.status = ANY (:statuses)',
    filter.transactionThrough && `t.channel = (SELECT id FROM channel WHERE transaction_through = :transactionThrough)`,
    filter.type && 't.type = :type',
    filter.minAmount !== undefined && 't.amount_santim >= :minAmount',
    filter.maxAmount !== undefined && 't.amount_santim <= :maxAmount',
    filter.search &&
      `(t.checkout_order_no ILIKE :pattern OR t.customer_email ILIKE :pattern OR t.id = :search
        OR t.session_id = :search OR t.provider_reference = :search ${phoneCondition(readPhoneSearch(filter.search))})`,
  ];
  return conditions.filter((one) => typeof one === 'string').join(' AND ');
}

/** A whole number is also compared with the payers' phones (index payment_attempt_phone). */
function phoneCondition(phone: PhoneSearch): string {
  if (phone === null) return '';
  if ('part' in phone) return 'OR t.customer_phone LIKE :phone';
  return `OR t.customer_phone = :phone OR t.id IN (
    SELECT a.transaction_id FROM payment_attempt a
    WHERE a.merchant_id = :merchantId AND a.environment = :environment AND a.phone = :phone)`;
}

function phoneBinding(phone: PhoneSearch): string | null {
  if (phone === null) return null;
  return 'part' in phone ? `%${phone.part}%` : phone.whole;
}

/** Values for {@link transactionConditions}. */
export function transactionValues(filter: TransactionFilter): Record<string, unknown> {
  const { range, search = '', ...rest } = filter;
  return {
    ...rest,
    search,
    from: range.from,
    until: range.until,
    pattern: `%${search.replace(/[\\%_]/g, '\\$&')}%`,
    phone: phoneBinding(readPhoneSearch(search)),
  };
}

/** A page of transactions, newest first, with the exact number of all that match: one statement. */
export async function listTransactions(db: Queryable, filter: TransactionFilter, page: Page) {
  const where = transactionConditions(filter);
  const after = page.after ? 'AND (t.created_at, t.id) < (CAST(:afterAt AS timestamptz), :afterId)' : '';
  const listed = await rows<TransactionRow & { position: string; total: number }>(
    db,
    `SELECT t.*, CAST(t.created_at AS text) AS position, counted.total
     FROM (SELECT count(*)::int AS total FROM transaction t WHERE ${where}) counted
     LEFT JOIN (
       SELECT * FROM transaction t WHERE ${where} ${after}
       ORDER BY t.created_at DESC, t.id DESC LIMIT :limit + 1 OFFSET :offset
     ) t ON true
     ORDER BY t.created_at DESC, t.id DESC`,
    {
      ...transactionValues(filter),
      limit: page.limit,
      offset: pageOffset(page),
      afterAt: page.after?.at ?? null,
      afterId: page.after?.id ?? null,
    },
  );
  // An empty page is one row that has only the total.
  const transactions = listed.filter(({ id }) => id !== null);
  return toPage<TransactionRow & { position: string }>(page, listed[0]?.total ?? 0, transactions);
}

/** One transaction of this merchant and environment. Throws NOT_FOUND. */
export async function findTransaction(
  db: Queryable,
  { merchantId, environment }: MerchantScope,
  transactionId: string,
): Promise<TransactionRow> {
  const sql =
    'SELECT * FROM transaction WHERE id = :transactionId AND merchant_id = :merchantId AND environment = :environment';
  return found(await first<TransactionRow>(db, sql, { merchantId, environment, transactionId }), 'transaction');
}

/** One transaction of any merchant: for operators. Throws NOT_FOUND. */
export async function readTransaction(db: Queryable, transactionId: string): Promise<TransactionRow> {
  const sql = 'SELECT * FROM transaction WHERE id = :transactionId';
  return found(await first<TransactionRow>(db, sql, { transactionId }), 'transaction');
}
