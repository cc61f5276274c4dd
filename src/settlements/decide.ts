import { requireIndependentApprover } from '../access/separation-of-duties.ts';
import type { Knex } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { SANDBOX_OPERATOR, sandboxDecision } from '../lib/sandbox-review.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { markCredited, markSent } from './bank-results.ts';
import { lockSettlement, readSettlement, type SettlementRow } from './queries.ts';
import { requireSendable, transitionSettlement, type SettlementActor, type TransitionResult } from './transition.ts';

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

/**
 * The sandbox's own review, of a sandbox settlement that nobody has decided: approves it, rejects it, or leaves it to an
 * operator. One that somebody has decided meanwhile is left alone. It is the workflow that asks, so it is not told.
 */
export async function autoDecide(
  deps: { db: Knex; runInTransaction: RunInTransaction },
  settlementId: string,
  at: Date,
): Promise<void> {
  const row = await readSettlement(deps.db, settlementId);
  if (row.environment !== 'sandbox' || row.status !== 'REQUESTED') return;
  const decision = sandboxDecision(row.amountSantim);
  if (decision === 'wait') return;
  const sandbox = { operatorId: SANDBOX_OPERATOR, at, notifyWorkflow: false };
  const reason = 'The sandbox rejects amounts that end in .13.';
  try {
    await deps.runInTransaction((tx) =>
      decision === 'reject'
        ? rejectSettlement(tx, row.id, { ...sandbox, reason })
        : approveSettlement(tx, row.id, sandbox),
    );
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'INVALID_STATE') throw error;
  }
}

/**
 * Moves a sandbox settlement one step on, as operators and the bank would: REQUESTED, APPROVED, PROCESSING, COMPLETED.
 * Its dates stay what they are. Throws INVALID_STATE once it has ended.
 */
export async function advanceSettlement(tx: UnitOfWork, row: SettlementRow, at: Date): Promise<TransitionResult> {
  if (row.environment !== 'sandbox') throw new Error(`settlement ${row.id} is not of the sandbox`);
  const sandbox = { operatorId: SANDBOX_OPERATOR, at };
  const bankReference = `SANDBOX-${row.id.slice(-10)}`;
  if (row.status === 'REQUESTED') return approveSettlement(tx, row.id, sandbox);
  if (row.status === 'APPROVED') return markSent(tx, row.id, { ...sandbox, bankReference });
  if (row.status === 'PROCESSING') return markCredited(tx, row.id, { ...sandbox, bankReference, creditedAt: at });
  throw new AppError('INVALID_STATE', `This settlement is ${row.status}: it has no further step.`);
}
