import type { Clock } from '../lib/clock.ts';
import { rows, type Knex } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import type { PayoutOutcome } from '../providers/provider.ts';
import { readWithdrawal, type WithdrawalRow } from './queries.ts';
import { transitionWithdrawal, type Transition } from './transition.ts';

type ResultDeps = { db: Knex; runInTransaction: RunInTransaction; clock: Clock; log: Pick<Logger, 'error'> };

/** A withdrawal that one check has to itself for a while. */
export type Leased = WithdrawalRow & { leaseUntil: Date };

/** What its provider has answered; `at`: the time of business. */
type Heard = { outcome: PayoutOutcome; at: Date; notifyWorkflow: boolean };

/**
 * Makes of a provider's answer what follows from it. What it contradicts, its own word before or the amount, moves
 * nothing: a PENDING withdrawal stays so (UNKNOWN), an ended one waits for operators (resolve.ts).
 * @returns the row as moved; null: the answer ends nothing, or somebody else has moved it meanwhile.
 */
export async function applyProviderResult(deps: ResultDeps, row: Leased, heard: Heard): Promise<WithdrawalRow | null> {
  const updated = await transitionFor(deps, row, heard);
  if (updated) return updated;
  await recordProviderResult(deps, row, heard);
  const { status } = await readWithdrawal(deps.db, row.id);
  if (contradicts(heard.outcome, { ...row, status })) await noteContradiction(deps, row, { ...heard, status });
  return null;
}

async function transitionFor(
  { runInTransaction, clock }: ResultDeps,
  row: Leased,
  heard: Heard,
): Promise<WithdrawalRow | null> {
  const { outcome, at } = heard;
  const signal = heard.notifyWorkflow ? ('providerResultRecorded' as const) : null;
  const base = { id: row.id, at, outcome: outcome.kind, checkedAt: clock(), signal };
  if (outcome.kind === 'succeeded' && row.status !== 'SUCCESS' && isExact(outcome, row)) {
    return runInTransaction((tx) => transitionWithdrawal(tx, { ...base, ...paid(outcome) }));
  }
  if (outcome.kind === 'declined' && row.status === 'PENDING') {
    const { failure } = outcome;
    const detail = { code: failure.code, providerCode: failure.providerCode };
    const failed = {
      to: 'FAILED',
      kind: 'payout.failed',
      event: 'withdrawal.failed',
      unlessReportedPaid: true,
    } as const;
    return runInTransaction((tx) =>
      transitionWithdrawal(tx, { ...base, ...failed, detail, failure, providerCode: failure.providerCode }),
    );
  }
  if (outcome.kind === 'reversed' && ['PENDING', 'SUCCESS'].includes(row.status) && isExact(outcome, row)) {
    return runInTransaction(async (tx) => {
      // Paid and back before we heard of the first: both happened, and both are booked and told.
      if (row.status === 'PENDING') await transitionWithdrawal(tx, { ...base, ...paid(outcome), signal: null });
      return transitionWithdrawal(tx, { ...base, ...reversed(outcome) });
    });
  }
  return null;
}

/** Whether a definite answer is not what was heard, or done, before. */
function contradicts({ kind }: PayoutOutcome, { status, firstReportedPaidAt }: WithdrawalRow): boolean {
  if (kind === 'succeeded') return status === 'PENDING' || status === 'FAILED';
  if (kind === 'declined') return status === 'SUCCESS' || (status === 'PENDING' && firstReportedPaidAt !== null);
  return kind === 'reversed' && (status === 'PENDING' || status === 'SUCCESS');
}

type Enqueued = Extract<PayoutOutcome, { kind: 'succeeded' | 'reversed' }>;

/** What came back must be what was paid, which an operator may have found to be another amount. */
function isExact({ kind, amountSantim, currency }: Enqueued, row: WithdrawalRow): boolean {
  const expected = kind === 'reversed' ? (row.paidSantim ?? row.amountSantim) : row.amountSantim;
  return amountSantim === expected && currency === row.currency;
}

type Ending = Pick<Transition, 'kind' | 'event' | 'detail' | 'providerReference' | 'providerCode'>;

function paid({ providerReference, providerCode }: Enqueued): Ending & { to: 'SUCCESS' } {
  const transition = { to: 'SUCCESS', kind: 'payout.succeeded', event: 'withdrawal.succeeded' } as const;
  return { ...transition, detail: { providerReference }, providerReference, providerCode };
}

function reversed({ providerReference, providerCode }: Enqueued): Ending & { to: 'REVERSED' } {
  const transition = { to: 'REVERSED', kind: 'payout.reversed', event: 'withdrawal.reversed' } as const;
  return { ...transition, detail: { providerReference }, providerReference, providerCode };
}

const CONTRADICTIONS = {
  PENDING: 'a provider contradicts itself, or says that another amount moved than it was told: look into it',
  FAILED: 'a provider says it paid out what it had refused before: look into it',
  SUCCESS: 'a provider says of a payout it had made that it was not, or that another amount came back: look into it',
} as const;

/**
 * Operators must look: for one that has ended it is noted, so that it stands in their queue; again when the provider
 * has changed its mind since.
 */
async function noteContradiction(
  deps: ResultDeps,
  row: Leased,
  { outcome, at, status }: Heard & { status: WithdrawalRow['status'] },
): Promise<void> {
  if (status !== 'PENDING' && status !== 'FAILED' && status !== 'SUCCESS') return;
  deps.log.error({ withdrawalId: row.id, outcome: outcome.kind }, CONTRADICTIONS[status]);
  if (status === 'PENDING') return;
  await rows(
    deps.db,
    `WITH timeline_row AS (
       UPDATE withdrawal SET conflict_detected_at = :at, conflict_resolved_at = NULL
       WHERE id = :id AND (conflict_detected_at IS NULL OR CAST(:isNew AS boolean)) RETURNING id
     )
     INSERT INTO withdrawal_timeline (withdrawal_id, occurred_at, kind, detail)
     SELECT id, CAST(:at AS timestamptz), 'provider.conflict', CAST(:detail AS jsonb) FROM timeline_row`,
    { id: row.id, at, isNew: outcome.kind !== row.lastOutcome, detail: JSON.stringify(detailOf(outcome)) },
  );
}

/**
 * Saves an answer that ends nothing, and gives the lease back. The timeline tells only of answers that differ, and of each
 * amount that the provider has ever called paid: an operator may say so much (resolve.ts).
 */
async function recordProviderResult(deps: ResultDeps, row: Leased, { outcome, at }: Heard): Promise<void> {
  // A definite answer that could not be booked is no end: it is asked about again.
  const isUncertain = ['unknown', 'succeeded', 'declined', 'reversed'].includes(outcome.kind);
  await rows(
    deps.db,
    `WITH timeline_row AS (
       UPDATE withdrawal SET last_outcome = :kind, last_checked_at = :checkedAt, lease_until = NULL,
         stage = CASE WHEN status <> 'PENDING' THEN stage WHEN first_reported_paid_at IS NOT NULL THEN 'UNKNOWN' ELSE :stage END,
         first_reported_paid_at = CASE WHEN CAST(:reportsPaid AS boolean) AND status <> 'SUCCESS' THEN coalesce(first_reported_paid_at, CAST(:at AS timestamptz))
                             ELSE first_reported_paid_at END,
         -- What was paid keeps the reference it was paid under.
         provider_reference = CASE status WHEN 'SUCCESS' THEN provider_reference
                                          ELSE coalesce(:providerReference, provider_reference) END,
         provider_code = CASE status WHEN 'SUCCESS' THEN provider_code ELSE coalesce(:providerCode, provider_code) END,
         version = version + CASE WHEN (status = 'PENDING' AND stage <> :stage AND first_reported_paid_at IS NULL)
           OR (status <> 'SUCCESS' AND provider_reference IS DISTINCT FROM coalesce(:providerReference, provider_reference))
           THEN 1 ELSE 0 END
       WHERE id = :id AND lease_until = :leaseUntil RETURNING id, status
     )
     INSERT INTO withdrawal_timeline (withdrawal_id, occurred_at, kind, detail)
     SELECT id, CAST(:at AS timestamptz), 'provider.responded', CAST(:detail AS jsonb) FROM timeline_row
     WHERE CAST(:differs AS boolean) OR (CAST(:reportsPaid AS boolean) AND status <> 'SUCCESS' AND NOT EXISTS (
       SELECT 1 FROM withdrawal_timeline l WHERE l.withdrawal_id = :id AND l.detail = CAST(:detail AS jsonb)))`,
    {
      id: row.id,
      leaseUntil: row.leaseUntil,
      kind: outcome.kind,
      stage: isUncertain ? 'UNKNOWN' : 'SUBMITTED',
      reportsPaid: outcome.kind === 'succeeded' || outcome.kind === 'reversed',
      checkedAt: deps.clock(),
      at,
      providerReference: 'providerReference' in outcome ? outcome.providerReference : null,
      providerCode: 'providerCode' in outcome ? outcome.providerCode : null,
      detail: JSON.stringify(detailOf(outcome)),
      differs: outcome.kind !== row.lastOutcome,
    },
  );
}

/** What the timeline keeps of an answer: with money that moved, how much, for it may not be what was told. */
function detailOf(outcome: PayoutOutcome): Record<string, unknown> {
  const { kind } = outcome;
  if (kind === 'declined') return { outcome: kind, providerCode: outcome.failure.providerCode };
  const code = 'providerCode' in outcome && outcome.providerCode !== null ? { providerCode: outcome.providerCode } : {};
  if (kind !== 'succeeded' && kind !== 'reversed') return { outcome: kind, ...code };
  const { amountSantim, currency, providerReference } = outcome;
  return { outcome: kind, ...code, amountSantim: Number(amountSantim), currency, providerReference };
}
