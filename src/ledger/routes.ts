import { z } from 'zod';

import { readRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { DAYS } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import { instant, mustBe, patternText } from '../lib/fields.ts';
import { ruleOf } from '../lib/issues.ts';
import { toBirr } from '../lib/money.ts';
import {
  dateParam,
  dayRange,
  isPositionOf,
  readDayRange,
  readPage,
  sortedPageQuery,
  statusParam,
  type Page,
} from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import {
  ACCOUNTS,
  listMovements,
  Movement,
  presentAddition,
  presentMovement,
  readBalance,
  sumMovements,
} from './balance.ts';
import { JOURNAL_KINDS } from './postings.ts';
import { listAdditions, sumAdditions, TOTALS, type Total } from './totals.ts';

const birr = (description: string) => z.number().meta({ description });

export const BalanceResponse = z
  .object({
    currency: z.literal('ETB'),
    environment: z.enum(['sandbox', 'live']),
    available: birr('Can be withdrawn or settled'),
    reserved: birr('Reserved for withdrawals, settlements and refunds that have not ended, with their fees'),
    total: birr('available + reserved'),
    feesToDate: birr('Fees charged so far, and the tax on them'),
    netSettled: birr("Credited to the merchant's bank account so far"),
    asOf: instant,
  })
  .meta({ id: 'Balance' });

const resourceId = patternText(64, /^[\w-]{1,64}$/, mustBe('an id: letters, digits, - and _'));

/** The numbers of a balance that have a history: two accounts, and two totals. */
const NUMBERS = [...ACCOUNTS, ...TOTALS];
const isTotal = (number: (typeof NUMBERS)[number]): number is Total => TOTALS.some((total) => total === number);

const movementFilter = {
  account: z
    .enum(NUMBERS)
    .default('available')
    .describe('Of which number: available, reserved, feesToDate (fees) or netSettled (settled)'),
  type: statusParam(JOURNAL_KINDS).optional(),
  resourceId: resourceId.optional().describe('Only what one transaction, withdrawal, settlement or refund has moved'),
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  allDays: z.enum(['true']).optional().describe('Every day since the first movement, in place of two dates'),
};
type MovementQuery = z.output<z.ZodObject<typeof movementFilter>>;

const noDates = {
  check: ({ allDays, startDate, endDate }: MovementQuery) => allDays === undefined || (!startDate && !endDate),
  wrong: { path: ['allDays'], error: 'must not be given beside startDate or endDate', params: ruleOf('not_allowed') },
};
const MovementFilterQuery = z.strictObject(movementFilter).refine(noDates.check, noDates.wrong);
const MovementListQuery = z
  .strictObject({ ...movementFilter, ...sortedPageQuery })
  .refine(noDates.check, noDates.wrong)
  .refine(({ account, cursor }) => !cursor || isPositionOf(isTotal(account) ? 'time' : 'number', cursor.after), {
    path: ['cursor'],
    error: 'must be the nextCursor of an earlier response with the same account, got one of another',
  });

const HistoryMovement = Movement.extend({
  account: z.enum(NUMBERS),
  amount: birr('Positive when the number rose, negative when it fell'),
  balanceAfter: z.number().nullable().describe('Of the account; null in the history of fees and settled'),
  createdAt: instant.describe('Never before the previous movement; of fees and settled, when it was done'),
}).meta({ id: 'BalanceMovement' });

export const MovementSums = z
  .object({
    account: z.enum(NUMBERS),
    count: z.int(),
    amount: birr('The sum of the entries that the history lists for the same filter'),
    openingBalance: birr('Of the number before the first of the days, whatever the other filters'),
    closingBalance: birr('Of the number after the last of the days; without other filters opening + amount'),
  })
  .meta({ id: 'BalanceMovementSums' });

function readMovementFilter(scope: MerchantScope, query: MovementQuery, now: Date) {
  const { account, type: types = null, resourceId, startDate, endDate } = query;
  const isOfAllDays = query.allDays !== undefined || (resourceId !== undefined && !startDate && !endDate);
  const range = isOfAllDays ? dayRange(DAYS.first, DAYS.last) : readDayRange(query, now);
  return { ...scopeOf(scope), account, range, types, resourceId };
}

async function listHistory(db: Database, filter: ReturnType<typeof readMovementFilter>, page: Page) {
  const { account } = filter;
  if (isTotal(account)) {
    const { rows, pagination } = await listAdditions(db, { ...filter, total: account }, page);
    return { data: rows.map((row) => ({ ...presentAddition(row), account, balanceAfter: null })), pagination };
  }
  const { rows, pagination } = await listMovements(db, { ...filter, account }, page);
  return { data: rows.map((row) => ({ ...presentMovement(row), account })), pagination };
}

const BALANCE = { tag: 'Balance', auth: { by: 'key', scope: 'balance:read' } } as const;

/** The balance of a merchant and its history. */
export function balanceRoutes({ db, clock }: { db: Database; clock: Clock }): Route[] {
  return [
    readRoute('GET /api/checkout/balance', {
      ...BALANCE,
      operationId: 'getBalance',
      summary: 'Available, reserved and total balance, fees and net settlements',
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
      ...BALANCE,
      operationId: 'listBalanceMovements',
      summary: 'Every movement of the balance with the balance after it, or of the fees or net settlements',
      description: 'The latest first. The days default to the last 30, and with resourceId to all.',
      query: MovementListQuery,
      responses: { 200: z.array(HistoryMovement) },
      paginated: true,
      handle: async ({ caller, query }) => {
        const filter = readMovementFilter(caller, query, clock());
        return { message: 'Balance history retrieved', ...(await listHistory(db, filter, readPage(query))) };
      },
    }),
    readRoute('GET /api/checkout/balance/history/summary', {
      ...BALANCE,
      operationId: 'summariseBalanceMovements',
      summary: 'The sum of the movements that the history lists for the same filter',
      rateLimit: 'list',
      query: MovementFilterQuery,
      responses: { 200: MovementSums },
      handle: async ({ caller, query }) => {
        const filter = readMovementFilter(caller, query, clock());
        const { account } = filter;
        const { count, amountSantim, openingSantim, closingSantim } = isTotal(account)
          ? await sumAdditions(db, { ...filter, total: account })
          : await sumMovements(db, { ...filter, account });
        const data = {
          account,
          count,
          amount: toBirr(amountSantim),
          openingBalance: toBirr(openingSantim),
          closingBalance: toBirr(closingSantim),
        };
        return { message: 'Sums retrieved', data };
      },
    }),
  ];
}
