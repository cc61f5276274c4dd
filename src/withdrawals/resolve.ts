import {
  requireIndependentApprover,
  requireDistinctApprovers,
  type Actor,
  type Approver,
} from '../access/separation-of-duties.ts';
import { rows } from '../lib/db.ts';
import { AppError, invalid } from '../lib/errors.ts';
import { lock } from '../lib/lock.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { readWithdrawal, type WithdrawalRow } from './model.ts';
import { transitionWithdrawal, type Transition } from './transition.ts';

export const RESOLUTIONS = ['COMPLETED', 'FAILED'] as const;

/** What an operator has found out at the provider. COMPLETED: the beneficiary has the money; FAILED: it has none of it. */
export type Resolution = {
  outcome: (typeof RESOLUTIONS)[number];
  /** The provider's, of the payout or of its word that there is none. */
  providerReference: string;
  /** What the beneficiary got, where that is not the withdrawal's amount; of COMPLETED only. */
  paidSantim?: Santim | undefined;
  reason: string;
};

/** `missing`: so many other operators must say the same before it counts. `isNew`: this call said something. */
export type Resolved = { row: WithdrawalRow; missing: number; isNew: boolean };

type ResolutionDecision = Omit<Resolution, 'paidSantim'> & { paidSantim: Santim };
type About = { tx: UnitOfWork; row: WithdrawalRow; decision: ResolutionDecision; operatorId: string; at: Date };
type PendingResolution = About & Approver;

/**
 * Ends what its provider leaves open, by an operator's word: a withdrawal that was sent and whose provider cannot say what
 * became of it or has paid another amount (UNKNOWN), or has called it pending for a day (SUBMITTED), or one that has ended and of which its provider now says otherwise.
 * It takes as many operators, who say the same, as its approval took. What was paid less is the merchant's again, what
 * was paid more, by the provider's own word, waits in suspense. What had failed and was paid is taken from the balance
 * again; what was SUCCESS and was never paid is REVERSED, and stays so. Who learns better before that may say so later. A
 * reference of the provider pays one withdrawal only, and no money is given back within an hour.
 * Doing it again changes nothing. Throws NOT_FOUND, VALIDATION_ERROR, INVALID_STATE, INSUFFICIENT_BALANCE.
 */
export async function resolveWithdrawal(
  tx: UnitOfWork,
  withdrawalId: string,
  { operatorId, keyId, at, ...input }: Resolution & Actor & { at: Date },
): Promise<Resolved> {
  const { trx } = tx;
  await lock(trx, 'withdrawal', withdrawalId);
  const row = await readWithdrawal(trx, withdrawalId);
  const about = { tx, row, operatorId, at, decision: decisionOf(row, input) };
  const latest = await readLatest(about);
  if (latest?.isThis === true && !isOpen(row, at)) return { row, missing: 0, isNew: false };
  requireOpen(about, latest !== undefined);
  if (about.decision.outcome === 'COMPLETED') await requirePlausible(about);
  const { requestedBy } = row;
  const approval = { what: 'withdrawal', verb: 'resolve', requestedBy, operatorId, keyId } as const;
  const resolution: PendingResolution = { ...about, secretHolders: await requireIndependentApprover(trx, approval) };
  const others = await readAgreeing(resolution);
  requireDistinctApprovers(others, resolution, 'resolve');
  const isNew = await addResolution(resolution);
  const missing = Math.max(row.approvalsNeeded, 1) - others.length - 1;
  if (missing > 0) return { row, missing, isNew };
  await rows(
    tx.trx,
    `UPDATE withdrawal_resolution SET executed = true WHERE ${THIS_DECISION} AND version = :version`,
    bindings(resolution),
  );
  return { row: await apply(resolution), missing: 0, isNew: true };
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

const THIS_DECISION = `withdrawal_id = :id AND outcome = :outcome AND provider_reference = :providerReference
  AND paid_santim = :paidSantim`;

function bindings({ row, decision, operatorId, at }: About) {
  return { ...decision, id: row.id, version: row.version, operatorId, at };
}

/** The last thing that operators have made of it, and whether it is this very word. */
async function readLatest(resolution: About): Promise<{ isThis: boolean } | undefined> {
  const [latest] = await rows<{ isThis: boolean }>(
    resolution.tx.trx,
    `SELECT ${THIS_DECISION} AS is_this FROM withdrawal_resolution
     WHERE withdrawal_id = :id AND executed ORDER BY version DESC LIMIT 1`,
    bindings(resolution),
  );
  return latest;
}

/** Whether it has ended, its provider says otherwise now, and no operator has looked yet. */
export function isContradicted({ status, conflictDetectedAt, conflictResolvedAt }: WithdrawalRow): boolean {
  return (status === 'FAILED' || status === 'SUCCESS') && conflictDetectedAt !== null && conflictResolvedAt === null;
}

/** Taken so long ago, and neither paid nor refused since, it is as good as unknown. */
const SLOW_AFTER_MS = 24 * 60 * 60_000;

function isOpen(row: WithdrawalRow, at: Date): boolean {
  const isSlow = row.stage === 'SUBMITTED' && at.getTime() - (row.submittedAt ?? at).getTime() >= SLOW_AFTER_MS;
  return (row.status === 'PENDING' && (row.stage === 'UNKNOWN' || isSlow)) || isContradicted(row);
}

/** So long its provider may still find out by itself that it has paid, and the word of operators stands. */
const STANDS_FOR_MS = 60 * 60_000;

function requireOpen({ row, decision, at }: About, isResolved: boolean): void {
  // Who was told that it was never paid, or that it was, may learn better.
  const isOther = row.status === (decision.outcome === 'COMPLETED' ? 'FAILED' : 'SUCCESS');
  const mayLearn = isOther && (isResolved || (row.status === 'FAILED' && row.conflictDetectedAt !== null));
  if (!isOpen(row, at) && !mayLearn) {
    const status = row.status === 'PENDING' ? row.stage : row.status;
    const allowed =
      'one whose provider cannot say what became of it (UNKNOWN, or SUBMITTED a day ago), or says otherwise after it had ended';
    throw new AppError('INVALID_STATE', `This withdrawal is ${status}: you can resolve only ${allowed}.`);
  }
  requireTime({ row, decision, at });
  // Whoever is asking may be sending it again this very moment.
  if (row.leaseUntil !== null && row.leaseUntil > at) {
    throw new AppError('INVALID_STATE', 'Its provider is being asked about it just now: try again in ten seconds.');
  }
}

/** Money is not given back within an hour, nor is the word of operators turned round, unless its provider says so. */
function requireTime({ row, decision, at }: Pick<About, 'row' | 'decision' | 'at'>): void {
  const movesNothing = decision.outcome === 'FAILED' && row.status === 'FAILED';
  const isPaid = decision.outcome === 'COMPLETED' && (row.status !== 'FAILED' || row.conflictDetectedAt !== null);
  if (movesNothing || isPaid) return;
  const since = row.status === 'PENDING' ? row.submittedAt : row.completedAt;
  if (since === null || at.getTime() - since.getTime() >= STANDS_FOR_MS) return;
  const from = new Date(since.getTime() + STANDS_FOR_MS).toISOString();
  throw new AppError('INVALID_STATE', `Its provider may still know better: say ${decision.outcome} from ${from} on.`);
}

/** That it was paid under a reference of its own, and not more than was asked for or its provider has said. */
async function requirePlausible({ tx, row, decision }: About): Promise<void> {
  await lock(tx.trx, 'payout_reference', `${row.environment} ${row.channel} ${decision.providerReference}`);
  const [found] = await rows<{ other: string | null; reportedSantim: Santim | null }>(
    tx.trx,
    `SELECT (SELECT o.id FROM withdrawal o WHERE o.provider_reference = :providerReference AND o.id <> :id
               AND (o.channel, o.environment) = (:channel, :environment) AND o.status IN ('SUCCESS', 'REVERSED') LIMIT 1) AS other,
            (SELECT max(CAST(l.detail ->> 'amountSantim' AS bigint)) FROM withdrawal_timeline l
             WHERE l.withdrawal_id = :id AND l.detail ->> 'outcome' = 'succeeded') AS reported_santim`,
    { ...decision, id: row.id, channel: row.channel, environment: row.environment },
  );
  if (found?.other) {
    const issue = `is that of ${found.other}: give the one of this payout`;
    const details = [{ field: 'providerReference', issue }];
    throw new AppError('INVALID_STATE', `providerReference ${issue}`, { details });
  }
  const most =
    found?.reportedSantim && found.reportedSantim > row.amountSantim ? found.reportedSantim : row.amountSantim;
  if (decision.paidSantim <= most) return;
  throw invalid('paidAmount', `must be at most ${formatBirr(most)} ETB, which was asked for or its provider has said`);
}

/** false: this operator has said so before. Another word of the same operator takes the first one's place. */
async function addResolution(resolution: PendingResolution): Promise<boolean> {
  const added = await rows(
    resolution.tx.trx,
    `INSERT INTO withdrawal_resolution AS r
       (withdrawal_id, version, operator_id, secret_holders, outcome, provider_reference, paid_santim, reason, resolved_at)
     VALUES (:id, :version, :operatorId, :secretHolders, :outcome, :providerReference, :paidSantim, :reason, :at)
     ON CONFLICT (withdrawal_id, version, operator_id) DO UPDATE SET secret_holders = excluded.secret_holders, outcome = excluded.outcome,
       provider_reference = excluded.provider_reference, paid_santim = excluded.paid_santim,
       reason = excluded.reason, resolved_at = excluded.resolved_at
     WHERE (r.outcome, r.provider_reference, r.paid_santim)
       <> (excluded.outcome, excluded.provider_reference, excluded.paid_santim)
     RETURNING 1`,
    { ...bindings(resolution), secretHolders: [...resolution.secretHolders] },
  );
  return added.length > 0;
}

/** The other operators who say the same. */
async function readAgreeing(resolution: PendingResolution): Promise<Approver[]> {
  return rows<Approver>(
    resolution.tx.trx,
    `SELECT operator_id, secret_holders FROM withdrawal_resolution
     WHERE ${THIS_DECISION} AND version = :version AND operator_id <> :operatorId`,
    bindings(resolution),
  );
}

async function apply(resolution: PendingResolution): Promise<WithdrawalRow> {
  const { tx, row, decision, at } = resolution;
  const { outcome, providerReference, paidSantim, reason } = decision;
  if (row.status === (outcome === 'FAILED' ? 'FAILED' : 'SUCCESS')) return endContradiction(resolution);
  const base = { id: row.id, from: row.status, at, kind: 'withdrawal.resolved', detail: detailOf(decision) } as const;
  const signal = row.status === 'PENDING' ? 'providerResultRecorded' : null;
  const failure = rejection(reason);
  const failed: Pick<Transition, 'to' | 'event' | 'failure'> =
    row.status === 'SUCCESS'
      ? { to: 'REVERSED', event: 'withdrawal.reversed', failure }
      : { to: 'FAILED', event: 'withdrawal.failed', failure };
  const transition: Transition =
    outcome === 'COMPLETED'
      ? { ...base, signal, to: 'SUCCESS', event: 'withdrawal.succeeded', providerReference, paidSantim }
      : { ...base, signal, ...failed };
  const updated = await transitionWithdrawal(tx, transition);
  if (!updated) throw new Error(`withdrawal ${row.id} has moved although it is locked`);
  return updated;
}

function rejection(message: string) {
  return { code: 'REJECTED', message, providerCode: '', retryable: false };
}

function detailOf({ outcome, providerReference, paidSantim, reason }: ResolutionDecision) {
  const paid = outcome === 'COMPLETED' ? { paidSantim: Number(paidSantim) } : {};
  return { outcome, providerReference, reason, ...paid };
}

/** It had ended rightly: nothing moves, and nobody need look any more. */
async function endContradiction({ tx, row, decision, at }: PendingResolution): Promise<WithdrawalRow> {
  const [ended] = await rows<WithdrawalRow>(
    tx.trx,
    `WITH timeline_row AS (
       INSERT INTO withdrawal_timeline (withdrawal_id, occurred_at, kind, detail)
       VALUES (:id, :at, 'withdrawal.resolved', CAST(:detail AS jsonb))
     )
     UPDATE withdrawal SET conflict_resolved_at = :at, version = version + 1 WHERE id = :id RETURNING *`,
    { id: row.id, at, detail: JSON.stringify(detailOf(decision)) },
  );
  return ended ?? row;
}
