import { z } from 'zod';

import { ANY_OPERATOR } from '../access/permissions.ts';
import { readRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex } from '../lib/db.ts';
import { maskDigits } from '../lib/mask.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import { listAllSettlements } from '../settlements/queries.ts';
import { listAllWithdrawals } from '../withdrawals/queries.ts';
import * as decisionSchema from './decision-schema.ts';
import * as moneySchema from './money-schema.ts';
import { presentSettlement, presentWithdrawal } from './present.ts';

export type MoneyRouteDeps = { db: Knex; clock: Clock };

/** Money out of all merchants, listed. */
export function moneyRoutes({ db, clock }: MoneyRouteDeps): Route[] {
  const shared = { method: 'GET', tag: 'Operators', auth: ANY_OPERATOR, rateLimit: 'list', paginated: true } as const;
  return [
    readRoute({
      ...shared,
      path: '/api/ops/withdrawals',
      operationId: 'opsListWithdrawals',
      summary: 'Withdrawals of all merchants, the newest first',
      description: 'The days default to the last 30, at most 93 apart.',
      query: moneySchema.WithdrawalListQuery,
      responses: { 200: z.array(decisionSchema.Withdrawal) },
      handle: async ({ query }) => {
        const { merchantId, environment, status, search } = query;
        const range = readDayRange(query, clock());
        const filter = { merchantId, environment, range, statuses: status ?? null, search };
        const { rows, pagination } = await listAllWithdrawals(db, filter, readPage(query));
        return { message: 'Withdrawals retrieved', data: rows.map(presentWithdrawal), pagination };
      },
    }),
    readRoute({
      ...shared,
      path: '/api/ops/settlements',
      operationId: 'opsListSettlements',
      summary: 'Settlements of all merchants, the newest first; of account numbers the last four digits',
      description: 'The days default to the last 30, at most 93 apart.',
      query: moneySchema.SettlementListQuery,
      responses: { 200: z.array(decisionSchema.Settlement) },
      handle: async ({ query }) => {
        const { merchantId, environment, status, search } = query;
        const range = readDayRange(query, clock());
        const filter = { merchantId, environment, range, statuses: status ?? null, search };
        const { rows, pagination } = await listAllSettlements(db, filter, readPage(query));
        const data = rows.map((row) => presentSettlement({ ...row, accountNumber: maskDigits(row.accountNumber) }));
        return { message: 'Settlements retrieved', data, pagination };
      },
    }),
  ];
}
