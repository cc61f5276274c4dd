import { z } from 'zod';

import { scopeOf } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { eventTypes, snapshotFields } from '../../webhooks/events/catalogue.ts';
import { recordEvents } from '../../webhooks/events/record.ts';
import type { RefundRow } from './queries.ts';
import { presentRefund, Refund } from './schema.ts';

/** Records an event with the refund's current snapshot, in the transaction of the change. */
export async function recordRefundEvent(
  tx: UnitOfWork,
  { row, event, at }: { row: RefundRow; event: keyof typeof REFUND_EVENTS; at: Date },
): Promise<void> {
  const { environment, ...fields } = presentRefund(row);
  const data = { object: 'refund', environment, merchantId: row.merchantId, version: row.version, ...fields };
  await recordEvents(tx, [{ event, ...scopeOf(row), resourceType: 'refund', resourceId: row.id, data, createdAt: at }]);
}

/** A refund in its events: a full snapshot, so that the order of events does not matter. */
const RefundData = z.strictObject({
  object: z.literal('refund'),
  ...snapshotFields,
  ...Refund.omit({ environment: true }).shape,
});

export const REFUND_EVENTS = eventTypes(RefundData, {
  'refund.created': 'A refund of a payment was requested: its money is reserved.',
  'refund.succeeded': 'A refund was paid back to the payer.',
  'refund.failed': 'A refund was not paid back: the reserved money is available again.',
});
