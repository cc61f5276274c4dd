import type { Actor } from '../../access/separation-of-duties.ts';
import { DAY_MS } from '../../lib/dates.ts';
import { insertRow } from '../../lib/db.ts';
import { invalidState } from '../../lib/errors.ts';
import type { Santim } from '../../lib/money.ts';
import { SANDBOX_REASONS } from '../../lib/sandbox-reasons.ts';
import { SANDBOX_OPERATOR, sandboxDecision } from '../../lib/sandbox-review.ts';
import type { Environment } from '../../lib/scope.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import { requireNotSuspended } from '../../merchants/operations.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import { stateOf } from '../queries.ts';
import { changePayout } from '../queries.ts';
import { requireUninvolved } from '../resolution.ts';
import type { Transition } from '../rules.ts';
import { transitionPayout } from '../transition.ts';
import { listApprovals, lockWithdrawal, type WithdrawalRow } from './queries.ts';
import { UNSENT_STAGES, type ReviewReason } from './states.ts';
import { WITHDRAWAL } from './withdrawal.ts';
import { withdrawalMessage } from './workflow.ts';

/** What the reasons for a review depend on; policy and history as `withdrawal_preflight` returns them, in JSON. */
export type ReviewFacts = {
  environment: Environment;
  amountSantim: Santim;
  policy: { largeAmountSantim: number; twoPersonSantim: number; perHourMax: number };
  /** The merchant's withdrawals of the last hour, without this one. */
  inLastHour: number;
  paidThereBefore: boolean;
  /** The first payout to the beneficiary under the name now given; null if none. */
  firstPaidThereAsAt: string | null;
  at: Date;
};

/** How long a destination, or another name for one, counts as new after its first payout. */
const NEW_FOR_MS = 2 * DAY_MS;

/** Why this withdrawal is reviewed, and how many operators must approve it; without a reason, none. */
export function assessReview(facts: ReviewFacts): { reasons: ReviewReason[]; approvalsNeeded: 0 | 1 | 2 } {
  const { policy, amountSantim, paidThereBefore, firstPaidThereAsAt: knownSince } = facts;
  const isNew = knownSince !== null && facts.at.getTime() - Date.parse(knownSince) < NEW_FOR_MS;
  const found: [ReviewReason, boolean][] = [
    ['FIRST_TO_BENEFICIARY', !paidThereBefore],
    ['BENEFICIARY_RENAMED', paidThereBefore && knownSince === null],
    ['NEW_BENEFICIARY', isNew],
    ['LARGE_AMOUNT', amountSantim >= policy.largeAmountSantim],
    ['MANY_IN_AN_HOUR', facts.inLastHour >= policy.perHourMax],
    ['SANDBOX_TEST', facts.environment === 'sandbox' && sandboxDecision(amountSantim) !== 'approve'],
  ];
  const reasons = found.flatMap(([reason, applies]) => (applies ? [reason] : []));
  if (reasons.length === 0) return { reasons, approvalsNeeded: 0 };
  return { reasons, approvalsNeeded: amountSantim >= policy.twoPersonSantim ? 2 : 1 };
}

/** Who decides: an operator or the sandbox. */
export type Decider = Actor & {
  at: Date;
  /** false where the workflow itself decides, as in the sandbox. */
  notifyWorkflow?: boolean;
};

/**
 * One operator's approval. The last one needed releases the withdrawal for sending. Throws NOT_FOUND; INVALID_STATE if it
 * is not under review, its merchant is suspended, or the approver has approved it before or, in live, is behind the request
 * (access/separation-of-duties.ts).
 */
export async function approveWithdrawal(
  tx: UnitOfWork,
  id: string,
  { at, notifyWorkflow = true, ...approver }: Decider,
): Promise<WithdrawalRow> {
  const { trx } = tx;
  const { operatorId } = approver;
  const row = await lockWithdrawal(trx, id);
  if (row.stage !== 'UNDER_REVIEW') {
    throw invalidState(`This withdrawal is ${stateOf(row)}: only one under review can be decided.`);
  }
  // The sandbox's own approval needs no check: an approved withdrawal of a suspended merchant is not sent (withdrawal.ts).
  if (notifyWorkflow) {
    const what = 'this withdrawal is not approved';
    await requireNotSuspended(trx, row.merchantId, { what, instead: 'reject the withdrawal' });
  }
  await requireUninvolved(trx, approver, { row, what: 'withdrawal', verb: 'approve' });
  const approvals = await listApprovals(trx, id);
  if (approvals.some((approval) => approval.operatorId === operatorId)) {
    const issue = 'You have already approved this withdrawal. Another operator must approve it too.';
    throw invalidState(issue);
  }
  const approvalsMissing = Math.max(row.approvalsNeeded - approvals.length - 1, 0);
  await insertRow(trx, 'payout_approval', { payoutId: id, operatorId, approvedAt: at });
  await recordTimeline(trx, id, { at, kind: 'review.approved', detail: { approvalsMissing } });
  const stage = approvalsMissing === 0 ? 'CREATED' : row.stage;
  const updated = await changePayout(tx.trx, row, { version: row.version + 1, stage });
  if (approvalsMissing === 0 && notifyWorkflow) await tx.enqueue([withdrawalMessage(id, 'approved')]);
  return updated;
}

/**
 * An operator's rejection: the money is released to the merchant. Possible until the withdrawal is sent, also after
 * its approval. Throws NOT_FOUND, INVALID_STATE.
 */
export async function rejectWithdrawal(
  tx: UnitOfWork,
  id: string,
  { reason, at, notifyWorkflow }: Decider & { reason: string },
): Promise<WithdrawalRow> {
  const failure = { code: 'REJECTED', message: reason, providerCode: '', retryable: false } as const;
  const entry = { kind: 'review.rejected', detail: { reason } };
  return endUnsent(tx, id, { to: 'REJECTED', entry, changes: { failure }, at, notifyWorkflow });
}

/** The merchant's cancellation. Throws INVALID_STATE once it was sent or has ended. */
export async function cancelWithdrawal(tx: UnitOfWork, { id }: WithdrawalRow, at: Date): Promise<WithdrawalRow> {
  return endUnsent(tx, id, { to: 'CANCELLED', entry: { kind: 'withdrawal.cancelled' }, at });
}

/** Ends a withdrawal that was not sent yet. Throws NOT_FOUND, INVALID_STATE. */
async function endUnsent(tx: UnitOfWork, id: string, transition: Transition): Promise<WithdrawalRow> {
  const row = await lockWithdrawal(tx.trx, id);
  const { status, stage } = row;
  if (UNSENT_STAGES.includes(stage)) return transitionPayout(tx, WITHDRAWAL, { ...transition, before: row });
  const state = status === 'PENDING' ? `was sent to its provider already (${stage})` : `is ${status}`;
  const change = transition.to.toLowerCase();
  throw invalidState(`This withdrawal ${state}: only one that was not sent yet can be ${change}.`);
}

/**
 * The sandbox's own review (lib/sandbox-review.ts): approves or rejects a sandbox withdrawal that is still under review, or
 * leaves it to an operator. Gives both approvals where two are needed. Called by the workflow, so no signal is sent.
 */
export async function autoDecide(
  deps: { runInTransaction: RunInTransaction },
  withdrawalId: string,
  at: Date,
): Promise<void> {
  const decider = { at, notifyWorkflow: false, operatorId: SANDBOX_OPERATOR };
  await deps.runInTransaction(async (tx) => {
    let row = await lockWithdrawal(tx.trx, withdrawalId);
    const decision = row.environment === 'sandbox' ? sandboxDecision(row.amountSantim) : 'wait';
    if (row.stage === 'UNDER_REVIEW' && decision === 'reject') {
      const reason = SANDBOX_REASONS.SANDBOX_AMOUNT_REJECTED;
      await rejectWithdrawal(tx, withdrawalId, { ...decider, reason });
    }
    // An operator may have given one of two approvals.
    for (let given = 1; row.stage === 'UNDER_REVIEW' && decision === 'approve'; given += 1) {
      row = await approveWithdrawal(tx, withdrawalId, { ...decider, operatorId: `${SANDBOX_OPERATOR}-${given}` });
    }
  });
}
