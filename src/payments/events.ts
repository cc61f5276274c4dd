import { z } from 'zod';

import { scopeOf } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { snapshotFields } from '../webhooks/events/catalogue.ts';
import { recordEvents } from '../webhooks/events/record.ts';
import { presentTransaction, type TransactionRow } from './present.ts';
import { Transaction } from './transaction-schema.ts';

/** The alias payment.completed is recorded with payment.succeeded. */
export type TransactionEvent = Exclude<keyof typeof TRANSACTION_EVENTS, 'payment.completed'>;

/** Records the same events for each transaction with its current fields, in the transaction that changed it. */
export async function recordTransactionEvents(
  tx: UnitOfWork,
  change: { transactions: readonly TransactionRow[]; events: readonly TransactionEvent[]; at: Date },
): Promise<void> {
  const events = change.transactions.flatMap((row) => {
    const about = { ...scopeOf(row), resourceType: 'transaction', resourceId: row.id, createdAt: change.at };
    return change.events.map((event) => ({ ...about, event, data: transactionSnapshot(row) }));
  });
  await recordEvents(tx, events);
}

/** `data` of every transaction event: a full snapshot, so that the order of deliveries does not matter. */
export function transactionSnapshot(row: TransactionRow) {
  const { environment, ...fields } = presentTransaction(row);
  return { object: 'transaction', environment, merchantId: row.merchantId, version: row.version, ...fields };
}

/** A transaction in its events: a full snapshot, so that the order of events does not matter. */
export const TransactionData = z.strictObject({
  object: z.literal('transaction'),
  ...snapshotFields,
  ...Transaction.omit({ environment: true }).shape,
});
export type TransactionData = z.output<typeof TransactionData>;

const paid: TransactionData = {
  object: 'transaction',
  environment: 'sandbox',
  merchantId: 'mrc_01JD8Q4T5V6W7X8Y9Z0A1B2C3D',
  version: 3,
  checkoutOrderNo: 'ORDER-1042',
  amount: 1250.5,
  currency: 'ETB',
  transactionThrough: 'telebirr',
  transactionDate: '2025-01-15',
  type: 'API',
  status: 'SUCCESS',
  createdAt: '2025-01-15T09:30:00.000Z',
  sessionId: 'cs_01JHMW8T5V6W7X8Y9Z0A1B2C3D',
  transactionId: 'txn_01JHMW8T5V6W7X8Y9Z0A1B2C3E',
  customerName: 'Abebe Bikila',
  customerPhone: '251911000000',
  fee: 31.26,
  feeTax: 4.69,
  netAmount: 1214.55,
  providerReference: 'CAF5P1QZ8L',
  completedAt: '2025-01-15T09:31:12.000Z',
};

const { fee: _fee, feeTax: _tax, netAmount: _net, providerReference: _reference, completedAt: _at, ...unpaid } = paid;
const failure = {
  code: 'DECLINED',
  message: 'The customer declined the payment.',
  retryable: false,
  providerCode: 'PAY_FAILED',
};

const event = (description: string, example: TransactionData) => ({ description, data: TransactionData, example });

/** Every event of a transaction: its meaning, the schema of its `data` and an example. */
export const TRANSACTION_EVENTS = {
  'checkout.completed': event('A checkout was paid: its transaction became SUCCESS.', paid),
  'checkout.failed': event('A checkout ended without payment: its transaction became FAILED.', {
    ...unpaid,
    status: 'FAILED',
    failure,
  }),
  'checkout.canceled': event('The customer cancelled: the transaction became CANCELLED.', {
    ...unpaid,
    status: 'CANCELLED',
  }),
  'checkout.expired': event('The session ended before it was paid: the transaction became EXPIRED.', {
    ...unpaid,
    version: 2,
    status: 'EXPIRED',
    transactionThrough: null,
  }),
  'payment.created': event('The customer chose a channel: the first payment attempt of a session was created.', {
    ...unpaid,
    version: 2,
    status: 'PENDING',
  }),
  'payment.succeeded': event('A payment was confirmed by its provider: the transaction became SUCCESS.', paid),
  'payment.completed': event(
    'Another name of payment.succeeded, sent only to subscriptions that name it; "*" leaves it out.',
    paid,
  ),
} as const;
