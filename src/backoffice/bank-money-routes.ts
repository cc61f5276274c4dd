import { z } from 'zod';

import { auditContextOf } from '../access/audit.ts';
import { ANY_OPERATOR, requirePermission, type Action } from '../access/permissions.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex } from '../lib/db.ts';
import { toBirr, toSantim } from '../lib/money.ts';
import { readPage } from '../lib/pagination.ts';
import { receiptDecision } from '../reconciliation/receipts/decide.ts';
import { listReceipts, type BankReceiptRow } from '../reconciliation/receipts/queries.ts';
import type { RecordedReceipt } from '../reconciliation/receipts/record.ts';
import * as bankMoneySchema from './bank-money-schema.ts';
import { bookArrival, bookExcess, settleMoney } from './bank-money.ts';

type BankMoneyRouteDeps = { db: Knex; clock: Clock };

/** Money outside, which operators book by the reference it has there: to the bank, from providers, in suspense. */
export function bankMoneyRoutes(deps: BankMoneyRouteDeps): Route[] {
  return [listingRoute(deps), ...bookingRoutes(deps), settlingRoute(deps)];
}

function listingRoute({ db }: BankMoneyRouteDeps): Route {
  return readRoute({
    method: 'GET',
    path: '/api/ops/bank-money',
    operationId: 'opsListBankMoney',
    tag: 'Operators',
    summary: 'Money that was booked by its reference outside, the newest first',
    auth: ANY_OPERATOR,
    rateLimit: 'list',
    query: bankMoneySchema.BankMoneyQuery,
    responses: { 200: z.array(bankMoneySchema.BankMoney) },
    paginated: true,
    handle: async ({ query }) => {
      const { environment, reference, waiting } = query;
      const filter = { environment, reference, waiting: waiting && waiting === 'true' };
      const { rows, pagination } = await listReceipts(db, filter, readPage(query));
      return { message: 'Bank money retrieved', data: rows.map(present), pagination };
    },
  });
}

/** What came to the bank, and what it is booked as. */
type Arrival<Body> = { path: string; operationId: string; summary: string; action: Action; body: Body };
type ArrivalBody = Omit<Parameters<typeof bookArrival>[1], 'amountSantim'> & { amount: number };

function bookingRoutes(deps: BankMoneyRouteDeps): Route[] {
  const shared = {
    method: 'POST',
    tag: 'Operators',
    responses: { 200: bankMoneySchema.BankMoney, 201: bankMoneySchema.BankMoney },
  } as const;
  const arrival = <Body extends z.ZodType<ArrivalBody>>({ action, ...about }: Arrival<Body>): Route =>
    writeRoute({
      ...shared,
      ...about,
      description: 'A trace id of the bank is booked once, whatever it is booked as.',
      auth: requirePermission(action),
      errors: ['DUPLICATE_REFERENCE'],
      handle: async (input) => {
        const { amount, ...money } = input.body;
        return bookedAnswer(
          await bookArrival(auditContextOf(input, deps), { ...money, amountSantim: toSantim(amount) }),
        );
      },
    });
  return [
    arrival({
      path: '/api/ops/bank-money/transfers',
      operationId: 'opsBookTransfer',
      summary: 'A provider has paid into our bank account what it owed, or a part of it',
      action: 'bank-money.transfer',
      body: bankMoneySchema.Transfer,
    }),
    arrival({
      path: '/api/ops/bank-money/unmatched',
      operationId: 'opsBookUnmatchedMoney',
      summary: 'Money has come to our bank account that nobody can place: it waits in suspense',
      action: 'bank-money.unmatched',
      body: bankMoneySchema.UnmatchedMoney,
    }),
    writeRoute({
      ...shared,
      path: '/api/ops/bank-money/excess',
      operationId: 'opsBookExcess',
      summary: 'A provider has taken back what it had paid out too much: it owes that again',
      auth: requirePermission('bank-money.excess'),
      body: bankMoneySchema.ExcessTakenBack,
      errors: ['NOT_FOUND', 'INVALID_STATE', 'DUPLICATE_REFERENCE'],
      handle: async (input) => bookedAnswer(await bookExcess(auditContextOf(input, deps), input.body)),
    }),
  ];
}

function settlingRoute(deps: BankMoneyRouteDeps): Route {
  return writeRoute({
    method: 'POST',
    path: '/api/ops/bank-money/:bankMoneyId/settle',
    operationId: 'opsSettleBankMoney',
    tag: 'Operators',
    summary: 'Say whose unmatched money was or that it went back, or correct what was booked wrongly',
    description:
      'CORRECTED takes back all that was booked of it; booked rightly under the same trace id, it is another one.',
    auth: requirePermission('bank-money.settle'),
    params: bankMoneySchema.BankMoneyParams,
    body: bankMoneySchema.ReceiptDecision,
    responses: { 200: bankMoneySchema.BankMoney },
    errors: ['INVALID_STATE', 'DUPLICATE_REFERENCE'],
    handle: async (input) => {
      const { reason, ...given } = input.body;
      const decision = receiptDecision(given);
      const money = await settleMoney(auditContextOf(input, deps), { ...input.params, decision, reason });
      return { message: 'Booked', data: present(money) };
    },
  });
}

function bookedAnswer({ money, isNew }: RecordedReceipt) {
  return { status: isNew ? 201 : 200, message: isNew ? 'Booked' : 'It was booked before', data: present(money) };
}

function present({ id, reference, amountSantim, bookedAt, outcomeAt, reversedAt, ...row }: BankReceiptRow) {
  return {
    bankMoneyId: id,
    ...row,
    bankReference: row.kind === 'RECOVERY' ? null : reference,
    providerReference: row.kind === 'RECOVERY' ? reference : null,
    amount: toBirr(amountSantim),
    bookedAt: bookedAt.toISOString(),
    outcomeAt: outcomeAt?.toISOString() ?? null,
    reversedAt: reversedAt?.toISOString() ?? null,
  };
}
