import { payoutTotalsSql, type Booked } from '../ledger/payout-totals.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { maskDigits } from '../lib/mask.ts';
import type { Santim } from '../lib/money.ts';
import type { Position } from '../lib/pagination.ts';
import { settlementConditions, type SettlementFilter, type SettlementRow } from './queries.ts';
import type { SettlementStatus } from './states.ts';

/** A settlement as reports list it, with what the ledger has booked of it; of the account's number the last four digits. */
export type ExportedSettlement = Pick<
  SettlementRow,
  | 'id'
  | 'requestId'
  | 'amountSantim'
  | 'currency'
  | 'bankCode'
  | 'accountNumber'
  | 'accountName'
  | 'status'
  | 'effectiveDate'
  | 'expectedUntil'
  | 'bankReference'
  | 'failure'
  | 'requestedAt'
  | 'sentAt'
  | 'creditedAt'
  | 'returnedAt'
  | 'completedAt'
> &
  Booked<Santim | null> & { position: string };

const BOOKED = payoutTotalsSql({
  isPaid: `status = 'COMPLETED'`,
  isOpen: `status IN ('REQUESTED', 'APPROVED', 'PROCESSING')`,
  paid: 'amount_santim',
});

/** At most `limit` of the settlements that the list shows under the same filter, in its order, after a position. */
export async function exportSettlements(
  db: Queryable,
  filter: SettlementFilter,
  { after, limit }: { after: Position | null; limit: number },
): Promise<ExportedSettlement[]> {
  const { where, values } = settlementConditions(filter);
  const found = await rows<ExportedSettlement>(
    db,
    `SELECT id, request_id, amount_santim, ${BOOKED.columns}, currency, bank_code, account_number, account_name, status,
            CAST(effective_date AS text) AS effective_date, CAST(expected_until AS text) AS expected_until,
            bank_reference, failure, requested_at, sent_at, credited_at, returned_at, completed_at,
            requested_at::text AS position
     FROM settlement
     WHERE ${where} ${after ? 'AND (requested_at, id) < (CAST(:afterAt AS timestamptz), CAST(:afterId AS text))' : ''}
     ORDER BY requested_at DESC, id DESC LIMIT :limit`,
    { ...values, afterAt: after?.at ?? null, afterId: after?.id ?? null, limit },
  );
  return found.map((row) => ({ ...row, accountNumber: maskDigits(row.accountNumber) }));
}

/** How many settlements the list shows under this filter, counted no further than `most`. */
export async function countSettlements(db: Queryable, filter: SettlementFilter, most: number): Promise<number> {
  const { where, values } = settlementConditions(filter);
  const [found] = await rows<{ count: number }>(
    db,
    `SELECT count(*)::int AS count FROM (SELECT FROM settlement WHERE ${where} LIMIT :most) counted`,
    { ...values, most },
  );
  return found?.count ?? 0;
}

/** Settlements of one status, counted and added up. */
export type SettlementGroup = Booked & {
  status: SettlementStatus;
  count: number;
  amountSantim: Santim;
};

/** What the list shows under this filter, added up by status. */
export async function groupSettlements(db: Queryable, filter: SettlementFilter): Promise<SettlementGroup[]> {
  const { where, values } = settlementConditions(filter);
  return rows<SettlementGroup>(
    db,
    `SELECT status, count(*)::int AS count, sum(amount_santim)::bigint AS amount_santim, ${BOOKED.sums}
     FROM settlement WHERE ${where} GROUP BY status ORDER BY status`,
    values,
  );
}
