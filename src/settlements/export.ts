import { rows, type Queryable } from '../lib/db.ts';
import { maskDigits } from '../lib/mask.ts';
import type { Santim } from '../lib/money.ts';
import type { Position } from '../lib/page.ts';
import { SETTLEMENT_COLUMNS, type SettlementRow } from './model.ts';
import { settlementConditions, type SettlementFilter } from './queries.ts';
import type { SettlementStatus } from './states.ts';

/** A settlement as reports list it: of the account's number no more than the list shows. */
export type ExportedSettlement = SettlementRow & { position: string };

/** At most `limit` of the settlements that the list shows under the same filter, in its order, after a position. */
export async function exportSettlements(
  db: Queryable,
  filter: SettlementFilter,
  { after, limit }: { after: Position | null; limit: number },
): Promise<ExportedSettlement[]> {
  const { where, values } = settlementConditions(filter);
  const found = await rows<ExportedSettlement>(
    db,
    `SELECT ${SETTLEMENT_COLUMNS}, requested_at::text AS position FROM settlement
     WHERE ${where} ${after ? 'AND (requested_at, id) < (CAST(:afterAt AS timestamptz), CAST(:afterId AS text))' : ''}
     ORDER BY requested_at DESC, id DESC LIMIT :limit`,
    { ...values, afterAt: after?.at ?? null, afterId: after?.id ?? null, limit },
  );
  return found.map((row) => ({ ...row, accountNumber: maskDigits(row.accountNumber) }));
}

/** Settlements of one status, counted and added up. */
export type SettlementGroup = {
  status: SettlementStatus;
  count: number;
  amountSantim: Santim;
  feeSantim: Santim;
  feeTaxSantim: Santim;
};

/** What the list shows under this filter, added up by status. */
export async function groupSettlements(db: Queryable, filter: SettlementFilter): Promise<SettlementGroup[]> {
  const { where, values } = settlementConditions(filter);
  return rows<SettlementGroup>(
    db,
    `SELECT status, count(*)::int AS count, sum(amount_santim)::bigint AS amount_santim,
            sum(fee_santim)::bigint AS fee_santim, sum(fee_tax_santim)::bigint AS fee_tax_santim
     FROM settlement WHERE ${where} GROUP BY status ORDER BY status`,
    values,
  );
}
