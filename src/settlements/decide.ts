import { requireOtherEyes } from '../keys/four-eyes.ts';
import type { Change } from '../lib/outbox.ts';
import { lockSettlement, readSettlement, type SettlementRow } from './model.ts';
import { moveSettlement, type Actor, type Moved } from './move.ts';
import { requireSendable } from './sendable.ts';

export { readSettlement };

/**
 * An operator's yes: it may be sent. Said again by the same operator it changes nothing. Throws NOT_FOUND, and
 * INVALID_STATE when it is not REQUESTED any more, this operator may be who asked for it (keys/four-eyes.ts), its merchant
 * is suspended, or its bank account was rejected since.
 */
export async function approveSettlement(
  change: Change,
  id: string,
  { operatorId, keyId, at, tellWorkflow = true }: Actor,
): Promise<Moved> {
  const row = await lockSettlement(change, id);
  await requireOtherEyes(change.trx, { what: 'settlement', requestedBy: row.requestedBy, operatorId, keyId });
  // The sandbox's own yes is no money on its way yet: that is refused when it is sent.
  if (row.status === 'REQUESTED' && tellWorkflow) {
    await requireSendable(change, row, { verb: 'approved', instead: 'reject the settlement' });
  }
  return moveSettlement(
    change,
    { id, to: 'APPROVED', kind: 'review.approved', detail: {}, by: operatorId, at, tellWorkflow },
    ({ approvedBy }) => approvedBy === operatorId,
  );
}

/**
 * An operator's no: the money is the merchant's again. Throws NOT_FOUND, and INVALID_STATE when it is not REQUESTED any
 * more.
 */
export async function rejectSettlement(
  change: Change,
  id: string,
  { operatorId, at, tellWorkflow = true, reason }: Actor & { reason: string },
): Promise<Moved> {
  const failure = { code: 'REJECTED', message: reason };
  return moveSettlement(
    change,
    { id, to: 'REJECTED', kind: 'review.rejected', detail: { reason }, by: operatorId, at, tellWorkflow, failure },
    (row) => row.failure?.message === reason,
  );
}

/** The merchant takes it back. Throws INVALID_STATE once it was decided. `keyId`: whose wish it is. */
export async function cancelSettlement(
  change: Change,
  { id }: Pick<SettlementRow, 'id'>,
  { keyId, at }: { keyId: string; at: Date },
): Promise<Moved> {
  return moveSettlement(
    change,
    { id, to: 'CANCELLED', kind: 'settlement.cancelled', detail: {}, by: keyId, at },
    () => true,
  );
}
