import type { UnitOfWork } from '../outbox/record.ts';
import { recordEvents } from '../webhooks/events/record.ts';
import { settlementSnapshot } from './present.ts';
import type { SettlementRow } from './queries.ts';

export type SettlementEvent =
  | 'settlement.requested'
  | 'settlement.processing'
  | 'settlement.completed'
  | 'settlement.failed'
  | 'settlement.rejected'
  | 'settlement.canceled'
  | 'settlement.updated';

/** Records an event with the settlement's current state, in the transaction that changed it. */
export async function recordSettlementEvent(
  tx: UnitOfWork,
  change: { row: SettlementRow; event: SettlementEvent; at: Date },
): Promise<void> {
  const { row, event, at } = change;
  await recordEvents(tx, [
    {
      event,
      merchantId: row.merchantId,
      environment: row.environment,
      resourceType: 'settlement',
      resourceId: row.id,
      data: settlementSnapshot(row),
      createdAt: at,
    },
  ]);
}
