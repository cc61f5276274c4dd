import { z } from 'zod';

import { readRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import { scopeOf } from '../lib/scope.ts';
import { listMovements, Movement, presentMovement, readBalance } from './balance.ts';
import * as schema from './schema.ts';

/** The balance of a merchant and its history. */
export function balanceRoutes({ db, clock }: { db: Database; clock: Clock }): Route[] {
  return [
    readRoute('GET /api/checkout/balance', {
      operationId: 'getBalance',
      tag: 'Balance',
      summary: 'Available, reserved and total balance, fees and net settlements',
      auth: { by: 'key', scope: 'balance:read' },
      responses: { 200: schema.Balance },
      handle: async ({ caller }) => {
        const asOf = clock();
        const balance = await readBalance(db, scopeOf(caller));
        const data = {
          currency: 'ETB',
          environment: caller.environment,
          available: toBirr(balance.availableSantim),
          reserved: toBirr(balance.reservedSantim),
          total: toBirr(balance.availableSantim + balance.reservedSantim),
          feesToDate: toBirr(balance.feesSantim),
          netSettled: toBirr(balance.settledSantim),
          asOf: asOf.toISOString(),
        };
        return { message: 'Balance retrieved', data };
      },
    }),
    readRoute('GET /api/checkout/balance/history', {
      operationId: 'listBalanceMovements',
      tag: 'Balance',
      summary: 'Every movement of the balance, with the balance after it',
      description: 'The latest first. The days default to the last 30.',
      auth: { by: 'key', scope: 'balance:read' },
      rateLimit: 'list',
      query: schema.MovementListQuery,
      responses: { 200: z.array(Movement) },
      paginated: true,
      handle: async ({ caller, query }) => {
        const account = query.account ?? 'available';
        const range = readDayRange(query, clock());
        const filter = { ...scopeOf(caller), account, range, types: query.type ?? null };
        const { rows, pagination } = await listMovements(db, filter, readPage(query));
        const data = rows.map((row) => ({ ...presentMovement(row), account }));
        return { message: 'Balance history retrieved', data, pagination };
      },
    }),
  ];
}
