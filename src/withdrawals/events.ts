import { z } from 'zod';

import { scopeOf } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { snapshotFields } from '../webhooks/events/catalogue.ts';
import { recordEvents } from '../webhooks/events/record.ts';
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

/** A withdrawal in its events: a full snapshot, so that the order of events does not matter. */
export const WithdrawalData = z.strictObject({
  object: z.literal('withdrawal'),
  ...snapshotFields,
  ...Withdrawal.omit({ environment: true }).shape,
});
export type WithdrawalData = z.output<typeof WithdrawalData>;

const requested: WithdrawalData = {
  object: 'withdrawal',
  environment: 'sandbox',
  merchantId: 'mrc_01JD8Q4T5V6W7X8Y9Z0A1B2C3D',
  version: 1,
  withdrawalRequestId: 'wd_01JHMW8T5V6W7X8Y9Z0A1B2C3G',
  requestId: 'PAYROLL-2025-01-7',
  amount: 1500,
  fee: 5,
  feeTax: 0.75,
  totalDebit: 1505.75,
  currency: 'ETB',
  channel: 'TELEBIRR',
  destination: { phone: '********0001', accountName: 'Abebe Bikila' },
  status: 'PENDING',
  stage: 'CREATED',
  pendingReason: 'It is about to be sent to the provider.',
  limitsApplied: { min: 1, max: 75_000, daily: 750_000, usedTodayBefore: 0 },
  requestedAt: '2025-01-15T09:30:00.000Z',
};
const { stage: _stage, pendingReason: _pendingReason, ...ended } = requested;
const completedAt = '2025-01-15T09:30:09.000Z';
const paid = { ...ended, version: 3, status: 'SUCCESS', providerReference: 'CBK7Q2M9XA', completedAt } as const;

const described = (description: string, example: WithdrawalData) => ({
  description,
  data: WithdrawalData,
  example,
});

/** Every event of a withdrawal: its meaning, the schema of its `data` and an example. */
export const WITHDRAWAL_EVENTS = {
  'withdrawal.created': described('A withdrawal was requested: its amount, fee and tax are reserved.', requested),
  'withdrawal.under_review': described('A withdrawal is reviewed before it is sent; reviewReasons has the reasons.', {
    ...requested,
    stage: 'UNDER_REVIEW',
    pendingReason: 'It is being reviewed before it is sent.',
    reviewReasons: ['FIRST_TO_BENEFICIARY'],
  }),
  'withdrawal.succeeded': described('A withdrawal was paid out.', paid),
  'withdrawal.failed': described('A withdrawal was not paid out: the reserved money is available again.', {
    ...ended,
    version: 3,
    status: 'FAILED',
    completedAt,
    failure: {
      code: 'INVALID_PAYEE',
      message: 'telebirr does not know this phone number.',
      providerCode: 'INVALID_PAYEE',
      retryable: false,
    },
  }),
  'withdrawal.rejected': described('A withdrawal was rejected in review: the reserved money is available again.', {
    ...ended,
    version: 2,
    status: 'REJECTED',
    completedAt,
    reviewReasons: ['LARGE_AMOUNT'],
    failure: { code: 'REJECTED', message: 'The account is not the supplier’s.', providerCode: '', retryable: false },
  }),
  'withdrawal.canceled': described('The merchant cancelled a withdrawal before it was sent.', {
    ...ended,
    version: 2,
    status: 'CANCELLED',
    completedAt,
  }),
  'withdrawal.reversed': described(
    'A withdrawal that was paid out came back: amount, fee and tax are available again.',
    { ...paid, version: 4, status: 'REVERSED', reversedAt: '2025-01-15T10:02:41.000Z' },
  ),
} as const;
