import type { Knex } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { SANDBOX_OPERATOR, sandboxDecision } from '../lib/sandbox-review.ts';
import type { UnitOfWork, RunInTransaction } from '../outbox/record.ts';
import { markCredited, markSent } from './bank-results.ts';
import { approveSettlement, rejectSettlement } from './decide.ts';
import { readSettlement, type SettlementRow } from './model.ts';
import type { TransitionResult } from './transition.ts';

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
