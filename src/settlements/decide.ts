import { requireOtherEyes } from '../keys/four-eyes.ts';
import type { Change } from '../lib/outbox.ts';
import { readSettlement, type SettlementRow } from './model.ts';
import { moveSettlement, type Actor, type Moved } from './move.ts';

export { readSettlement };

/**
 * An operator's yes: it may be sent. Said again by the same operator it changes nothing. Throws NOT_FOUND, and
 * INVALID_STATE when it is not REQUESTED any more, or this operator has asked for it or made the key that did.
 */
export async function approveSettlement(
  change: Change,
  id: string,
  { operatorId, at, tellWorkflow = true }: Actor,
): Promise<Moved> {
  const { requestedBy } = await readSettlement(change.trx, id);
  await requireOtherEyes(change.trx, { what: 'settlement', requestedBy, operatorId });
  return moveSettlement(
    change,
    { id, to: 'APPROVED', kind: 'review.approved', detail: {}, by: operatorId, at, tellWorkflow },
    (row) => row.approvedBy === operatorId,
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
