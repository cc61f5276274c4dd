import { insertRow, rows, updateRow, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { WithdrawalRow } from './queries.ts';
import type { RESOLUTIONS, WithdrawalStatus } from './states.ts';

/** A row of `payout_case`. */
export type PayoutCase = {
  id: bigint;
  /** The withdrawal's status when the case was opened. */
  status: WithdrawalStatus;
  /** The provider's report that opened it; null: the provider had left the outcome open, and operators decided. */
  evidence: Record<string, unknown> | null;
  openedAt: Date;
  /** The operators' decision; null while open, and where a later report of the provider has closed it. */
  decision: (typeof RESOLUTIONS)[number] | null;
  providerReference: string | null;
  paidSantim: Santim | null;
  reason: string | null;
  decidedBy: string[] | null;
  closedAt: Date | null;
};

/** The cases of a withdrawal, oldest first. */
export async function listCases(db: Queryable, withdrawalId: string): Promise<PayoutCase[]> {
  const sql = 'SELECT * FROM payout_case WHERE withdrawal_id = :withdrawalId ORDER BY id';
  return rows<PayoutCase>(db, sql, { withdrawalId });
}

/** Changes the open case of a locked withdrawal, or creates one. */
export async function writeCase(
  { trx }: UnitOfWork,
  { row: { id: withdrawalId, status }, cases, at }: { row: WithdrawalRow; cases: readonly PayoutCase[]; at: Date },
  changes: Partial<PayoutCase>,
): Promise<void> {
  const open = cases.find(({ closedAt }) => closedAt === null);
  if (open) await updateRow(trx, { table: 'payout_case', id: String(open.id) }, changes);
  else await insertRow(trx, 'payout_case', { withdrawalId, status, openedAt: at, ...changes });
}

/** Whether the withdrawal has ended and its provider contradicts that, undecided so far. */
export function isContradicted({ status }: WithdrawalRow, cases: readonly PayoutCase[]): boolean {
  return status !== 'PENDING' && cases.some((one) => one.closedAt === null && one.status === status);
}

/** Whether the provider has ever contradicted the end of the withdrawal. */
export function wasContradicted(cases: readonly PayoutCase[]): boolean {
  return cases.some(({ evidence, status }) => evidence !== null && status !== 'PENDING');
}
