import { requireIndependentApprover } from '../access/separation-of-duties.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { lockSettlement, type SettlementRow } from './model.ts';
import { requireSendable } from './sendable.ts';
import { transitionSettlement, type SettlementActor, type TransitionResult } from './transition.ts';

/**
 * An operator's yes: it may be sent. Said again by the same operator it changes nothing. Throws NOT_FOUND, and
 * INVALID_STATE when it is not REQUESTED any more, this operator may be who asked for it (keys/four-eyes.ts), its merchant
 * is suspended, or its bank account was rejected since.
 */
export async function approveSettlement(
  tx: UnitOfWork,
  id: string,
  { operatorId, keyId, at, notifyWorkflow = true }: SettlementActor,
): Promise<TransitionResult> {
  const row = await lockSettlement(tx, id);
  await requireIndependentApprover(tx.trx, { what: 'settlement', requestedBy: row.requestedBy, operatorId, keyId });
  // The sandbox's own yes is no money on its way yet: that is refused when it is sent.
  if (row.status === 'REQUESTED' && notifyWorkflow) {
    await requireSendable(tx, row, { verb: 'approved', instead: 'reject the settlement' });
  }
  return transitionSettlement(
    tx,
    { id, to: 'APPROVED', kind: 'review.approved', detail: {}, by: operatorId, at, notifyWorkflow },
    ({ approvedBy }) => approvedBy === operatorId,
  );
}

/**
 * An operator's no: the money is the merchant's again. Throws NOT_FOUND, and INVALID_STATE when it is not REQUESTED any
 * more.
 */
export async function rejectSettlement(
  tx: UnitOfWork,
  id: string,
  { operatorId, at, notifyWorkflow = true, reason }: SettlementActor & { reason: string },
): Promise<TransitionResult> {
  const failure = { code: 'REJECTED', message: reason };
  return transitionSettlement(
    tx,
    { id, to: 'REJECTED', kind: 'review.rejected', detail: { reason }, by: operatorId, at, notifyWorkflow, failure },
    (row) => row.failure?.message === reason,
  );
}

/** The merchant takes it back. Throws INVALID_STATE once it was decided. `keyId`: whose wish it is. */
export async function cancelSettlement(
  tx: UnitOfWork,
  { id }: Pick<SettlementRow, 'id'>,
  { keyId, at }: { keyId: string; at: Date },
): Promise<TransitionResult> {
  return transitionSettlement(
    tx,
    { id, to: 'CANCELLED', kind: 'settlement.cancelled', detail: {}, by: keyId, at },
    () => true,
  );
}
