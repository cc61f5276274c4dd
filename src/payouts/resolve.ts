import type { Actor } from '../access/separation-of-duties.ts';
import { HOUR_MS } from '../lib/dates.ts';
import { rows, type Trx } from '../lib/db.ts';
import { invalid, invalidState } from '../lib/errors.ts';
import { tooBig } from '../lib/issues.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { isLeased } from '../providers/lease.ts';
import { isContradicted, listCases, wasContradicted, writeCase, type PayoutCase } from './cases.ts';
import { changePayout, payoutById, stateOf, type PayoutRow } from './queries.ts';
import { isSlow, readPaid, requireUninvolved, requireUnusedReference, type Resolution } from './resolution.ts';
import type { End, PayoutRules } from './rules.ts';
import { transitionPayout } from './transition.ts';

/** `missing`: how many more operators must give the same resolution. `isNew`: false for a repeat. */
export type Resolved<Row> = { row: Row; missing: number; isNew: boolean };

type Decision = Resolution & { paidSantim: Santim };
/** A payout, its cases, and the time at which operators look at it. */
export type Subject<Row> = { row: Row; cases: readonly PayoutCase[]; at: Date };

/**
 * Resolves a payout whose outcome its provider leaves open (UNKNOWN, or SUBMITTED for a day), or one that has ended and that
 * its provider contradicts; a refund also before it was sent, as FAILED. An amount not paid is the merchant's again; an amount
 * overpaid, which only the provider's report can establish, is posted to suspense. FAILED becomes SUCCESS and is taken from the
 * balance again; a withdrawal that is SUCCESS and was never paid becomes REVERSED. Operators may correct a resolution. A provider reference pays one payout only, and
 * no money is returned within an hour. Idempotent. Throws NOT_FOUND, VALIDATION_ERROR, INVALID_STATE, INSUFFICIENT_BALANCE.
 */
export async function resolvePayout<Row extends PayoutRow>(
  tx: UnitOfWork,
  rules: PayoutRules<Row>,
  { id, operatorId, notices = [], at, ...input }: Resolution & Actor & { id: string; at: Date },
): Promise<Resolved<Row>> {
  const { trx } = tx;
  const row = await payoutById<Row>(rules.kind).lock(trx, id);
  const cases = await listCases(trx, id);
  const { outcome, providerReference, reason } = input;
  const decision: Decision = { outcome, providerReference, reason, paidSantim: readPaid(row, input) };
  const subject = { row, cases, at };
  if (isRepeat(rules, subject, decision)) return { row, missing: 0, isNew: false };
  ensureResolvable(rules, subject, decision);
  if (outcome === 'COMPLETED') await ensurePlausible(trx, rules, { row, decision });
  await requireUninvolved(trx, { operatorId, notices }, { row, what: rules.kind, verb: 'resolve' });
  const agreeing = await listAgreeing(trx, row, decision);
  const isNew = !agreeing.includes(operatorId);
  if (isNew) await rows(trx, WRITE_RESOLUTION, { ...row, ...decision, operatorId, at });
  const decidedBy = isNew ? [...agreeing, operatorId] : agreeing;
  const missing = rules.resolution.operatorsNeeded(row) - decidedBy.length;
  if (missing > 0) return { row, missing, isNew };
  const { paidSantim } = decision;
  const decided = { decision: outcome, providerReference, paidSantim, reason, decidedBy, closedAt: at };
  await writeCase(trx, subject, decided);
  return { row: await execute(tx, rules, { ...subject, decision }), missing: 0, isNew: true };
}

function isRepeat<Row extends PayoutRow>(rules: PayoutRules<Row>, subject: Subject<Row>, decision: Decision): boolean {
  const latest = subject.cases.findLast((one) => one.decision !== null);
  return (
    latest?.decision === decision.outcome &&
    latest.providerReference === decision.providerReference &&
    latest.paidSantim === decision.paidSantim &&
    !isResolvable(rules, subject)
  );
}

/** Whether operators may resolve a payout: its provider leaves the outcome open, or contradicts its end. */
export function isResolvable<Row extends PayoutRow>(
  { resolution }: PayoutRules<Row>,
  { row, cases, at }: Subject<Row>,
): boolean {
  const isUnsent = resolution.ofUnsent && row.stage === 'CREATED';
  return isUnsent || row.stage === 'UNKNOWN' || isSlow(row, at) || isContradicted(row, cases);
}

function ensureResolvable<Row extends PayoutRow>(
  rules: PayoutRules<Row>,
  subject: Subject<Row>,
  { outcome }: Decision,
): void {
  const { row, cases, at } = subject;
  const isOther = row.status === (outcome === 'COMPLETED' ? 'FAILED' : 'SUCCESS');
  const wasDecided = cases.some((one) => one.decision !== null);
  const isCorrection =
    isOther && rules.resolution.corrects(row) && (wasDecided || (row.status === 'FAILED' && wasContradicted(cases)));
  if (!isResolvable(rules, subject) && !isCorrection) {
    throw invalidState(
      `This ${rules.kind} is ${stateOf(row)}: it can be resolved only while ${rules.resolution.allowed}.`,
    );
  }
  if (row.stage === 'CREATED' && outcome === 'COMPLETED') {
    throw invalidState(`This ${rules.kind} was not sent to its provider: it can be resolved as FAILED only.`);
  }
  ensureWaited(subject, outcome);
  // The query under way may send it again.
  if (isLeased(row, at)) {
    throw invalidState('Its provider is being queried at this moment: try again in ten seconds.');
  }
}

/** For so long the provider may still report a payment, and operators' decisions are not reversed. */
const DECISION_DELAY_MS = HOUR_MS;

/** No money is returned, and no decision of operators reversed, within an hour, unless the provider's report supports it. */
function ensureWaited({ row, cases, at }: Subject<PayoutRow>, outcome: Decision['outcome']): void {
  const changesNothing = outcome === 'FAILED' && row.status === 'FAILED';
  const isPayment = outcome === 'COMPLETED' && (row.status !== 'FAILED' || wasContradicted(cases));
  if (changesNothing || isPayment) return;
  const since = row.status === 'PENDING' ? row.submittedAt : row.completedAt;
  if (since === null || at.getTime() - since.getTime() >= DECISION_DELAY_MS) return;
  const from = new Date(since.getTime() + DECISION_DELAY_MS).toISOString();
  throw invalidState(`The provider may still report another outcome: ${outcome} is accepted from ${from} on.`);
}

/** Paid under a reference of its own, and not more than was requested or the provider has reported. */
async function ensurePlausible<Row extends PayoutRow>(
  trx: Trx,
  rules: PayoutRules<Row>,
  { row, decision: { providerReference, paidSantim } }: { row: Row; decision: Decision },
): Promise<void> {
  const { amountSantim } = row;
  await requireUnusedReference(trx, { ...row, providerReference });
  if (paidSantim <= amountSantim) return;
  const { santim, limit } = await rules.resolution.readMostPaid(trx, row);
  const atMost = santim > amountSantim ? santim : amountSantim;
  if (paidSantim <= atMost) return;
  throw invalid('paidAmount', tooBig(`must be at most ${formatBirr(atMost)} ETB, ${limit}`, atMost));
}

/** The operators who have given the same resolution of this version of the payout. */
async function listAgreeing(trx: Trx, row: PayoutRow, decision: Decision): Promise<string[]> {
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

/** The status after the resolution. */
function endOf({ status }: PayoutRow, outcome: Decision['outcome']): End {
  if (outcome === 'COMPLETED') return 'SUCCESS';
  return status === 'SUCCESS' ? 'REVERSED' : 'FAILED';
}

async function execute<Row extends PayoutRow>(
  tx: UnitOfWork,
  rules: PayoutRules<Row>,
  { row, at, decision }: Subject<Row> & { decision: Decision },
): Promise<Row> {
  const { outcome, providerReference, paidSantim, reason } = decision;
  const isPaid = outcome === 'COMPLETED';
  const detail = { outcome, providerReference, reason, ...(isPaid && { paidSantim: Number(paidSantim) }) };
  const entry = { kind: rules.entries.resolved, detail };
  const to = endOf(row, outcome);
  // It had ended as the operators have found: nothing is posted.
  if (row.status === to) {
    await rules.recordEntry(tx.trx, row, { ...entry, at });
    return changePayout(tx.trx, row, { version: row.version + 1 });
  }
  const failure = { code: 'REJECTED', message: reason, providerCode: '', retryable: false } as const;
  const paid = { providerReference, paidSantim: paidSantim === row.amountSantim ? null : paidSantim };
  return transitionPayout(tx, rules, { before: row, to, entry, changes: isPaid ? paid : { failure }, at });
}
