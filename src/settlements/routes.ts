import { z } from 'zod';

import { changedFields } from '../http/audit.ts';
import { actorOf, readRoute, writeRoute, type Route } from '../http/route.ts';
import { readBalance } from '../ledger/balance.ts';
import { readEffectiveRule } from '../ledger/fees.ts';
import { quotePayout } from '../ledger/quote.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database, Queryable } from '../lib/db.ts';
import { AppError, sandboxOnly } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { readTimeline } from '../lib/timeline.ts';
import { readUsableAccount } from './bank-account/account.ts';
import { readSettlementDates } from './calendar/operations.ts';
import { createSettlement, largestAmount, limitError, nothingToSettle } from './create.ts';
import { advanceSettlement, cancelSettlement } from './decide.ts';
import { presentLimit, readSettlementLimit } from './limit.ts';
import { presentSettlement, readStatement } from './present.ts';
import { findSettlement, listSettlements } from './queries.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; clock: Clock };

/** Settlements to the merchant's bank account: request, read, cancel; and the sandbox's way to advance them. */
export function settlementRoutes(deps: Deps): Route[] {
  return [...commandRoutes(deps), ...queryRoutes(deps), ...detailRoutes(deps)];
}

const READ = { tag: 'Settlements', auth: { by: 'key', scope: 'settlements:read' } } as const;
const WRITE = {
  tag: 'Settlements',
  auth: { by: 'key', scope: 'settlements:write' },
  serialize: 'merchantBalance',
} as const;
const CHANGE = {
  ...WRITE,
  params: schema.SettlementParams,
  responses: { 200: schema.Settlement },
  errors: ['INVALID_STATE' as const],
};

function commandRoutes({ clock }: Deps): Route[] {
  return [
    writeRoute('POST /api/checkout/settlement', {
      ...WRITE,
      operationId: 'createSettlement',
      audit: 'settlement.create',
      stepUp: 'live',
      summary: 'Request a settlement to the linked bank account; its amount is reserved at once',
      description:
        'Idempotent by requestId, without a time limit: the same requestId and body returns the same settlement with 200.',
      body: schema.NewSettlement,
      responses: { 200: schema.Settlement, 202: schema.Settlement },
      errors: [
        'DUPLICATE_REFERENCE',
        'INSUFFICIENT_BALANCE',
        'AMOUNT_BELOW_MINIMUM',
        'AMOUNT_ABOVE_MAXIMUM',
        'BANK_ACCOUNT_NOT_VERIFIED',
      ],
      handle: async ({ caller, tx, body }) => {
        const wanted = { ...body, requestedBy: actorOf(caller) };
        const { row, isNew } = await createSettlement({ tx, clock }, scopeOf(caller), wanted);
        const message = isNew ? 'Settlement requested' : 'This settlement was requested before';
        const data = presentSettlement(row);
        const { settlementId: resourceId, requestId, amount } = data;
        const audit = isNew ? { resourceId, after: { requestId, amount } } : null;
        return { status: isNew ? 202 : 200, message, data, audit };
      },
    }),
    writeRoute('POST /api/checkout/settlement/:settlementId/cancel', {
      ...CHANGE,
      operationId: 'cancelSettlement',
      audit: 'settlement.cancel',
      summary: 'Cancel a settlement that is not decided yet',
      handle: async ({ caller, tx, params }) => {
        const row = await findSettlement(tx.trx, scopeOf(caller), params.settlementId);
        const { settlement } = await cancelSettlement(tx, row, { actor: actorOf(caller), at: clock() });
        const changed = changedFields({ status: row.status }, { status: settlement.status });
        const audit = changed && { ...changed, resourceId: row.id };
        return { message: 'Settlement cancelled', data: presentSettlement(settlement), audit };
      },
    }),
  ];
}

function queryRoutes({ db, clock }: Deps): Route[] {
  return [
    readRoute('GET /api/checkout/settlement', {
      ...READ,
      operationId: 'listSettlements',
      summary: 'Settlements of a range of days, newest first',
      query: schema.SettlementListQuery,
      responses: { 200: z.array(schema.Settlement) },
      paginated: true,
      handle: async ({ caller, query }) => {
        const range = readDayRange(query, clock());
        const filter = { ...query, ...scopeOf(caller), range, statuses: query.status ?? null };
        const { rows, pagination } = await listSettlements(db, filter, readPage(query));
        return { message: 'Settlements retrieved', data: rows.map(presentSettlement), pagination };
      },
    }),
    readRoute('GET /api/checkout/settlement-limits', {
      ...READ,
      operationId: 'getSettlementLimits',
      summary: 'The smallest and the largest amount of one settlement',
      responses: { 200: schema.SettlementLimits },
      handle: async ({ caller }) => {
        const { own: _, ...data } = presentLimit(await readSettlementLimit(db, caller.merchantId));
        return { message: 'Settlement limits retrieved', data };
      },
    }),
    readRoute('GET /api/checkout/settlement/quote', {
      ...READ,
      operationId: 'quoteSettlement',
      summary: 'The fee and the expected days of a settlement requested now, and why it would be rejected',
      description: 'Creates nothing, and holds nothing: fee, days and balance may differ a moment later.',
      query: schema.SettlementQuoteQuery,
      responses: { 200: schema.SettlementQuote },
      handle: async ({ caller, query }) => {
        const data = await quoteSettlement(db, scopeOf(caller), { amount: query.amount ?? 'all', at: clock() });
        return { message: 'Quote computed', data };
      },
    }),
  ];
}

function detailRoutes({ db, clock }: Deps): Route[] {
  return [
    readRoute('GET /api/checkout/settlement/:settlementId', {
      ...READ,
      operationId: 'getSettlement',
      summary: 'One settlement with its timeline',
      params: schema.SettlementParams,
      responses: { 200: schema.SettlementDetail },
      handle: async ({ caller, params }) => {
        const row = await findSettlement(db, scopeOf(caller), params.settlementId);
        const timeline = await readTimeline(db, row.id);
        return { message: 'Settlement retrieved', data: { ...presentSettlement(row), timeline } };
      },
    }),
    readRoute('GET /api/checkout/settlement/:settlementId/statement', {
      ...READ,
      operationId: 'getSettlementStatement',
      summary: 'Every movement of the balance since the previous settlement, up to this one',
      description:
        'The opening balance and all movements add up to the closing balance, with which the next statement opens. Every ' +
        'settlement has a statement from its request on; money that returns later is part of a later statement.',
      rateLimit: 'list',
      params: schema.SettlementParams,
      query: schema.StatementQuery,
      responses: { 200: schema.SettlementStatement },
      paginated: true,
      handle: async ({ caller, params, query }) => {
        const row = await findSettlement(db, scopeOf(caller), params.settlementId);
        return { message: 'Statement retrieved', ...(await readStatement(db, row, readPage(query))) };
      },
    }),
    writeRoute('POST /api/checkout/sandbox/settlements/:settlementId/advance', {
      ...CHANGE,
      operationId: 'advanceSandboxSettlement',
      summary: 'Sandbox: advance a settlement one step, as an operator and the bank would',
      description: 'REQUESTED, APPROVED, PROCESSING, COMPLETED; its dates do not change.',
      handle: async ({ caller, tx, params }) => {
        if (caller.environment !== 'sandbox') throw sandboxOnly();
        const row = await findSettlement(tx.trx, scopeOf(caller), params.settlementId);
        const { settlement } = await advanceSettlement(tx, row, clock());
        return { message: `Settlement is ${settlement.status}`, data: presentSettlement(settlement) };
      },
    }),
  ];
}

/** The fee and the expected days of a settlement requested now, and the errors it would get. Writes nothing. */
async function quoteSettlement(
  db: Queryable,
  scope: MerchantScope,
  { amount, at }: { amount: Santim | 'all'; at: Date },
) {
  const [accountError, dates, limit, rule, { availableSantim }] = await Promise.all([
    readUsableAccount(db, scope, at).then(() => null, asAppError),
    readSettlementDates(db, at),
    readSettlementLimit(db, scope.merchantId),
    readEffectiveRule(db, { merchantId: scope.merchantId, channel: null, direction: 'SETTLEMENT', at }),
    readBalance(db, scope),
  ]);
  const isAll = amount === 'all';
  const amountSantim = isAll ? largestAmount(rule, availableSantim) : amount;
  const amountError = amountSantim === 0n ? nothingToSettle(availableSantim) : limitError(limit, amountSantim, isAll);
  return {
    ...quotePayout('settlement', { amountSantim, rule, availableSantim }, [accountError, amountError]),
    effectiveDate: dates.effectiveDate,
    earliestExpected: dates.expectedFrom,
    expectedBy: dates.expectedUntil,
    dateReasons: dates.skippedDays,
    limits: presentLimit(limit),
  };
}

function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  throw error;
}
