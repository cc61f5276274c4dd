import { z } from 'zod';

import { scopeOf } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { snapshotFields } from '../webhooks/events/catalogue.ts';
import { recordEvents } from '../webhooks/events/record.ts';
import { settlementSnapshot } from './present.ts';
import type { SettlementRow } from './queries.ts';
import { Settlement } from './schema.ts';

export type SettlementEvent = keyof typeof SETTLEMENT_EVENTS;

/** Records an event with the settlement's current state, in the transaction that changed it. */
export async function recordSettlementEvent(
  tx: UnitOfWork,
  { row, event, at }: { row: SettlementRow; event: SettlementEvent; at: Date },
): Promise<void> {
  const about = { ...scopeOf(row), resourceType: 'settlement', resourceId: row.id } as const;
  await recordEvents(tx, [{ event, ...about, data: settlementSnapshot(row), createdAt: at }]);
}

const { environment: _environment, ...fields } = Settlement.shape;

/** A settlement in its events: a full snapshot, so that the order of events does not matter. */
export const SettlementData = z.strictObject({ object: z.literal('settlement'), ...snapshotFields, ...fields });
export type SettlementData = z.output<typeof SettlementData>;

const requested: SettlementData = {
  object: 'settlement',
  environment: 'sandbox',
  merchantId: 'mrc_01JD8Q4T5V6W7X8Y9Z0A1B2C3D',
  version: 1,
  settlementId: 'stl_01JHMW8T5V6W7X8Y9Z0A1B2C3H',
  requestId: 'SETTLE-2025-01-17',
  amount: 48_250.75,
  fee: 0,
  feeTax: 0,
  totalDebit: 48_250.75,
  currency: 'ETB',
  bankAccount: { bankCode: 'CBE', accountNumber: '*********6789', accountName: 'Abyssinia Coffee PLC' },
  status: 'REQUESTED',
  effectiveDate: '2025-01-17',
  earliestExpected: '2025-01-20',
  expectedBy: '2025-01-21',
  dateReasons: [
    { date: '2025-01-18', reason: 'Saturday 18 January 2025', provisional: false },
    { date: '2025-01-19', reason: 'Timkat, Sunday 19 January 2025', provisional: false },
  ],
  requestedAt: '2025-01-17T06:30:00.000Z',
};
const sent = { bankReference: 'FT25017QX9K2', sentAt: '2025-01-17T11:05:00.000Z' };
const completedAt = '2025-01-20T06:10:00.000Z';
const mourning = { date: '2025-01-21', reason: 'National mourning, Tuesday 21 January 2025', provisional: false };

/** An event of a settlement: its meaning and an example of its `data`, which differs from that of the request. */
const event = (description: string, changes: Partial<SettlementData>) => ({
  description,
  data: SettlementData,
  // In the order of the schema, as events have it.
  example: SettlementData.parse({ ...requested, ...changes }),
});

/** Every event of a settlement: its meaning, the schema of its `data` and an example. */
export const SETTLEMENT_EVENTS = {
  'settlement.requested': event('A settlement was requested: its amount, fee and tax are reserved.', {}),
  'settlement.processing': event('A settlement was sent to the bank.', { version: 3, status: 'PROCESSING', ...sent }),
  'settlement.completed': event('The bank credited a settlement.', {
    version: 4,
    status: 'COMPLETED',
    ...sent,
    creditedAt: '2025-01-20T05:45:00.000Z',
    creditedOn: '2025-01-20',
    completedAt,
  }),
  'settlement.failed': event(
    'The bank did not credit a settlement, or sent it back afterwards (returnedAt): its money is available again.',
    {
      version: 4,
      status: 'FAILED',
      failure: { code: 'BANK_REFUSED', message: 'The account is closed.' },
      ...sent,
      completedAt,
    },
  ),
  'settlement.rejected': event('An operator rejected a settlement: the reserved money is available again.', {
    version: 2,
    status: 'REJECTED',
    failure: { code: 'REJECTED', message: 'The account is under investigation.' },
    completedAt: '2025-01-17T08:00:00.000Z',
  }),
  'settlement.canceled': event('The merchant cancelled a settlement before it was decided.', {
    version: 2,
    status: 'CANCELLED',
    completedAt: '2025-01-17T07:00:00.000Z',
  }),
  'settlement.updated': event('A settlement was approved, or its expected dates changed with the calendar.', {
    version: 3,
    status: 'APPROVED',
    expectedBy: '2025-01-22',
    dateReasons: [...requested.dateReasons, mourning],
  }),
} as const;
