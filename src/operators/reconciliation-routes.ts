import { z } from 'zod';

import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex } from '../lib/db.ts';
import { toSantim } from '../lib/money.ts';
import { readDayRange, readPage } from '../lib/page.ts';
import type { FindProvider } from '../providers/provider.ts';
import { listReconciledDays } from '../reconciliation/days.ts';
import { listDifferences } from '../reconciliation/differences.ts';
import { deedOf } from './audit.ts';
import { ANY_OPERATOR, permit } from './permits.ts';
import { presentDifference, presentReconciledDay } from './present.ts';
import * as reconciliationSchema from './reconciliation-schema.ts';
import { bookBankMoney, compareAgain, settleDifference } from './reconciliation.ts';

export type ReconciliationRouteDeps = { db: Knex; clock: Clock; findProvider: FindProvider };

/** What providers' lists and our books do not agree on, and the money that came to the bank. */
export function reconciliationRoutes(deps: ReconciliationRouteDeps): Route[] {
  return [...lookingRoutes(deps), ...decidingRoutes(deps), ...bankMoneyRoutes(deps)];
}

function lookingRoutes({ db, clock }: ReconciliationRouteDeps): Route[] {
  return [
    readRoute({
      method: 'GET',
      path: '/api/ops/reconciliation',
      operationId: 'opsListReconciledDays',
      tag: 'Operators',
      summary: "How channels' days compare with the providers' own lists, the latest first",
      description: 'The days default to the last 30, at most 93 apart.',
      auth: ANY_OPERATOR,
      rateLimit: 'list',
      query: reconciliationSchema.DayQuery,
      responses: { 200: z.array(reconciliationSchema.ReconciledDay) },
      handle: async ({ query }) => {
        const { environment, channel } = query;
        const { startDate, endDate } = readDayRange(query, clock());
        const days = await listReconciledDays(db, { startDate, endDate, environment, channel });
        return { message: 'Days retrieved', data: days.map(presentReconciledDay) };
      },
    }),
    readRoute({
      method: 'GET',
      path: '/api/ops/reconciliation/differences',
      operationId: 'opsListDifferences',
      tag: 'Operators',
      summary: "What providers' lists and our books do not agree on, the newest first",
      auth: ANY_OPERATOR,
      rateLimit: 'list',
      query: reconciliationSchema.DifferenceQuery,
      responses: { 200: z.array(reconciliationSchema.Difference) },
      paginated: true,
      handle: async ({ query }) => {
        const { state, environment, channel, kind, day } = query;
        const filter = { open: state && state === 'OPEN', environment, channel, kind, day };
        const { rows, pagination } = await listDifferences(db, filter, readPage(query));
        return { message: 'Differences retrieved', data: rows.map(presentDifference), pagination };
      },
    }),
  ];
}

function decidingRoutes(deps: ReconciliationRouteDeps): Route[] {
  return [
    writeRoute({
      method: 'POST',
      path: '/api/ops/reconciliation/run',
      operationId: 'opsRunReconciliation',
      tag: 'Operators',
      summary: "Compare a day with the providers' lists, again or for the first time",
      auth: permit('reconciliation.run'),
      body: reconciliationSchema.DayToCompare,
      responses: { 202: z.array(reconciliationSchema.ChannelDay) },
      handle: async (input) => {
        const days = await compareAgain(deedOf(input, deps), input.body, deps);
        return { status: 202, message: 'Asked for', data: days };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/reconciliation/differences/:differenceId/close',
      operationId: 'opsCloseDifference',
      tag: 'Operators',
      summary: 'Close a difference that was looked into; it moves no money',
      auth: permit('reconciliation.close'),
      params: reconciliationSchema.DifferenceParams,
      body: reconciliationSchema.Closing,
      responses: { 200: reconciliationSchema.Difference },
      refusals: ['INVALID_STATE'],
      handle: async (input) => {
        const difference = await settleDifference(deedOf(input, deps), { ...input.params, ...input.body });
        return { message: 'Difference closed', data: presentDifference(difference) };
      },
    }),
  ];
}

function bankMoneyRoutes(deps: ReconciliationRouteDeps): Route[] {
  const shared = { method: 'POST', tag: 'Operators', refusals: ['DUPLICATE_REFERENCE'] } as const;
  const responses = { 200: reconciliationSchema.BankMoney, 201: reconciliationSchema.BankMoney };
  return [
    writeRoute({
      ...shared,
      path: '/api/ops/bank-money/transfers',
      operationId: 'opsBookTransfer',
      summary: 'A provider has paid into our bank account what it owed, or a part of it',
      description: 'Booked once for each bankReference of a channel.',
      auth: permit('bank-money.transfer'),
      body: reconciliationSchema.Transfer,
      responses,
      handle: async (input) => {
        const { amount, ...money } = input.body;
        const isNew = await bookBankMoney(deedOf(input, deps), { ...money, amountSantim: toSantim(amount) });
        return bookedAnswer(isNew, input.body);
      },
    }),
    writeRoute({
      ...shared,
      path: '/api/ops/bank-money/unmatched',
      operationId: 'opsBookUnmatchedMoney',
      summary: 'Money has come to our bank account that nobody can place: it waits in suspense',
      description: 'Booked once for each bankReference.',
      auth: permit('bank-money.unmatched'),
      body: reconciliationSchema.UnmatchedMoney,
      responses,
      handle: async (input) => {
        const { amount, ...money } = input.body;
        const isNew = await bookBankMoney(deedOf(input, deps), { ...money, amountSantim: toSantim(amount) });
        return bookedAnswer(isNew, input.body);
      },
    }),
  ];
}

function bookedAnswer(isNew: boolean, money: z.output<typeof reconciliationSchema.UnmatchedMoney>) {
  const { environment, amount, bankReference } = money;
  const message = isNew ? 'Booked' : 'It was booked before';
  return { status: isNew ? 201 : 200, message, data: { environment, amount, bankReference } };
}
