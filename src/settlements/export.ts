import { payoutTotalsSql, type PayoutTotals } from '../ledger/payout-totals.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { maskDigits } from '../lib/mask.ts';
import type { Santim } from '../lib/money.ts';
import type { Position } from '../lib/pagination.ts';
import { settlementConditions, type SettlementFilter, type SettlementRow } from './queries.ts';
import type { SettlementStatus } from './states.ts';

/** A row of reports: a settlement with its ledger totals; `accountNumber` has only the last four digits. */
export type ExportedSettlement = SettlementRow & PayoutTotals<Santim | null> & { position: string };

const TOTALS = payoutTotalsSql({
  isPaid: `status = 'COMPLETED'`,
  isOpen: `status IN ('REQUESTED', 'APPROVED', 'PROCESSING')`,
  paid: 'amount_santim',
});

/** At most `limit` settlements after a position, by the filters and in the order of the list. */
export async function exportSettlements(
  db: Queryable,
  filter: SettlementFilter,
  { after, limit }: { after: Position | null; limit: number },
): Promise<ExportedSettlement[]> {
  const { where, values } = settlementConditions(filter);
  const found = await rows<ExportedSettlement>(
    db,
    `SELECT *, ${TOTALS.columns}, requested_at::text AS position
     FROM settlement
     WHERE ${where} ${after ? 'AND (requested_at, id) < (CAST(:afterAt AS timestamptz), CAST(:afterId AS text))' : ''}
     ORDER BY requested_at DESC, id DESC LIMIT :limit`,
    { ...values, afterAt: after?.at ?? null, afterId: after?.id ?? null, limit },
  );
  return found.map((row) => ({ ...row, accountNumber: maskDigits(row.accountNumber) }));
}

/** The number of settlements in the list, counted up to `most`. */
export async function countSettlements(db: Queryable, filter: SettlementFilter, most: number): Promise<number> {
  const { where, values } = settlementConditions(filter);
  const [found] = await rows<{ count: number }>(
    db,
    `SELECT count(*)::int AS count FROM (SELECT FROM settlement WHERE ${where} LIMIT :most) counted`,
    { ...values, most },
  );
  return found?.count ?? 0;
}

/** The number and sums of the settlements of one status. */
export type SettlementGroup = PayoutTotals & {
  status: SettlementStatus;
  count: number;
  amountSantim: Santim;
};

/** The settlements in the list, summed by status. */
export async function groupSettlements(db: Queryable, filter: SettlementFilter): Promise<SettlementGroup[]> {
  const { where, values } = settlementConditions(filter);
  return rows<SettlementGroup>(
    db,
    `SELECT status, count(*)::int AS count, sum(amount_santim)::bigint AS amount_santim, ${TOTALS.sums}
     FROM settlement WHERE ${where} GROUP BY status ORDER BY status`,
    values,
  );
}
