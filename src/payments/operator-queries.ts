import type { z } from 'zod';

import type { Queryable } from '../lib/db.ts';
import { allOf, paginateNewest } from '../lib/paginate-newest.ts';
import type { DayRange, Page } from '../lib/pagination.ts';
import { LISTED, type ListedTransaction } from './queries.ts';
import type { OperatorTransactionQuery } from './transaction-schema.ts';

/** Filters of operators' list, over all merchants unless one is given. */
type OperatorTransactionFilter = Omit<z.output<typeof OperatorTransactionQuery>, 'startDate' | 'endDate'> & {
  range: Pick<DayRange, 'from' | 'until'> | null;
};

/** A transaction in operators' list. `attemptId`: of the latest attempt. */
type OperatorTransactionRow = ListedTransaction & {
  merchantId: string;
  merchantName: string;
  attemptId: string | null;
};

/** A page of the transactions of all merchants, newest first. */
export async function listAllTransactions(db: Queryable, filter: OperatorTransactionFilter, page: Page) {
  const { merchantId, environment, status, channel, checkoutOrderNo, held, late, range } = filter;
  const where = allOf([
    range && 't.created_at >= :from AND t.created_at < :until',
    merchantId !== undefined && 't.merchant_id = :merchantId',
    environment !== undefined && 't.environment = :environment',
    status && 't.status = ANY (:status)',
    channel !== undefined && 't.channel = :channel',
    checkoutOrderNo !== undefined && 't.checkout_order_no = :checkoutOrderNo',
    held !== undefined && `t.hold_reason IS ${held ? 'NOT NULL' : 'NULL'}`,
    late !== undefined && `${late ? '' : 'NOT '}t.confirmed_late`,
  ]);
  const columns = `${LISTED}, t.merchant_id,
    (SELECT m.name FROM merchant m WHERE m.id = t.merchant_id) AS merchant_name,
    (SELECT a.id FROM payment_attempt a WHERE a.transaction_id = t.id ORDER BY a.created_at DESC LIMIT 1) AS attempt_id`;
  const values = { merchantId, environment, status, channel, checkoutOrderNo, from: range?.from, until: range?.until };
  return paginateNewest<OperatorTransactionRow>(
    db,
    { columns, table: 'transaction t', time: 't.created_at', where, values },
    page,
  );
}
