import { z } from 'zod';

import { formatBirr } from '../lib/money.ts';
import { scopeOf } from '../lib/scope.ts';
import { notifyMembers } from '../outbox/mail.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { eventTypes, snapshotFields } from '../webhooks/events/catalogue.ts';
import { recordEvents } from '../webhooks/events/record.ts';
import { settlementSnapshot } from './present.ts';
import type { SettlementRow } from './queries.ts';
import { Settlement } from './schema.ts';

export type SettlementEvent = keyof typeof SETTLEMENT_EVENTS;

/** Records an event with the settlement's current state; once it was sent, mails those who decide about money. */
export async function recordSettlementEvent(
  tx: UnitOfWork,
  { row, event, at }: { row: SettlementRow; event: SettlementEvent; at: Date },
): Promise<void> {
  const about = { ...scopeOf(row), resourceType: 'settlement', resourceId: row.id } as const;
  await recordEvents(tx, [{ event, ...about, data: settlementSnapshot(row), createdAt: at }]);
  if (event !== 'settlement.processing') return;
  const { id: settlementId, requestId, amountSantim, bankCode, accountNumber, expectedUntil } = row;
  await notifyMembers(tx, row, {
    kind: 'settlement.sent',
    roles: ['owner', 'finance'],
    settlementId,
    requestId,
    amount: formatBirr(amountSantim),
    bankCode,
    accountEnd: accountNumber.slice(-4),
    expectedUntil,
  });
}

const { environment: _environment, ...fields } = Settlement.shape;

/** A settlement in its events: a full snapshot, so that the order of events does not matter. */
export const SettlementData = z.strictObject({ object: z.literal('settlement'), ...snapshotFields, ...fields });
export type SettlementData = z.output<typeof SettlementData>;

export const SETTLEMENT_EVENTS = eventTypes(SettlementData, {
  'settlement.requested': 'A settlement was requested: its amount, fee and tax are reserved.',
  'settlement.processing': 'A settlement was sent to the bank.',
  'settlement.completed': 'The bank credited a settlement.',
  'settlement.failed':
    'The bank did not credit a settlement, or sent it back afterwards (returnedAt): its money is available again.',
  'settlement.rejected': 'An operator rejected a settlement: the reserved money is available again.',
  'settlement.canceled': 'The merchant cancelled a settlement before it was decided.',
  'settlement.updated': 'A settlement was approved, or its expected dates changed with the calendar.',
});
