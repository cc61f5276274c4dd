import { requireAnotherPerson } from '../access/separation-of-duties.ts';
import type { Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { SANDBOX_OPERATOR, sandboxDecision } from '../lib/sandbox-review.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { markCredited, markSent } from './bank-results.ts';
import { lockSettlement, readSettlement, type SettlementRow } from './queries.ts';
import {
  ensureSendable,
  ensureStatus,
  transitionSettlement,
  type SettlementActor,
  type TransitionResult,
} from './transition.ts';

/**
 * REQUESTED → APPROVED: it may be sent. Idempotent for the same operator. Throws NOT_FOUND, and INVALID_STATE when it is not
 * REQUESTED, in live the operator is behind its request (access/separation-of-duties.ts), its merchant is suspended, or its bank
 * account was rejected since the request.
 */
export async function approveSettlement(
  tx: UnitOfWork,
  id: string,
  { at, notifyWorkflow = true, ...approver }: SettlementActor,
): Promise<TransitionResult> {
  const { operatorId } = approver;
  const row = await lockSettlement(tx, id);
  const { environment, requestedBy: preparedBy } = row;
  await requireAnotherPerson(tx.trx, approver, { environment, what: 'settlement', preparedBy });
  if (row.status === 'APPROVED' && row.approvedBy === operatorId) return { settlement: row, changed: false };
  ensureStatus(row, 'APPROVED');
  // The sandbox's own approval sends no money: that is rejected when it is sent.
  if (notifyWorkflow) await ensureSendable(tx, row, { verb: 'approved', instead: 'reject the settlement' });
  const changes = { approvedBy: operatorId, approvedAt: at };
  const approved = { to: 'APPROVED', kind: 'review.approved', by: operatorId, at, notifyWorkflow, changes } as const;
  return transitionSettlement(tx, row, approved);
}

/** REQUESTED → REJECTED: releases the money to the merchant. Throws NOT_FOUND, and INVALID_STATE from another state. */
export async function rejectSettlement(
  tx: UnitOfWork,
  id: string,
  { operatorId, at, notifyWorkflow, reason }: SettlementActor & { reason: string },
): Promise<TransitionResult> {
  const row = await lockSettlement(tx, id);
  if (row.status === 'REJECTED' && row.failure?.message === reason) return { settlement: row, changed: false };
  ensureStatus(row, 'REJECTED');
  const changes = { failure: { code: 'REJECTED', message: reason } };
  const rejected = {
    to: 'REJECTED',
    kind: 'review.rejected',
    detail: { reason },
    by: operatorId,
    at,
    changes,
  } as const;
  return transitionSettlement(tx, row, { ...rejected, notifyWorkflow });
}

/** REQUESTED → CANCELLED by the merchant, with this key. Throws INVALID_STATE from another state. */
export async function cancelSettlement(
  tx: UnitOfWork,
  { id }: Pick<SettlementRow, 'id'>,
  { keyId, at }: { keyId: string; at: Date },
): Promise<TransitionResult> {
  const row = await lockSettlement(tx, id);
  if (row.status === 'CANCELLED') return { settlement: row, changed: false };
  ensureStatus(row, 'CANCELLED');
  return transitionSettlement(tx, row, { to: 'CANCELLED', kind: 'settlement.cancelled', by: keyId, at });
}

/**
 * The sandbox's own review of a sandbox settlement that is still REQUESTED: approves it, rejects it, or leaves it to an
 * operator. Called by its workflow, which needs no signal.
 */
export async function autoDecide(
  deps: { db: Queryable; runInTransaction: RunInTransaction },
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
