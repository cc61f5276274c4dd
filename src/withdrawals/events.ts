import type { UnitOfWork } from '../outbox/record.ts';
import { recordEvents } from '../webhooks/events/record.ts';
import { withdrawalSnapshot } from './present.ts';
import type { WithdrawalRow } from './queries.ts';

export type WithdrawalEvent =
  | 'withdrawal.created'
  | 'withdrawal.under_review'
  | 'withdrawal.succeeded'
  | 'withdrawal.failed'
  | 'withdrawal.rejected'
  | 'withdrawal.canceled'
  | 'withdrawal.reversed';

/** Records events with the withdrawal's current snapshot, in the transaction of the transition. */
export async function recordWithdrawalEvents(
  tx: UnitOfWork,
  change: { row: WithdrawalRow; events: readonly WithdrawalEvent[]; at: Date },
): Promise<void> {
  const { row, at } = change;
  await recordEvents(
    tx,
    change.events.map((event) => ({
      event,
      merchantId: row.merchantId,
      environment: row.environment,
      resourceType: 'withdrawal',
      resourceId: row.id,
      data: withdrawalSnapshot(row),
      createdAt: at,
    })),
  );
}
