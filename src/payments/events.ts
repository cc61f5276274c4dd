import { z } from 'zod';

import { scopeOf } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { eventTypes, snapshotFields } from '../webhooks/events/catalogue.ts';
import { recordEvents } from '../webhooks/events/record.ts';
import { presentTransaction, type TransactionRow } from './queries.ts';
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

export const TransactionData = z.strictObject({
  object: z.literal('transaction'),
  ...snapshotFields,
  ...Transaction.omit({ environment: true }).shape,
});
export type TransactionData = z.output<typeof TransactionData>;

export const TRANSACTION_EVENTS = eventTypes(TransactionData, {
  'checkout.completed': 'A checkout was paid: its transaction became SUCCESS.',
  'checkout.failed': 'A checkout ended without payment: its transaction became FAILED.',
  'checkout.canceled': 'The customer cancelled: the transaction became CANCELLED.',
  'checkout.expired': 'The session ended before it was paid: the transaction became EXPIRED.',
  'payment.created': 'The customer chose a channel: the first payment attempt of a session was created.',
  'payment.succeeded': 'A payment was confirmed by its provider: the transaction became SUCCESS.',
  'payment.completed': 'Another name of payment.succeeded, sent only to subscriptions that name it; "*" leaves it out.',
});
