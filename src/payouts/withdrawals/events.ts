import { z } from 'zod';

import { scopeOf } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { eventTypes, snapshotFields } from '../../webhooks/events/catalogue.ts';
import { recordEvents } from '../../webhooks/events/record.ts';
import { withdrawalSnapshot } from './present.ts';
import type { WithdrawalRow } from './queries.ts';
import { Withdrawal } from './schema.ts';

export type WithdrawalEvent = keyof typeof WITHDRAWAL_EVENTS;

/** Records events with the withdrawal's current snapshot, in the transaction of the transition. */
export async function recordWithdrawalEvents(
  tx: UnitOfWork,
  { row, events, at }: { row: WithdrawalRow; events: readonly WithdrawalEvent[]; at: Date },
): Promise<void> {
  const about = { ...scopeOf(row), resourceType: 'withdrawal', resourceId: row.id, data: withdrawalSnapshot(row) };
  const recorded = events.map((event) => ({ event, ...about, createdAt: at }));
  await recordEvents(tx, recorded);
}

const WithdrawalData = z.strictObject({
  object: z.literal('withdrawal'),
  ...snapshotFields,
  ...Withdrawal.omit({ environment: true }).shape,
});

export const WITHDRAWAL_EVENTS = eventTypes(WithdrawalData, {
  'withdrawal.created': 'A withdrawal was requested: its amount, fee and tax are reserved.',
  'withdrawal.under_review': 'A withdrawal is reviewed before it is sent; reviewReasons has the reasons.',
  'withdrawal.succeeded': 'A withdrawal was paid out.',
  'withdrawal.failed': 'A withdrawal was not paid out: the reserved money is available again.',
  'withdrawal.rejected': 'A withdrawal was rejected in review: the reserved money is available again.',
  'withdrawal.canceled': 'The merchant cancelled a withdrawal before it was sent.',
  'withdrawal.reversed': 'A withdrawal that was paid out came back: amount, fee and tax are available again.',
});
