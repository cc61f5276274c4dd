import type { Actor } from '../../access/separation-of-duties.ts';
import { first, rows } from '../../lib/db.ts';
import { invalid, invalidState } from '../../lib/errors.ts';
import { tooBig } from '../../lib/issues.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { isLeased } from '../../providers/lease.ts';
import { stateOf } from '../queries.ts';
import { isSlow, readPaid, requireUninvolved, requireUnusedReference, type Resolution } from '../resolution.ts';
import { isContradicted, listCases, lockWithdrawal, updateWithdrawal } from './queries.ts';
import { wasContradicted, writeCase, type PayoutCase, type WithdrawalRow } from './queries.ts';
import { transitionWithdrawal } from './transition.ts';

/** `missing`: how many more operators must give the same resolution. `isNew`: false for a repeat. */
export type Resolved = { row: WithdrawalRow; missing: number; isNew: boolean };

type Decision = Resolution & { paidSantim: Santim };
/** A withdrawal, its cases, and the time at which operators look at it. */
export type Subject = { row: WithdrawalRow; cases: readonly PayoutCase[]; at: Date };

/**
 * Resolves a withdrawal whose outcome its provider leaves open (UNKNOWN, or SUBMITTED for a day), or one that has ended
 * and that its provider contradicts. Needs the same resolution from as many operators as its approval did. An amount not
 * paid is the merchant's again; an amount overpaid, which only the provider's report can establish, is posted to suspense.
 * FAILED becomes SUCCESS and is taken from the balance again; SUCCESS that was never paid becomes REVERSED. Operators
 * may correct a resolution. A provider reference pays one withdrawal only, and no money is returned within an hour.
 * Idempotent. Throws NOT_FOUND, VALIDATION_ERROR, INVALID_STATE, INSUFFICIENT_BALANCE.
 */
export async function resolveWithdrawal(
  tx: UnitOfWork,
  withdrawalId: string,
  { operatorId, notices = [], at, outcome, providerReference, reason, ...input }: Resolution & Actor & { at: Date },
): Promise<Resolved> {
  const { trx } = tx;
  const row = await lockWithdrawal(trx, withdrawalId);
  const cases = await listCases(trx, withdrawalId);
  const paidSantim = readPaid(row, { ...input, outcome });
  const decision: Decision = { outcome, providerReference, paidSantim, reason };
  const subject = { row, cases, at };
  const latest = cases.findLast((one) => one.decision !== null);
  const isRepeat =
    latest?.decision === outcome &&
    latest.providerReference === providerReference &&
    latest.paidSantim === paidSantim &&
    !isResolvable(subject);
  if (isRepeat) return { row, missing: 0, isNew: false };
  ensureResolvable(subject, decision);
  if (outcome === 'COMPLETED') await ensurePlausible(tx, row, decision);
  await requireUninvolved(trx, { operatorId, notices }, { row, what: 'withdrawal', verb: 'resolve' });
  const agreeing = await listAgreeing(tx, row, decision);
  const isNew = !agreeing.includes(operatorId);
  if (isNew) await rows(trx, WRITE_RESOLUTION, { ...row, ...decision, operatorId, at });
  const decidedBy = isNew ? [...agreeing, operatorId] : agreeing;
  const missing = Math.max(row.approvalsNeeded, 1) - decidedBy.length;
  if (missing > 0) return { row, missing, isNew };
  await writeCase(tx, subject, { decision: outcome, providerReference, paidSantim, reason, decidedBy, closedAt: at });
  return { row: await execute(tx, subject, decision), missing: 0, isNew: true };
}

/** Whether operators may resolve a withdrawal: its provider leaves the outcome open, or contradicts its end. */
export function isResolvable({ row, cases, at }: Subject): boolean {
  return row.stage === 'UNKNOWN' || isSlow(row, at) || isContradicted(row, cases);
}

function ensureResolvable(subject: Subject, decision: Decision): void {
  const { row, cases, at } = subject;
  const isOther = row.status === (decision.outcome === 'COMPLETED' ? 'FAILED' : 'SUCCESS');
  const wasDecided = cases.some((one) => one.decision !== null);
  const isCorrection = isOther && (wasDecided || (row.status === 'FAILED' && wasContradicted(cases)));
  if (!isResolvable(subject) && !isCorrection) {
    const allowed = 'UNKNOWN, SUBMITTED for a day, or contradicted by its provider after it ended';
    throw invalidState(`This withdrawal is ${stateOf(row)}: it can be resolved only while ${allowed}.`);
  }
  ensureWaited(subject, decision);
  // The query under way may send it again.
  if (isLeased(row, at)) {
    throw invalidState('Its provider is being queried at this moment: try again in ten seconds.');
  }
}

/** For so long the provider may still report a payment, and operators' decisions are not reversed. */
const DECISION_DELAY_MS = 60 * 60_000;

/** No money is returned, and no decision of operators reversed, within an hour, unless the provider's report supports it. */
function ensureWaited({ row, cases, at }: Subject, { outcome }: Decision): void {
  const changesNothing = outcome === 'FAILED' && row.status === 'FAILED';
  const isPayment = outcome === 'COMPLETED' && (row.status !== 'FAILED' || wasContradicted(cases));
  if (changesNothing || isPayment) return;
  const since = row.status === 'PENDING' ? row.submittedAt : row.completedAt;
  if (since === null || at.getTime() - since.getTime() >= DECISION_DELAY_MS) return;
  const from = new Date(since.getTime() + DECISION_DELAY_MS).toISOString();
  throw invalidState(`The provider may still report another outcome: ${outcome} is accepted from ${from} on.`);
}

/** Paid under a reference of its own, and not more than was requested or the provider has reported. */
async function ensurePlausible({ trx }: UnitOfWork, row: WithdrawalRow, decision: Decision): Promise<void> {
  const { amountSantim } = row;
  const { providerReference, paidSantim } = decision;
  await requireUnusedReference(trx, { ...row, providerReference });
  const reported = await first<{ santim: Santim | null }>(
    trx,
    `SELECT max(CAST(detail ->> 'amountSantim' AS bigint)) AS santim FROM timeline
     WHERE resource_id = :id AND detail ->> 'outcome' = 'succeeded' AND detail ->> 'currency' = :currency`,
    row,
  );
  const reportedSantim = reported?.santim ?? 0n;
  const most = reportedSantim > amountSantim ? reportedSantim : amountSantim;
  const issue = `must be at most ${formatBirr(most)} ETB, the amount requested or reported by the provider`;
  if (paidSantim > most) throw invalid('paidAmount', tooBig(issue, most));
}

/** The operators who have given the same resolution of this version of the withdrawal. */
async function listAgreeing({ trx }: UnitOfWork, row: WithdrawalRow, decision: Decision): Promise<string[]> {
  const sql = `SELECT operator_id FROM payout_resolution
    WHERE payout_id = :id AND version = :version AND outcome = :outcome
      AND provider_reference = :providerReference AND paid_santim = :paidSantim ORDER BY resolved_at`;
  const agreeing = await rows<{ operatorId: string }>(trx, sql, { ...row, ...decision });
  return agreeing.map(({ operatorId }) => operatorId);
}

/** Replaces another resolution of the same operator. */
const WRITE_RESOLUTION = `
  INSERT INTO payout_resolution
    (payout_id, version, operator_id, outcome, provider_reference, paid_santim, reason, resolved_at)
  VALUES (:id, :version, :operatorId, :outcome, :providerReference, :paidSantim, :reason, :at)
  ON CONFLICT (payout_id, version, operator_id) DO UPDATE SET outcome = excluded.outcome,
    provider_reference = excluded.provider_reference, paid_santim = excluded.paid_santim,
    reason = excluded.reason, resolved_at = excluded.resolved_at`;

async function execute(tx: UnitOfWork, { row, at }: Subject, decision: Decision): Promise<WithdrawalRow> {
  const { outcome, providerReference, paidSantim, reason } = decision;
  const isPaid = outcome === 'COMPLETED';
  const detail = { outcome, providerReference, reason, ...(isPaid && { paidSantim: Number(paidSantim) }) };
  const ended = row.status === 'SUCCESS' ? 'REVERSED' : 'FAILED';
  const to = isPaid ? 'SUCCESS' : ended;
  const entry = { at, kind: 'withdrawal.resolved', detail } as const;
  // It had ended as the operators have found: nothing is posted.
  if (row.status === (isPaid ? 'SUCCESS' : 'FAILED')) {
    await recordTimeline(tx.trx, row.id, entry);
    return updateWithdrawal(tx.trx, row, { version: row.version + 1 });
  }
  const failure = { code: 'REJECTED', message: reason, providerCode: '', retryable: false } as const;
  const paid = { providerReference, paidSantim: paidSantim === row.amountSantim ? null : paidSantim };
  return transitionWithdrawal(tx, row, { ...entry, to, changes: isPaid ? paid : { failure } });
}
