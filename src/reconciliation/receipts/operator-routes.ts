import { z } from 'zod';

import type { AuditContext, AuditedChange } from '../../access/audit.ts';
import { operatorListRoute, operatorReadRoute, operatorRoute } from '../../access/operator-route.ts';
import type { Route } from '../../http/route.ts';
import type { Database, Trx } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import { toBirr, toSantim, type Santim } from '../../lib/money.ts';
import type { Environment } from '../../lib/scope.ts';
import type { Channel } from '../../merchants/channels/channel.ts';
import { needsTwoPeople } from '../../merchants/review-policy.ts';
import * as receipts from './operations.ts';
import type { BankReceiptRow } from './operations.ts';
import * as schema from './schema.ts';

/** Receipts, which operators book by the bank's or the provider's reference. */
export function receiptOperatorRoutes({ db }: { db: Database }): Route[] {
  return [
    operatorListRoute('GET /api/ops/receipts', {
      operationId: 'opsListReceipts',
      cli: {
        name: 'receipts list',
        columns: 'bookedAt receiptId kind amount bankReference providerReference outcome',
      },
      summary: 'List receipts, newest first',
      query: schema.ReceiptQuery,
      item: schema.Receipt,
      name: 'Receipts',
      list: (query, page) => receipts.listReceipts(db, query, page),
      present,
    }),
    operatorReadRoute('GET /api/ops/receipts/:receiptId', {
      operationId: 'opsGetReceipt',
      summary: 'Get a receipt',
      params: schema.ReceiptParams,
      responses: { 200: schema.Receipt },
      handle: async ({ params: { receiptId } }) => {
        const receipt = found(await receipts.findReceipt(db, receiptId), 'receipt');
        return { message: 'Receipt retrieved', data: present(receipt) };
      },
    }),
    ...bookingRoutes(),
    operatorRoute('POST /api/ops/receipts/:receiptId/decide', {
      operationId: 'opsDecideReceipt',
      cli: { name: 'receipts decide', confirm: '/api/ops/receipts/{receiptId}' },
      summary: 'Allocate or return a receipt in suspense, or reverse a wrong booking',
      description:
        'CORRECTED reverses everything that was booked of it. The receipt can then be booked again under its trace id.',
      action: 'receipt.decide',
      secondPerson: async ({ tx: { trx } }, { params }) =>
        isLarge(trx, await receipts.findReceipt(trx, params.receiptId)),
      params: schema.ReceiptParams,
      body: schema.ReceiptDecision,
      responses: { 200: schema.Receipt },
      errors: ['INVALID_STATE', 'DUPLICATE_REFERENCE'],
      run: async ({ tx, at }, { params, body }) => {
        const { reason: _, ...fields } = body;
        // The schema has checked that the fields are those of the decision.
        const decision = fields as receipts.ReceiptDecision;
        const { money, before, changed } = await receipts.decideReceipt(tx, params.receiptId, { decision, at });
        const after = { ...audited(money), as: decision.as };
        const audit = changed ? { ...auditOfReceipt(money), before: audited(before), after } : null;
        return { message: 'Booked', data: present(money), audit };
      },
    }),
  ];
}

function bookingRoutes(): Route[] {
  const booking = { responses: { 200: schema.Receipt, 201: schema.Receipt } };
  const received = {
    ...booking,
    description: "The bank's trace id is booked once.",
    errors: ['DUPLICATE_REFERENCE' as const],
    secondPerson: async ({ tx }: AuditContext, { body }: { body: Received }) => isLarge(tx.trx, santimOf(body)),
    run: async ({ tx, at }: AuditContext, { body }: { body: Received }) =>
      recorded(await receipts.recordReceipt(tx, { ...body, ...santimOf(body), at })),
  };
  const recovered = {
    ...booking,
    action: 'receipt.record-recovery' as const,
    errors: ['NOT_FOUND' as const, 'INVALID_STATE' as const, 'DUPLICATE_REFERENCE' as const],
    secondPerson: async ({ tx: { trx } }: AuditContext, { body }: { body: Recovered }) =>
      isLarge(trx, await receipts.lockOverpaid(trx, orderOf(body))),
    run: async ({ tx, at }: AuditContext, { body }: { body: Recovered }) =>
      recorded(await receipts.recordRecovery(tx, { of: orderOf(body), reference: body.reference, at })),
  };
  return [
    operatorRoute('POST /api/ops/receipts/remittances', {
      ...received,
      operationId: 'opsRecordRemittance',
      cli: { name: 'receipts record-remittance', confirm: true },
      summary: 'Book a remittance: a provider has paid what it owed, or a part of it, to our bank account',
      action: 'receipt.record-remittance',
      body: schema.Remittance,
    }),
    operatorRoute('POST /api/ops/receipts/unallocated', {
      ...received,
      operationId: 'opsRecordUnallocated',
      cli: { name: 'receipts record-unallocated', confirm: true },
      summary: 'Book a receipt on our bank account that cannot be allocated yet; it is held in suspense',
      action: 'receipt.record-unallocated',
      body: schema.UnallocatedReceipt,
    }),
    operatorRoute('POST /api/ops/receipts/recoveries', {
      ...recovered,
      operationId: 'opsRecordRecovery',
      cli: { name: 'receipts record-recovery', confirm: '/api/ops/withdrawals/{withdrawalId}' },
      summary: 'Book that a provider has recovered what it had overpaid of a withdrawal: the provider owes it again',
      body: schema.Recovery,
    }),
    operatorRoute('POST /api/ops/receipts/refund-recoveries', {
      ...recovered,
      operationId: 'opsRecordRefundRecovery',
      cli: { name: 'receipts record-refund-recovery', confirm: '/api/ops/refunds/{refundId}' },
      summary: 'Book that a provider has recovered what it had overpaid of a refund: the provider owes it again',
      body: schema.RefundRecovery,
    }),
  ];
}

type Money = { environment: Environment; amountSantim: Santim };
type Received = z.output<typeof schema.UnallocatedReceipt> & { channel?: Channel };

type Recovered = z.output<typeof schema.Recovery> | z.output<typeof schema.RefundRecovery>;

function orderOf(body: Recovered): receipts.Order {
  return 'refundId' in body ? { kind: 'refund', id: body.refundId } : { kind: 'withdrawal', id: body.withdrawalId };
}

function santimOf({ environment, amount }: Received): Money {
  return { environment, amountSantim: toSantim(amount) };
}

/** Whether money on the platform's own accounts, which belongs to no merchant, needs two operators. */
async function isLarge(trx: Trx, money: Money | undefined): Promise<boolean> {
  return money !== undefined && needsTwoPeople(trx, { ...money, merchantId: null });
}

function recorded({ money, isNew }: receipts.RecordedReceipt) {
  return {
    status: isNew ? 201 : 200,
    message: isNew ? 'Booked' : 'It was booked before',
    data: present(money),
    audit: isNew ? { ...auditOfReceipt(money), after: audited(money) } : null,
  };
}

function auditOfReceipt({ environment, id }: BankReceiptRow): AuditedChange {
  return { resourceType: 'receipt', resourceId: id, environment };
}

/** The overpaid payout of a recovery, under the name of its kind. */
const payoutOf = ({ payoutId }: BankReceiptRow) => {
  const isRefund = payoutId?.startsWith('rfd_') === true;
  return { withdrawalId: isRefund ? null : payoutId, refundId: isRefund ? payoutId : null };
};

function audited(row: BankReceiptRow) {
  const { reference, amountSantim, channel, outcome, returnReference } = row;
  const optional = Object.entries({ channel, ...payoutOf(row), outcome, returnReference });
  const given = optional.filter(([, value]) => value !== null);
  return { reference, amount: toBirr(amountSantim), ...Object.fromEntries(given) };
}

function present(row: BankReceiptRow) {
  const isRecovery = row.kind === 'RECOVERY';
  return {
    ...row,
    ...payoutOf(row),
    receiptId: row.id,
    bankReference: isRecovery ? null : row.reference,
    providerReference: isRecovery ? row.reference : null,
    amount: toBirr(row.amountSantim),
  };
}
