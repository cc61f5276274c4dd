import { z } from 'zod';

import type { AuditedChange } from '../../access/audit.ts';
import { operatorReadRoute, operatorRoute, type OperatorResult } from '../../access/operator-route.ts';
import type { Endpoint, Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import { isoOrNull } from '../../lib/dates.ts';
import type { Database } from '../../lib/db.ts';
import { notFound } from '../../lib/errors.ts';
import { toBirr, toSantim, type Santim } from '../../lib/money.ts';
import { readPage } from '../../lib/pagination.ts';
import type { Environment } from '../../lib/scope.ts';
import type { Channel } from '../../merchants/channels/channel.ts';
import { needsTwoPeople } from '../../merchants/review-policy.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { decideReceipt, receiptDecision } from './decide.ts';
import { findOverpaid, findReceipt, listReceipts, type BankReceiptRow } from './queries.ts';
import { recordReceipt, recordRecovery, type RecordedReceipt } from './record.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; clock: Clock };

/** Receipts, which operators book by the bank's or the provider's reference. */
export function receiptOperatorRoutes(deps: Deps): Route[] {
  return [
    ...queryRoutes(deps),
    arrivalRoute(deps, {
      endpoint: 'POST /api/ops/bank-money/transfers',
      operationId: 'opsBookTransfer',
      cli: { name: 'receipts record-remittance', confirm: true },
      summary: 'Book a remittance: a provider has paid what it owed, or a part of it, to our bank account',
      action: 'bank-money.transfer',
      body: schema.Transfer,
    }),
    arrivalRoute(deps, {
      endpoint: 'POST /api/ops/bank-money/unmatched',
      operationId: 'opsBookUnmatchedMoney',
      cli: { name: 'receipts record-unallocated', confirm: true },
      summary: 'Book a receipt on our bank account that cannot be allocated yet; it is held in suspense',
      action: 'bank-money.unmatched',
      body: schema.UnmatchedMoney,
    }),
    recoveryRoute(deps),
    decisionRoute(deps),
  ];
}

function queryRoutes({ db }: Deps): Route[] {
  return [
    operatorReadRoute('GET /api/ops/bank-money', {
      operationId: 'opsListBankMoney',
      cli: {
        name: 'receipts list',
        columns: 'bookedAt bankMoneyId kind amount bankReference providerReference outcome',
      },
      summary: 'List receipts, newest first',
      rateLimit: 'list',
      query: schema.BankMoneyQuery,
      responses: { 200: z.array(schema.BankMoney) },
      paginated: true,
      handle: async ({ query }) => {
        const { environment, reference, waiting } = query;
        const filter = { environment, reference, waiting: waiting && waiting === 'true' };
        const { rows, pagination } = await listReceipts(db, filter, readPage(query));
        return { message: 'Bank money retrieved', data: rows.map(present), pagination };
      },
    }),
    operatorReadRoute('GET /api/ops/bank-money/:bankMoneyId', {
      operationId: 'opsGetBankMoney',
      summary: 'Get a receipt',
      params: schema.BankMoneyParams,
      responses: { 200: schema.BankMoney },
      handle: async ({ params: { bankMoneyId } }) => {
        const receipt = await findReceipt(db, bankMoneyId);
        if (!receipt) throw notFound('receipt');
        return { message: 'Bank money retrieved', data: present(receipt) };
      },
    }),
  ];
}

/** Whether money on the platform's own accounts, which belongs to no merchant, needs two operators. */
async function isLarge(
  { trx }: UnitOfWork,
  money: { environment: Environment; amountSantim: Santim } | undefined,
): Promise<boolean> {
  return money !== undefined && needsTwoPeople(trx, { ...money, merchantId: null });
}

const BOOKED = { 200: schema.BankMoney, 201: schema.BankMoney };

type ArrivalBody = { environment: Environment; amount: number; bankReference: string; channel?: Channel };
type Arrival<Body> = {
  endpoint: Endpoint;
  operationId: string;
  cli: Route['cli'];
  summary: string;
  action: 'bank-money.transfer' | 'bank-money.unmatched';
  body: Body;
};

function arrivalRoute<Body extends z.ZodType<ArrivalBody>>(
  { clock }: Deps,
  { endpoint, ...declared }: Arrival<Body>,
): Route {
  return operatorRoute(endpoint, {
    ...declared,
    description: "The bank's trace id is booked once.",
    clock,
    secondPerson: ({ tx }, { body }) => isLarge(tx, { ...body, amountSantim: toSantim(body.amount) }),
    responses: BOOKED,
    errors: ['DUPLICATE_REFERENCE'],
    run: async ({ tx, at }, { body }) => {
      const { environment, amount, bankReference, channel } = body;
      const receipt = { environment, amountSantim: toSantim(amount), bankReference, channel, at };
      return bookedResult(await recordReceipt(tx, receipt));
    },
  });
}

function recoveryRoute({ clock }: Deps): Route {
  return operatorRoute('POST /api/ops/bank-money/excess', {
    operationId: 'opsBookExcess',
    cli: { name: 'receipts record-recovery', confirm: '/api/ops/withdrawals/{withdrawalId}' },
    summary: 'Book that a provider has recovered what it had overpaid: the provider owes it again',
    action: 'bank-money.excess',
    clock,
    secondPerson: async ({ tx }, { body }) => isLarge(tx, await findOverpaid(tx.trx, body.withdrawalId)),
    body: schema.ExcessTakenBack,
    responses: BOOKED,
    errors: ['NOT_FOUND', 'INVALID_STATE', 'DUPLICATE_REFERENCE'],
    run: async ({ tx, at }, { body: { withdrawalId, reference } }) =>
      bookedResult(await recordRecovery(tx, { withdrawalId, reference, at })),
  });
}

function bookedResult({ money, isNew }: RecordedReceipt): OperatorResult {
  return {
    status: isNew ? 201 : 200,
    message: isNew ? 'Booked' : 'It was booked before',
    data: present(money),
    audit: isNew ? { ...aboutReceipt(money), after: audited(money) } : null,
  };
}

function decisionRoute({ clock }: Deps): Route {
  return operatorRoute('POST /api/ops/bank-money/:bankMoneyId/settle', {
    operationId: 'opsSettleBankMoney',
    cli: { name: 'receipts decide', confirm: '/api/ops/bank-money/{bankMoneyId}' },
    summary: 'Allocate or return a receipt in suspense, or reverse a wrong booking',
    description:
      'CORRECTED reverses everything that was booked of it. The receipt can then be booked again under its trace id.',
    action: 'bank-money.settle',
    clock,
    secondPerson: async ({ tx }, { params }) => isLarge(tx, await findReceipt(tx.trx, params.bankMoneyId)),
    params: schema.BankMoneyParams,
    body: schema.ReceiptDecision,
    responses: { 200: schema.BankMoney },
    errors: ['INVALID_STATE', 'DUPLICATE_REFERENCE'],
    run: async ({ tx, at }, { params, body }) => {
      const decision = receiptDecision(body);
      const { money, before, changed } = await decideReceipt(tx, params.bankMoneyId, { decision, at });
      const after = { ...audited(money), as: decision.as };
      const audit = changed ? { ...aboutReceipt(money), before: audited(before), after } : null;
      return { message: 'Booked', data: present(money), audit };
    },
  });
}

function aboutReceipt({ environment, id }: BankReceiptRow): AuditedChange {
  return { resourceType: 'bankMoney', resourceId: id, environment };
}

function audited({ reference, amountSantim, channel, withdrawalId, outcome, returnReference }: BankReceiptRow) {
  return {
    reference,
    amount: toBirr(amountSantim),
    ...(channel !== null && { channel }),
    ...(withdrawalId !== null && { withdrawalId }),
    ...(outcome !== null && { outcome }),
    ...(returnReference !== null && { returnReference }),
  };
}

function present({ id, reference, amountSantim, bookedAt, outcomeAt, reversedAt, ...row }: BankReceiptRow) {
  return {
    bankMoneyId: id,
    ...row,
    bankReference: row.kind === 'RECOVERY' ? null : reference,
    providerReference: row.kind === 'RECOVERY' ? reference : null,
    amount: toBirr(amountSantim),
    bookedAt: bookedAt.toISOString(),
    outcomeAt: isoOrNull(outcomeAt),
    reversedAt: isoOrNull(reversedAt),
  };
}
