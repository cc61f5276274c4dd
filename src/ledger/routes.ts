import { z } from 'zod';

import { readRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { DAYS } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import { instant, mustBe, patternText } from '../lib/fields.ts';
import { toBirr } from '../lib/money.ts';
import { dateParam, dayRange, readDayRange, readPage, sequencePageQuery, statusParam } from '../lib/pagination.ts';
import { scopeOf } from '../lib/scope.ts';
import { ACCOUNTS, listMovements, Movement, presentMovement, readBalance } from './balance.ts';
import { JOURNAL_KINDS } from './postings.ts';

const birr = (description: string) => z.number().meta({ description });

export const BalanceResponse = z
  .object({
    currency: z.literal('ETB'),
    environment: z.enum(['sandbox', 'live']),
    available: birr('Can be withdrawn or settled'),
    reserved: birr('Reserved for withdrawals and settlements that have not ended, with their fees'),
    total: birr('available + reserved'),
    feesToDate: birr('Fees charged so far, and the tax on them'),
    netSettled: birr("Credited to the merchant's bank account so far"),
    asOf: instant,
  })
  .meta({ id: 'Balance' });

const resourceId = patternText(64, /^[\w-]{1,64}$/, mustBe('an id: letters, digits, - and _'));

const MovementListQuery = z.strictObject({
  account: z.enum(ACCOUNTS).optional().describe('Which of the two balances; available by default'),
  type: statusParam(JOURNAL_KINDS).optional(),
  resourceId: resourceId.optional().describe('Only what one transaction, withdrawal or settlement has moved'),
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  ...sequencePageQuery,
});

/** The balance of a merchant and its history. */
export function balanceRoutes({ db, clock }: { db: Database; clock: Clock }): Route[] {
  return [
    readRoute('GET /api/checkout/balance', {
      operationId: 'getBalance',
      tag: 'Balance',
      summary: 'Available, reserved and total balance, fees and net settlements',
      auth: { by: 'key', scope: 'balance:read' },
      responses: { 200: BalanceResponse },
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
          asOf,
        };
        return { message: 'Balance retrieved', data };
      },
    }),
    readRoute('GET /api/checkout/balance/history', {
      operationId: 'listBalanceMovements',
      tag: 'Balance',
      summary: 'Every movement of the balance, with the balance after it',
      description: 'The latest first. The days default to the last 30, and with resourceId to all.',
      auth: { by: 'key', scope: 'balance:read' },
      query: MovementListQuery,
      responses: { 200: z.array(Movement) },
      paginated: true,
      handle: async ({ caller, query }) => {
        const account = query.account ?? 'available';
        const isOfAllDays = query.resourceId !== undefined && !query.startDate && !query.endDate;
        const range = isOfAllDays ? dayRange(DAYS.first, DAYS.last) : readDayRange(query, clock());
        const filter = { ...scopeOf(caller), account, range, types: query.type ?? null, resourceId: query.resourceId };
        const { rows, pagination } = await listMovements(db, filter, readPage(query));
        const data = rows.map((row) => ({ ...presentMovement(row), account }));
        return { message: 'Balance history retrieved', data, pagination };
      },
    }),
  ];
}
