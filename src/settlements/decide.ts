import { requireIndependentApprover } from '../access/separation-of-duties.ts';
import type { Database } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { SANDBOX_OPERATOR, sandboxDecision } from '../lib/sandbox-review.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { markCredited, markSent } from './bank-results.ts';
import { lockSettlement, readSettlement, type SettlementRow } from './queries.ts';
import { ensureSendable, transitionSettlement, type SettlementActor, type TransitionResult } from './transition.ts';

/**
 * REQUESTED → APPROVED: it may be sent. Idempotent for the same operator. Throws NOT_FOUND, and INVALID_STATE when it is not
 * REQUESTED, the operator may be its requester (access/separation-of-duties.ts), its merchant is suspended, or its bank
 * account was rejected since the request.
 */
export async function approveSettlement(
  tx: UnitOfWork,
  id: string,
  { operatorId, keyId, at, notifyWorkflow = true }: SettlementActor,
): Promise<TransitionResult> {
  const row = await lockSettlement(tx, id);
  await requireIndependentApprover(tx.trx, { what: 'settlement', requestedBy: row.requestedBy, operatorId, keyId });
  // The sandbox's own approval sends no money: that is rejected when it is sent.
  if (row.status === 'REQUESTED' && notifyWorkflow) {
    await ensureSendable(tx, row, { verb: 'approved', instead: 'reject the settlement' });
  }
  return transitionSettlement(
    tx,
    { id, to: 'APPROVED', kind: 'review.approved', detail: {}, by: operatorId, at, notifyWorkflow },
    ({ approvedBy }) => approvedBy === operatorId,
  );
}

/** REQUESTED → REJECTED: releases the money to the merchant. Throws NOT_FOUND, and INVALID_STATE from another state. */
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

/** REQUESTED → CANCELLED by the merchant, with this key. Throws INVALID_STATE from another state. */
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
 * The sandbox's own review of a sandbox settlement that is still REQUESTED: approves it, rejects it, or leaves it to an
 * operator. Called by its workflow, which needs no signal.
 */
export async function autoDecide(
  deps: { db: Database; runInTransaction: RunInTransaction },
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
 * Advances a sandbox settlement one step, as operators and the bank would: REQUESTED, APPROVED, PROCESSING, COMPLETED.
 * Its dates do not change. Throws INVALID_STATE once it has ended.
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
