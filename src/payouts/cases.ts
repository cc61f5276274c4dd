import { insertRow, rows, updateRow, type Queryable, type Trx } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import type { PayoutRow } from './queries.ts';
import type { Resolution } from './resolution.ts';

/** What a provider contradicts, or has left open until operators decided about it. */
export type PayoutCase = {
  id: bigint;
  /** The payout's status when the case was opened. */
  status: string;
  /** The provider's report that opened it; null: the provider had left the outcome open, and operators decided. */
  evidence: Record<string, unknown> | null;
  openedAt: Date;
  /** The operators' decision; null while open, and where a later report of the provider has closed it. */
  decision: Resolution['outcome'] | null;
  providerReference: string | null;
  paidSantim: Santim | null;
  reason: string | null;
  decidedBy: string[] | null;
  closedAt: Date | null;
};

/** The cases of a payout, oldest first. */
export async function listCases(db: Queryable, payoutId: string): Promise<PayoutCase[]> {
  return rows<PayoutCase>(db, 'SELECT * FROM payout_case WHERE payout_id = :payoutId ORDER BY id', { payoutId });
}

/** Changes the open case of a locked payout, or creates one. */
export async function writeCase(
  trx: Trx,
  { row: { id: payoutId, status }, cases, at }: { row: PayoutRow; cases: readonly PayoutCase[]; at: Date },
  changes: Partial<PayoutCase>,
): Promise<void> {
  const open = cases.find(({ closedAt }) => closedAt === null);
  if (open) await updateRow(trx, { table: 'payout_case', id: String(open.id) }, changes);
  else await insertRow(trx, 'payout_case', { payoutId, status, openedAt: at, ...changes });
}

/** Closes the open case of a payout that ends by a report. */
export async function closeCase(trx: Trx, payoutId: string, at: Date): Promise<void> {
  const sql = 'UPDATE payout_case SET closed_at = :at WHERE payout_id = :payoutId AND closed_at IS NULL';
  await rows(trx, sql, { payoutId, at });
}

/** {@link isContradicted} in SQL, of a case `c` and its payout. */
export const isContradictedSql = (payout: string): string =>
  `c.closed_at IS NULL AND ${payout}.status = c.status AND ${payout}.status <> 'PENDING'`;

/** Whether the payout has ended and its provider contradicts that, undecided so far. */
export function isContradicted({ status }: PayoutRow, cases: readonly PayoutCase[]): boolean {
  return status !== 'PENDING' && cases.some((one) => one.closedAt === null && one.status === status);
}

/** Whether the provider has ever contradicted the end of the payout. */
export function wasContradicted(cases: readonly PayoutCase[]): boolean {
  return cases.some(({ evidence, status }) => evidence !== null && status !== 'PENDING');
}
