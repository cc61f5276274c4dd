import type { Knex } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { SANDBOX_OPERATOR, sandboxDecision } from '../lib/sandbox-review.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { approveWithdrawal, rejectWithdrawal } from './decide.ts';
import { readWithdrawal } from './model.ts';

/**
 * The sandbox's own review (lib/sandbox-review.ts), of a sandbox withdrawal that nobody has decided: approves it, rejects it, or
 * leaves it to an operator; with two approvals needed it gives both at once. One that somebody has decided meanwhile
 * is left alone. It is the workflow that asks, so it is not told.
 */
export async function autoDecide(
  deps: { db: Knex; runInTransaction: RunInTransaction },
  withdrawalId: string,
  at: Date,
): Promise<void> {
  const row = await readWithdrawal(deps.db, withdrawalId);
  if (row.environment !== 'sandbox' || row.stage !== 'UNDER_REVIEW') return;
  const decision = sandboxDecision(row.amountSantim);
  if (decision === 'wait') return;
  const decider = { at, notifyWorkflow: false };
  try {
    if (decision === 'reject') {
      const reason = 'The sandbox rejects amounts that end in .13.';
      await deps.runInTransaction((tx) =>
        rejectWithdrawal(tx, row.id, { ...decider, operatorId: SANDBOX_OPERATOR, reason }),
      );
      return;
    }
    await deps.runInTransaction(async (tx) => {
      // An operator may have given one of them meanwhile.
      for (let status = row, given = 1; status.stage === 'UNDER_REVIEW'; given += 1) {
        status = await approveWithdrawal(tx, row.id, { ...decider, operatorId: `${SANDBOX_OPERATOR}-${given}` });
      }
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'INVALID_STATE') throw error;
  }
}
