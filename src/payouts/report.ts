import { isDeepStrictEqual } from 'node:util';

import type { Clock } from '../lib/clock.ts';
import { first, type Trx } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { hasLease, type Leased } from '../providers/lease.ts';
import { referencesOf, type PayoutOutcome } from '../providers/provider.ts';
import { listCases, writeCase } from './cases.ts';
import { changePayout, payoutById, type PayoutChanges, type PayoutRow } from './queries.ts';
import { findPaidUnder } from './resolution.ts';
import { isPaidReport, type PaidReport, type PayoutRules, type Transition } from './rules.ts';
import { transitionPayout } from './transition.ts';

/** The provider's report; `at`: the effective time. */
type Report = { outcome: PayoutOutcome; at: Date };

/**
 * Applies a provider's report, and releases the lease. A report that contradicts an earlier one, or the amount, or whose
 * reference has paid another order, changes no status: a PENDING payout becomes UNKNOWN, an ended one keeps its status, and both
 * wait for operators (resolve.ts). Of a check that has lost its lease to another one, what it was declined ends nothing: the
 * other one may have sent it again.
 * @returns the row afterwards.
 */
export async function applyReport<Row extends PayoutRow>(
  deps: { runInTransaction: RunInTransaction; clock: Clock; log: Pick<Logger, 'error'> },
  rules: PayoutRules<Row>,
  { leased, outcome, at, notifyWorkflow }: Report & { leased: Row & Leased; notifyWorkflow: boolean },
): Promise<Row> {
  const { id, kind } = leased;
  return deps.runInTransaction(async (tx) => {
    const before = await payoutById<Row>(kind).lock(tx.trx, id);
    const isNewest = hasLease(before, leased);
    if (!isNewest && before.status === 'PENDING' && !isPaidReport(outcome)) return before;
    // The first outcome: only now it is known that it was sent.
    if (before.lastOutcome === null) {
      const submitted = { kind: rules.entries.submitted, at: before.submittedAt ?? at };
      await rules.recordEntry(tx.trx, before, submitted);
    }
    const other =
      before.status !== 'SUCCESS' && isPaidReport(outcome)
        ? await findPaidUnder(tx.trx, { ...before, providerReference: outcome.providerReference })
        : null;
    const checked = { lastOutcome: outcome.kind, lastCheckedAt: deps.clock() };
    let row = before;
    for (const end of other === null ? endsOf(rules, before, outcome) : []) {
      const changes = { ...checked, ...referencesOf(outcome), ...end.changes };
      row = await transitionPayout(tx, rules, { ...end, before: row, changes, at, notifyWorkflow });
    }
    if (row !== before) return row;
    const isContradiction = rules.contradicts[outcome.kind]?.includes(before.status) ?? false;
    if (!isNewest && !isContradiction) return before;
    // The lease of another check stays its own.
    const leaseUntil = isNewest ? null : before.leaseUntil;
    const changes = isNewest ? { ...checked, leaseUntil } : { leaseUntil };
    const unapplied = { outcome, at, changes, isOther: other !== null };
    row = await recordUnapplied(tx.trx, rules, { before, ...unapplied });
    if (isContradiction && (await openCase(tx, rules, { row: before, outcome, at }))) {
      const about = { [`${kind}Id`]: id, outcome: outcome.kind, status: before.status, paidBefore: other };
      deps.log.error(about, CONTRADICTED[before.status]);
    }
    return row;
  });
}

/** By the status of the payout. */
const CONTRADICTED: Readonly<Record<string, string>> = {
  PENDING:
    'provider contradicts itself, or reports another amount or a used reference: operators must resolve the payout',
  FAILED: 'provider reports as paid a payout that it had declined: operators must resolve the payout',
  SUCCESS: 'provider reports as unpaid, or as reversed with another amount, a payout that it had paid',
};

/** The ends that a report causes. Paid and reversed between two queries: both are posted and published. */
function endsOf<Row extends PayoutRow>(
  { finalStatus }: PayoutRules<Row>,
  row: Row,
  outcome: PayoutOutcome,
): Pick<Transition, 'to' | 'changes'>[] {
  const isPending = row.status === 'PENDING';
  if (outcome.kind === 'declined') {
    // Once the provider has reported the payout as paid, in whatever amount, a decline releases nothing.
    if (!isPending || row.firstReportedPaidAt !== null) return [];
    return [{ to: 'FAILED', changes: { failure: outcome.failure } }];
  }
  if (!isPaidReport(outcome) || outcome.currency !== row.currency) return [];
  // What is never reversed waits for operators.
  if (outcome.kind === 'reversed' && finalStatus !== 'REVERSED') return [];
  if (isPending && outcome.amountSantim === row.amountSantim) {
    return outcome.kind === 'reversed' ? [{ to: 'SUCCESS' }, { to: 'REVERSED' }] : [{ to: 'SUCCESS' }];
  }
  // A reversal must be of the amount paid, which operators may have found to differ from the amount requested.
  const isWhole = outcome.amountSantim === (row.paidSantim ?? row.amountSantim);
  return outcome.kind === 'reversed' && row.status === 'SUCCESS' && isWhole ? [{ to: 'REVERSED' }] : [];
}

type Unapplied<Row> = Report & { before: Row; changes: PayoutChanges; isOther: boolean };

/**
 * Saves a report that causes no transition. The timeline gets outcomes that differ from the last one, and each amount that
 * the provider has ever reported as paid: operators may confirm up to that (resolve.ts).
 */
async function recordUnapplied<Row extends PayoutRow>(
  trx: Trx,
  rules: PayoutRules<Row>,
  { before, outcome, at, changes, isOther }: Unapplied<Row>,
): Promise<Row> {
  const isUnbookedPayment = isPaidReport(outcome) && before.status !== 'SUCCESS';
  const firstReportedPaidAt = before.firstReportedPaidAt ?? (isUnbookedPayment ? at : null);
  const isOpen = ['accepted', 'pending', 'not-found'].includes(outcome.kind) && firstReportedPaidAt === null;
  const stage = before.status === 'PENDING' ? (isOpen ? 'SUBMITTED' : 'UNKNOWN') : before.stage;
  // A paid payout keeps the reference that it was paid under, and none gets that of another one.
  const references = before.status === 'SUCCESS' || isOther ? {} : referencesOf(outcome);
  const { providerReference = before.providerReference } = references;
  const isChanged = stage !== before.stage || providerReference !== before.providerReference;
  const isNewlyPaid = isUnbookedPayment && !(await isReported(trx, rules, { row: before, outcome }));
  if (outcome.kind !== before.lastOutcome || isNewlyPaid) {
    const detail = rules.detailOf(outcome);
    await rules.recordEntry(trx, before, { at, kind: rules.entries.responded, detail });
  }
  const version = before.version + (isChanged ? 1 : 0);
  return changePayout(trx, before, { ...changes, ...references, stage, firstReportedPaidAt, version });
}

/** Whether the timeline has this amount of a payout as reported. */
async function isReported<Row extends PayoutRow>(
  trx: Trx,
  rules: PayoutRules<Row>,
  { row, outcome }: { row: Row; outcome: PaidReport },
): Promise<boolean> {
  const sql = 'SELECT FROM timeline WHERE resource_id = :id AND detail @> CAST(:detail AS jsonb) LIMIT 1';
  const { resourceId: id, detail } = rules.reportedAs(row, outcome);
  return (await first(trx, sql, { id, detail: JSON.stringify(detail) })) !== undefined;
}

/**
 * Opens a case, or replaces the evidence of the open one; false for a repeat. Merchants see in the timeline that an end is
 * contradicted.
 */
async function openCase<Row extends PayoutRow>(
  { trx }: UnitOfWork,
  rules: PayoutRules<Row>,
  { row, outcome, at }: Report & { row: Row },
): Promise<boolean> {
  const isPending = row.status === 'PENDING';
  const cases = await listCases(trx, row.id);
  const evidence = evidenceOf(outcome);
  const latest = cases.findLast((one) => one.evidence !== null && (one.status === 'PENDING') === isPending);
  // A repeat does not open a decided case again.
  if (outcome.kind === row.lastOutcome && isDeepStrictEqual(latest?.evidence, evidence)) return false;
  await writeCase(trx, { row, cases, at }, { status: row.status, evidence, openedAt: at });
  const { contradicted } = rules.entries;
  if (!isPending && contradicted) await rules.recordEntry(trx, row, { at, kind: contradicted, detail: evidence });
  return true;
}

/** What a case retains of a report: of money, also how much, which may not be the amount requested. */
export function evidenceOf(outcome: PayoutOutcome): Record<string, unknown> {
  const { providerCode, providerReference } = referencesOf(outcome);
  const evidence = { outcome: outcome.kind, ...(providerCode !== undefined && { providerCode }) };
  if (!isPaidReport(outcome)) return evidence;
  return { ...evidence, amountSantim: Number(outcome.amountSantim), currency: outcome.currency, providerReference };
}
