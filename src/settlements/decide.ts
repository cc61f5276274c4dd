import { requireAnotherPerson } from '../access/separation-of-duties.ts';
import { invalidState } from '../lib/errors.ts';
import { SANDBOX_REASONS } from '../lib/sandbox-reasons.ts';
import { SANDBOX_OPERATOR, sandboxDecision } from '../lib/sandbox-review.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { markCredited, markSent } from './bank-results.ts';
import { lockSettlement, type SettlementRow } from './queries.ts';
import { changeSettlement, ensureSendable, ensureStatus, type SettlementActor } from './transition.ts';

/**
 * REQUESTED → APPROVED: it may be sent. Idempotent for the same operator. Throws NOT_FOUND, and INVALID_STATE when it is not
 * REQUESTED, in live the operator is behind its request (access/separation-of-duties.ts), its merchant is suspended, or its bank
 * account was rejected since the request.
 */
export async function approveSettlement(tx: UnitOfWork, id: string, approver: SettlementActor) {
  const { operatorId: approvedBy, at: approvedAt, notifyWorkflow = true } = approver;
  return changeSettlement(tx, { ...approver, id }, async (row) => {
    const { environment, requestedBy: preparedBy } = row;
    await requireAnotherPerson(tx.trx, approver, { environment, what: 'settlement', preparedBy });
    if (row.status === 'APPROVED' && row.approvedBy === approvedBy) return null;
    ensureStatus(row, 'APPROVED');
    // The sandbox's own approval sends no money: that is rejected when it is sent.
    if (notifyWorkflow) await ensureSendable(tx, row, { verb: 'approved', instead: 'reject the settlement' });
    return { to: 'APPROVED', kind: 'review.approved', changes: { approvedBy, approvedAt } };
  });
}

/** REQUESTED → REJECTED: releases the money to the merchant. Throws NOT_FOUND, and INVALID_STATE from another state. */
export async function rejectSettlement(
  tx: UnitOfWork,
  id: string,
  { reason, ...operator }: SettlementActor & { reason: string },
) {
  return changeSettlement(tx, { ...operator, id }, (row) => {
    if (row.status === 'REJECTED' && row.failure?.message === reason) return null;
    ensureStatus(row, 'REJECTED');
    const changes = { failure: { code: 'REJECTED', message: reason } };
    return { to: 'REJECTED', kind: 'review.rejected', detail: { reason }, changes };
  });
}

/** REQUESTED → CANCELLED by the merchant, with this key. Throws INVALID_STATE from another state. */
export async function cancelSettlement(
  tx: UnitOfWork,
  { id }: Pick<SettlementRow, 'id'>,
  { actor, at }: { actor: string; at: Date },
) {
  return changeSettlement(tx, { id, operatorId: actor, at }, (row) => {
    if (row.status === 'CANCELLED') return null;
    ensureStatus(row, 'CANCELLED');
    return { to: 'CANCELLED', kind: 'settlement.cancelled' };
  });
}

/** The sandbox's own review of a settlement that is still REQUESTED. Called by its workflow, which needs no signal. */
export async function autoDecide(
  { runInTransaction }: { runInTransaction: RunInTransaction },
  id: string,
  at: Date,
): Promise<void> {
  await runInTransaction(async (tx) => {
    const { environment, status, amountSantim } = await lockSettlement(tx, id);
    if (environment !== 'sandbox' || status !== 'REQUESTED') return;
    const sandbox = { operatorId: SANDBOX_OPERATOR, at, notifyWorkflow: false };
    const reason = SANDBOX_REASONS.SANDBOX_AMOUNT_REJECTED;
    const decision = sandboxDecision(amountSantim);
    if (decision === 'approve') await approveSettlement(tx, id, sandbox);
    if (decision === 'reject') await rejectSettlement(tx, id, { ...sandbox, reason });
  });
}

/** Advances a sandbox settlement one step; its dates do not change. Throws INVALID_STATE once it has ended. */
export async function advanceSettlement(tx: UnitOfWork, { id, status }: SettlementRow, at: Date) {
  const sandbox = { operatorId: SANDBOX_OPERATOR, at };
  const bankReference = `SANDBOX-${id.slice(-10)}`;
  if (status === 'REQUESTED') return approveSettlement(tx, id, sandbox);
  if (status === 'APPROVED') return markSent(tx, id, { ...sandbox, bankReference });
  if (status === 'PROCESSING') return markCredited(tx, id, { ...sandbox, bankReference, creditedAt: at });
  throw invalidState(`This settlement is ${status}: it has no further step.`);
}
