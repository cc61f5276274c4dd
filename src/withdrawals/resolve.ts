import { requireAnotherPerson, type Actor } from '../access/separation-of-duties.ts';
import { rows, type Trx } from '../lib/db.ts';
import { AppError, invalid } from '../lib/errors.ts';
import { lock } from '../lib/lock.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { isContradicted, listCases, wasContradicted, type PayoutCase } from './conflicts.ts';
import { lockWithdrawal, type WithdrawalRow } from './queries.ts';
import type { RESOLUTIONS } from './states.ts';
import { transitionWithdrawal, type Transition } from './transition.ts';

/** What an operator has found out at the provider. COMPLETED: the beneficiary has the money; FAILED: it has none of it. */
export type Resolution = {
  outcome: (typeof RESOLUTIONS)[number];
  /** The provider's, of the payout or of its statement that there is none. */
  providerReference: string;
  /** What the beneficiary got, where that is not the withdrawal's amount; of COMPLETED only. */
  paidSantim?: Santim | undefined;
  reason: string;
};

/** `missing`: how many more operators must give the same resolution. `isNew`: false for a repeat. */
export type Resolved = { row: WithdrawalRow; missing: number; isNew: boolean };

type ResolutionDecision = Omit<Resolution, 'paidSantim'> & { paidSantim: Santim };
type Subject = { row: WithdrawalRow; cases: readonly PayoutCase[]; decision: ResolutionDecision; at: Date };
type OperatorResolution = Subject & { operatorId: string; tx: UnitOfWork };

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
  { operatorId, notices = [], at, ...input }: Resolution & Actor & { at: Date },
): Promise<Resolved> {
  const { trx } = tx;
  const row = await lockWithdrawal(trx, withdrawalId);
  const cases = await listCases(trx, withdrawalId);
  const subject: Subject = { row, cases, at, decision: decisionOf(row, input) };
  const latest = cases.findLast(({ decision }) => decision !== null);
  if (latest && isSame(latest, subject.decision) && !isOpen(subject)) return { row, missing: 0, isNew: false };
  ensureResolvable(subject);
  if (subject.decision.outcome === 'COMPLETED') await ensurePlausible(trx, subject);
  const { environment, requestedBy: preparedBy } = row;
  const check = { environment, what: 'withdrawal', verb: 'resolve', preparedBy } as const;
  await requireAnotherPerson(trx, { operatorId, notices }, check);
  const resolution: OperatorResolution = { ...subject, tx, operatorId };
  const others = await readAgreeing(resolution);
  const isNew = await addResolution(resolution);
  const missing = Math.max(row.approvalsNeeded, 1) - others.length - 1;
  if (missing > 0) return { row, missing, isNew };
  await closeCase(resolution, [...others, operatorId]);
  return { row: await execute(resolution), missing: 0, isNew: true };
}

function decisionOf(row: WithdrawalRow, { paidSantim, ...resolution }: Resolution): ResolutionDecision {
  if (resolution.outcome === 'COMPLETED') {
    const paid = row.paidSantim ?? row.amountSantim;
    if (row.status !== 'SUCCESS' || paidSantim === undefined || paidSantim === paid) {
      return { ...resolution, paidSantim: paidSantim ?? paid };
    }
    throw invalid('paidAmount', `is booked, ${formatBirr(paid)} ETB: leave it out`);
  }
  if (paidSantim === undefined) return { ...resolution, paidSantim: 0n };
  throw invalid('paidAmount', 'is what was paid: leave it out where nothing was');
}

function isSame({ decision, ...decided }: PayoutCase, { outcome, ...given }: ResolutionDecision): boolean {
  const { providerReference, paidSantim } = given;
  return decision === outcome && decided.providerReference === providerReference && decided.paidSantim === paidSantim;
}

/** A payout that its provider has called pending for this long is treated as unknown. */
const PENDING_MAX_MS = 24 * 60 * 60_000;

function isOpen({ row, cases, at }: Subject): boolean {
  const isSlow = row.stage === 'SUBMITTED' && at.getTime() - (row.submittedAt ?? at).getTime() >= PENDING_MAX_MS;
  return (row.status === 'PENDING' && (row.stage === 'UNKNOWN' || isSlow)) || isContradicted(row, cases);
}

function ensureResolvable(subject: Subject): void {
  const { row, cases, decision, at } = subject;
  const isOther = row.status === (decision.outcome === 'COMPLETED' ? 'FAILED' : 'SUCCESS');
  const wasDecided = cases.some((one) => one.decision !== null);
  const isCorrection = isOther && (wasDecided || (row.status === 'FAILED' && wasContradicted(cases)));
  if (!isOpen(subject) && !isCorrection) {
    const status = row.status === 'PENDING' ? row.stage : row.status;
    const allowed = 'UNKNOWN, SUBMITTED for a day, or contradicted by its provider after it ended';
    throw new AppError('INVALID_STATE', `This withdrawal is ${status}: it can be resolved only while ${allowed}.`);
  }
  ensureWaited(subject);
  // The query under way may send it again.
  if (row.leaseUntil !== null && row.leaseUntil > at) {
    throw new AppError('INVALID_STATE', 'Its provider is being queried at this moment: try again in ten seconds.');
  }
}

/** For so long the provider may still report a payment, and operators' decisions are not reversed. */
const DECISION_DELAY_MS = 60 * 60_000;

/** No money is returned, and no decision of operators reversed, within an hour, unless the provider's report supports it. */
function ensureWaited({ row, cases, decision, at }: Subject): void {
  const changesNothing = decision.outcome === 'FAILED' && row.status === 'FAILED';
  const isPayment = decision.outcome === 'COMPLETED' && (row.status !== 'FAILED' || wasContradicted(cases));
  if (changesNothing || isPayment) return;
  const since = row.status === 'PENDING' ? row.submittedAt : row.completedAt;
  if (since === null || at.getTime() - since.getTime() >= DECISION_DELAY_MS) return;
  const from = new Date(since.getTime() + DECISION_DELAY_MS).toISOString();
  const issue = `The provider may still report another outcome: ${decision.outcome} is accepted from ${from} on.`;
  throw new AppError('INVALID_STATE', issue);
}

/** Paid under a reference of its own, and not more than was requested or the provider has reported. */
async function ensurePlausible(trx: Trx, { row, decision }: Subject): Promise<void> {
  await lock(trx, 'payout_reference', `${row.environment} ${row.channel} ${decision.providerReference}`);
  const [found] = await rows<{ other: string | null; reportedSantim: Santim | null }>(
    trx,
    `SELECT (SELECT o.id FROM withdrawal o WHERE o.provider_reference = :providerReference AND o.id <> :id
               AND (o.channel, o.environment) = (:channel, :environment) AND o.status IN ('SUCCESS', 'REVERSED') LIMIT 1) AS other,
            (SELECT max(CAST(l.detail ->> 'amountSantim' AS bigint)) FROM timeline l
             WHERE l.resource_id = :id AND l.detail ->> 'outcome' = 'succeeded') AS reported_santim`,
    { ...decision, id: row.id, channel: row.channel, environment: row.environment },
  );
  if (found?.other) {
    const issue = `is that of ${found.other}: give the one of this payout`;
    const details = [{ field: 'providerReference', issue }];
    throw new AppError('INVALID_STATE', `providerReference ${issue}`, { details });
  }
  const reported = found?.reportedSantim ?? 0n;
  const most = reported > row.amountSantim ? reported : row.amountSantim;
  if (decision.paidSantim <= most) return;
  throw invalid(
    'paidAmount',
    `must be at most ${formatBirr(most)} ETB, the amount requested or reported by the provider`,
  );
}

function bindings({ row, decision, operatorId, at }: OperatorResolution) {
  return { ...decision, id: row.id, version: row.version, operatorId, at };
}

/** false: a repeat. Another resolution of the same operator replaces the first one. */
async function addResolution(resolution: OperatorResolution): Promise<boolean> {
  const added = await rows(
    resolution.tx.trx,
    `INSERT INTO withdrawal_resolution AS r
       (withdrawal_id, version, operator_id, outcome, provider_reference, paid_santim, reason, resolved_at)
     VALUES (:id, :version, :operatorId, :outcome, :providerReference, :paidSantim, :reason, :at)
     ON CONFLICT (withdrawal_id, version, operator_id) DO UPDATE SET outcome = excluded.outcome,
       provider_reference = excluded.provider_reference, paid_santim = excluded.paid_santim,
       reason = excluded.reason, resolved_at = excluded.resolved_at
     WHERE (r.outcome, r.provider_reference, r.paid_santim)
       <> (excluded.outcome, excluded.provider_reference, excluded.paid_santim)
     RETURNING 1`,
    bindings(resolution),
  );
  return added.length > 0;
}

/** The other operators who have given the same resolution. */
async function readAgreeing(resolution: OperatorResolution): Promise<string[]> {
  const agreeing = await rows<{ operatorId: string }>(
    resolution.tx.trx,
    `SELECT operator_id FROM withdrawal_resolution
     WHERE withdrawal_id = :id AND version = :version AND outcome = :outcome
       AND provider_reference = :providerReference AND paid_santim = :paidSantim AND operator_id <> :operatorId`,
    bindings(resolution),
  );
  return agreeing.map(({ operatorId }) => operatorId);
}

/** Records the decision in the open case, or in a case of its own. */
async function closeCase(resolution: OperatorResolution, decidedBy: readonly string[]): Promise<void> {
  await rows(
    resolution.tx.trx,
    `WITH closed AS (
       UPDATE payout_case SET decision = :outcome, provider_reference = :providerReference, paid_santim = :paidSantim,
         reason = :reason, decided_by = :decidedBy, closed_at = :at
       WHERE withdrawal_id = :id AND closed_at IS NULL RETURNING 1
     )
     INSERT INTO payout_case
       (withdrawal_id, status, opened_at, decision, provider_reference, paid_santim, reason, decided_by, closed_at)
     SELECT :id, :status, CAST(:at AS timestamptz), :outcome, :providerReference, CAST(:paidSantim AS bigint), :reason,
            CAST(:decidedBy AS text[]), CAST(:at AS timestamptz)
     WHERE NOT EXISTS (SELECT 1 FROM closed)`,
    { ...bindings(resolution), status: resolution.row.status, decidedBy: [...decidedBy] },
  );
}

async function execute(resolution: OperatorResolution): Promise<WithdrawalRow> {
  const { tx, row, decision, at } = resolution;
  const { outcome, providerReference, paidSantim, reason } = decision;
  if (row.status === (outcome === 'FAILED' ? 'FAILED' : 'SUCCESS')) return confirmStatus(resolution);
  const base = { id: row.id, from: row.status, at, kind: 'withdrawal.resolved', detail: detailOf(decision) } as const;
  const signal = row.status === 'PENDING' ? 'providerResultRecorded' : null;
  const failure = { code: 'REJECTED', message: reason, providerCode: '', retryable: false };
  const failed: Pick<Transition, 'to' | 'event'> =
    row.status === 'SUCCESS'
      ? { to: 'REVERSED', event: 'withdrawal.reversed' }
      : { to: 'FAILED', event: 'withdrawal.failed' };
  const transition: Transition =
    outcome === 'COMPLETED'
      ? { ...base, signal, to: 'SUCCESS', event: 'withdrawal.succeeded', providerReference, paidSantim }
      : { ...base, signal, ...failed, failure };
  const updated = await transitionWithdrawal(tx, transition);
  if (!updated) throw new Error(`withdrawal ${row.id} changed its status although it is locked`);
  return updated;
}

/** The withdrawal had ended as the operators have found: nothing is posted. */
async function confirmStatus({ tx, row, decision, at }: OperatorResolution): Promise<WithdrawalRow> {
  const [confirmed] = await rows<WithdrawalRow>(
    tx.trx,
    `WITH timeline_row AS (
       ${TIMELINE_INSERT}
       VALUES (:id, :at, 'withdrawal.resolved', CAST(:detail AS jsonb))
     )
     UPDATE withdrawal SET version = version + 1 WHERE id = :id RETURNING *`,
    { id: row.id, at, detail: JSON.stringify(detailOf(decision)) },
  );
  return confirmed ?? row;
}

function detailOf({ outcome, providerReference, paidSantim, reason }: ResolutionDecision) {
  const paid = outcome === 'COMPLETED' ? { paidSantim: Number(paidSantim) } : {};
  return { outcome, providerReference, reason, ...paid };
}
