import { Readable } from 'node:stream';

import { z } from 'zod';

import { hasPermission, readRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { formatBirr } from '../lib/money.ts';
import { readTransactionFilter } from '../payments/queries.ts';
import { TransactionExportQuery, TransactionFilterQuery } from '../payments/transaction-schema.ts';
import { FORMATS } from './formats/formats.ts';
import { renderTable } from './formats/rendering.ts';
import { TransactionSummary } from './schema.ts';
import { ZONE } from './sources/columns.ts';
import { readPages, toGroups } from './sources/source.ts';
import { COLUMNS_WITHOUT_PHONES, TRANSACTION_COLUMNS } from './sources/sources.ts';
import { presentGroups } from './summary.ts';
import { countTransactions, exportTransactions, groupTransactions } from './transactions.ts';

const TRANSACTIONS = {
  tag: 'Transactions',
  auth: { by: 'key', scope: 'transactions:read' },
  rateLimit: 'list',
} as const;

/** The transaction list as sums and as a file: by the list's own filter, and the columns of reports of payments. */
export function transactionReportRoutes({ db, clock }: { db: Database; clock: Clock }): Route[] {
  const { contentType, immediateRowsMax: rowsMax, pageRows } = FORMATS.CSV;
  return [
    readRoute('GET /api/checkout/txns/summary', {
      ...TRANSACTIONS,
      operationId: 'summariseTransactions',
      summary: 'Sums of the transactions that the list returns for the same filter, by status and channel',
      query: TransactionFilterQuery,
      responses: { 200: TransactionSummary },
      handle: async ({ caller, query, at }) => {
        const filter = readTransactionFilter(caller, query, clock());
        const groups = toGroups(TRANSACTION_COLUMNS, await groupTransactions(db, filter));
        const { startDate, endDate } = filter.range;
        const about = { startDate, endDate, currency: 'ETB', environment: caller.environment, asOf: at };
        return { message: 'Sums retrieved', data: { ...about, ...presentGroups(groups) } };
      },
    }),
    readRoute('GET /api/checkout/txns/export', {
      ...TRANSACTIONS,
      operationId: 'exportTransactions',
      summary: 'The transactions that the list returns for the same filter and sort, as CSV',
      description: `At most ${rowsMax} rows; request a report of more. Columns are those of reports of payments.`,
      query: TransactionExportQuery,
      responses: { 200: z.string() },
      fileTypes: ['text/csv'],
      handle: async ({ caller, query, at }) => {
        const filter = readTransactionFilter(caller, query, clock());
        if ((await countTransactions(db, filter, rowsMax + 1)) > rowsMax) {
          const message = `The filter matches more than ${rowsMax} transactions. Narrow it, or request a report: POST /api/checkout/reports.`;
          throw new AppError('VALIDATION_ERROR', message);
        }
        const columns = hasPermission(caller, 'phones:read') ? TRANSACTION_COLUMNS : COLUMNS_WITHOUT_PHONES;
        const pages = readPages(
          columns,
          (part) => exportTransactions(db, filter, { ...part, sort: query.sort }),
          pageRows,
        );
        const table = renderTable({ columns, pages }, { filters: filterText(query), asOf: at });
        const name = `transactions-${caller.environment}-${query.startDate}-to-${query.endDate}.csv`;
        return { file: { name, contentType, open: async () => Readable.from(table) } };
      },
    }),
  ];
}

/** The filter as the file contains it: "2026-11-01 to 2026-11-30 Africa/Addis_Ababa; status SUCCESS; held true". */
function filterText({ startDate, endDate, ...narrowing }: z.output<typeof TransactionExportQuery>): string {
  const parts = Object.entries(narrowing).map(([name, value]) => {
    if (value === null) return `${name} ALL`;
    if (typeof value === 'bigint') return `${name} ${formatBirr(value)}`;
    return `${name} ${Array.isArray(value) ? value.join(' ') : value}`;
  });
  return [`${startDate} to ${endDate} ${ZONE}`, ...parts].join('; ');
}
