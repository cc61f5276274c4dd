import type { UnitOfWork } from '../outbox/record.ts';
import { recordEvents } from '../webhooks/events/record.ts';
import { presentTransaction, type TransactionRow } from './present.ts';

export type TransactionEvent =
  | 'payment.created'
  | 'payment.succeeded'
  | 'checkout.completed'
  | 'checkout.failed'
  | 'checkout.canceled'
  | 'checkout.expired';

/** Records the same events for each transaction with its current fields, in the transaction that changed it. */
export async function recordTransactionEvents(
  tx: UnitOfWork,
  change: { transactions: readonly TransactionRow[]; events: readonly TransactionEvent[]; at: Date },
): Promise<void> {
  await recordEvents(
    tx,
    change.transactions.flatMap((row) =>
      change.events.map((event) => ({
        event,
        merchantId: row.merchantId,
        environment: row.environment,
        resourceType: 'transaction',
        resourceId: row.id,
        data: transactionSnapshot(row),
        createdAt: change.at,
      })),
    ),
  );
}

/** `data` of every transaction event: a full snapshot, so that the order of deliveries does not matter. */
export function transactionSnapshot(row: TransactionRow) {
  const { environment, ...fields } = presentTransaction(row);
  return { object: 'transaction', environment, merchantId: row.merchantId, version: row.version, ...fields };
}
