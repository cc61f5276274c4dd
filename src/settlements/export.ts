import { rows, type Queryable } from '../lib/db.ts';
import { maskDigits } from '../lib/mask.ts';
import type { Santim } from '../lib/money.ts';
import type { Position } from '../lib/page.ts';
import type { SettlementRow } from './model.ts';
import { settlementConditions, type SettlementFilter } from './queries.ts';
import type { SettlementStatus } from './states.ts';

/** A settlement as reports list it; of the account's number the last four digits. */
export type ExportedSettlement = Pick<
  SettlementRow,
  | 'id'
  | 'requestId'
  | 'amountSantim'
  | 'feeSantim'
  | 'feeTaxSantim'
  | 'currency'
  | 'bankCode'
  | 'accountNumber'
  | 'accountName'
  | 'status'
  | 'effectiveDate'
  | 'expectedBy'
  | 'bankReference'
  | 'failure'
  | 'requestedAt'
  | 'sentAt'
  | 'creditedAt'
  | 'completedAt'
> & { position: string };

/** At most `limit` of the settlements that the list shows under the same filter, in its order, after a position. */
export async function exportSettlements(
  db: Queryable,
  filter: SettlementFilter,
  { after, limit }: { after: Position | null; limit: number },
): Promise<ExportedSettlement[]> {
  const { where, values } = settlementConditions(filter);
  const found = await rows<ExportedSettlement>(
    db,
    `SELECT id, request_id, amount_santim, fee_santim, fee_tax_santim, currency, bank_code, account_number, account_name,
            status, CAST(effective_date AS text) AS effective_date, CAST(expected_by AS text) AS expected_by,
            bank_reference, failure, requested_at, sent_at, credited_at, completed_at, requested_at::text AS position
     FROM settlement
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
