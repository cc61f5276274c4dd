import { type Queryable, rows, type Trx } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import type { PayoutOutcome } from '../providers/provider.ts';
import type { WithdrawalRow } from './queries.ts';
import type { WithdrawalStatus } from './states.ts';

/** A row of `payout_case`. */
export type PayoutCase = {
  /** The withdrawal's status when the case was opened. */
  status: WithdrawalStatus;
  /** The provider's report that opened it; null: the provider had left the outcome open, and operators decided. */
  evidence: Record<string, unknown> | null;
  openedAt: Date;
  /** The operators' decision; null while open, and where a later report of the provider has closed it. */
  decision: 'COMPLETED' | 'FAILED' | null;
  providerReference: string | null;
  paidSantim: Santim | null;
  closedAt: Date | null;
};

/** The cases of a withdrawal, oldest first. */
export async function listCases(db: Queryable, withdrawalId: string): Promise<PayoutCase[]> {
  const sql = `SELECT status, evidence, opened_at, decision, provider_reference, paid_santim, closed_at
               FROM payout_case WHERE withdrawal_id = :withdrawalId ORDER BY id`;
  return rows<PayoutCase>(db, sql, { withdrawalId });
}

/** Whether the withdrawal has ended and its provider contradicts that, undecided so far. */
export function isContradicted({ status }: WithdrawalRow, cases: readonly PayoutCase[]): boolean {
  return status !== 'PENDING' && cases.some((one) => one.closedAt === null && one.status === status);
}

/** Whether the provider has ever contradicted the end of the withdrawal. */
export function wasContradicted(cases: readonly PayoutCase[]): boolean {
  return cases.some(({ evidence, status }) => evidence !== null && status !== 'PENDING');
}

/** The status that a definite report contradicts; null where it agrees with what was reported and booked before. */
export function contradictedStatus(
  { kind }: PayoutOutcome,
  { status, firstReportedPaidAt }: WithdrawalRow,
): 'PENDING' | 'FAILED' | 'SUCCESS' | null {
  const isReportedPaid = status === 'PENDING' && firstReportedPaidAt !== null;
  if (kind === 'succeeded' && (status === 'PENDING' || status === 'FAILED')) return status;
  if (kind === 'declined' && (status === 'SUCCESS' || isReportedPaid)) return status;
  return kind === 'reversed' && (status === 'PENDING' || status === 'SUCCESS') ? status : null;
}

export type ContradictingReport = {
  status: 'PENDING' | 'FAILED' | 'SUCCESS';
  evidence: Record<string, unknown>;
  /** Whether the outcome differs from the provider's last one: a repeat does not open a decided case again. */
  isNew: boolean;
  at: Date;
};

/** Opens a case, or replaces the evidence of the open one. Merchants see in the timeline that an end is contradicted. */
export async function openCase(
  trx: Trx,
  withdrawalId: string,
  { status, evidence, isNew, at }: ContradictingReport,
): Promise<void> {
  await rows(
    trx,
    `WITH opened AS (
       INSERT INTO payout_case (withdrawal_id, status, evidence, opened_at)
       SELECT :withdrawalId, :status, CAST(:evidence AS jsonb), CAST(:at AS timestamptz)
       WHERE CAST(:isNew AS boolean) OR NOT EXISTS (
         SELECT 1 FROM payout_case c WHERE c.withdrawal_id = :withdrawalId AND c.evidence IS NOT NULL
           AND (c.status = 'PENDING') = CAST(:isPending AS boolean))
       ON CONFLICT (withdrawal_id) WHERE closed_at IS NULL
         DO UPDATE SET status = excluded.status, evidence = excluded.evidence, opened_at = excluded.opened_at
       RETURNING withdrawal_id, status, evidence, opened_at
     )
     INSERT INTO withdrawal_timeline (withdrawal_id, occurred_at, kind, detail)
     SELECT withdrawal_id, opened_at, 'provider.conflict', evidence FROM opened WHERE status <> 'PENDING'`,
    { withdrawalId, status, evidence: JSON.stringify(evidence), isNew, isPending: status === 'PENDING', at },
  );
}
