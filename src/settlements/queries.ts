import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { DayRange, Page } from '../lib/pagination.ts';
import type { Environment, MerchantScope } from '../lib/scope.ts';
import { SETTLEMENT_COLUMNS, type SettlementRow } from './model.ts';
import type { SettlementStatus } from './states.ts';

/** What to list; null and undefined do not narrow. */
export type SettlementFilter = MerchantScope & {
  range: DayRange;
  statuses: SettlementStatus[] | null;
  /** Our id, the merchant's requestId, or the bank's reference, whole. */
  search?: string | undefined;
};

/** What operators list, of all merchants and both environments unless one is named. */
export type AllSettlements = Omit<SettlementFilter, keyof MerchantScope> & {
  merchantId?: string | undefined;
  environment?: Environment | undefined;
};

/** Conditions in SQL on settlements for those filters that are set, and their values. */
export function settlementConditions(filter: AllSettlements): {
  where: string;
  values: Record<string, unknown>;
} {
  const where = [
    filter.merchantId !== undefined && 'merchant_id = :merchantId',
    filter.environment !== undefined && 'environment = :environment',
    'requested_at >= :from AND requested_at < :until',
    filter.statuses && 'status = ANY (:statuses)',
    filter.search && '(id = :search OR request_id = :search OR bank_reference = :search)',
  ]
    .filter((one) => typeof one === 'string' && one !== '')
    .join(' AND ');
  const { merchantId, environment, range, statuses, search } = filter;
  const { from, until } = range;
  const values = { merchantId, environment, from, until, statuses, search: search ?? null };
  return { where, values };
}

/** The merchant's settlements, newest first. */
export async function listSettlements(db: Queryable, filter: SettlementFilter, page: Page) {
  return listAllSettlements(db, filter, page);
}

/** Settlements of all merchants, newest first. */
export async function listAllSettlements(db: Queryable, filter: AllSettlements, page: Page) {
  const listed = {
    columns: SETTLEMENT_COLUMNS,
    table: 'settlement',
    time: 'requested_at',
    ...settlementConditions(filter),
  };
  return paginateNewest<SettlementRow>(db, listed, page);
}

/** What was settled to the same account of the merchant before. */
export async function readSettledBefore(
  db: Queryable,
  row: SettlementRow,
): Promise<{ count: number; santim: Santim; lastAt: Date | null }> {
  const { id, merchantId, environment, bankCode, accountNumber, completedAt } = row;
  const [settled] = await rows<{ count: number; santim: Santim; lastAt: Date | null }>(
    db,
    `SELECT count(*)::int AS count, CAST(coalesce(sum(amount_santim), 0) AS bigint) AS santim, max(credited_at) AS last_at
     FROM settlement
     WHERE merchant_id = :merchantId AND environment = :environment AND id <> :id AND status = 'COMPLETED'
       AND bank_code = :bankCode AND account_number = :accountNumber
       AND completed_at <= coalesce(CAST(:completedAt AS timestamptz), 'infinity')`,
    { id, merchantId, environment, bankCode, accountNumber, completedAt },
  );
  if (!settled) throw new Error('an aggregate always has one row');
  return settled;
}
