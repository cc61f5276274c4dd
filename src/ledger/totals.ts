import { first, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { allOf, paginateNewest } from '../lib/paginate-newest.ts';
import type { DayRange, Page } from '../lib/pagination.ts';
import type { MerchantScope } from '../lib/scope.ts';
import type { MovementMatch, ReadMovement } from './balance.ts';

/** The totals of a merchant's balance, by their names in the API: each is a sum over its journals. */
export const TOTALS = ['fees', 'settled'] as const;
export type Total = (typeof TOTALS)[number];

export type TotalFilter = MerchantScope & { total: Total; range: DayRange } & MovementMatch;

/** What one journal adds to a total. Journals have the time of their business and may be posted after later ones. */
export type Addition = Omit<ReadMovement, 'balanceAfterSantim' | 'sequence'>;

/** In SQL: the merchant's journals that add to a total, those of the days, and those that match. */
function conditions({ total, range, types, resourceId, merchantId, environment }: TotalFilter) {
  return {
    adds: `merchant_id = :merchantId AND environment = :environment AND ${total}_santim <> 0 AND effective_at < :until`,
    ofDays: 'effective_at >= :from',
    matches: allOf([types && 'kind = ANY (:types)', resourceId !== undefined && 'resource_id = :resourceId']),
    values: { merchantId, environment, types, resourceId, from: range.from, until: range.until },
  };
}

/** One page of the journals that add to a total, the newest first. */
export async function listAdditions(db: Queryable, filter: TotalFilter, page: Page) {
  const { adds, ofDays, matches, values } = conditions(filter);
  const columns = `id, id AS journal_id, 0 AS entry, kind AS type, ${filter.total}_santim AS amount_santim,
    resource_type, resource_id, effective_at`;
  const where = `${adds} AND ${ofDays} AND ${matches}`;
  return paginateNewest<Addition>(db, { columns, table: 'ledger_journal', time: 'effective_at', where, values }, page);
}

/** The number and the sum of what {@link listAdditions} lists, and the total before and after the days. */
export async function sumAdditions(db: Queryable, filter: TotalFilter) {
  const { adds, ofDays, matches, values } = conditions(filter);
  const santim = (where: string) => `coalesce(sum(${filter.total}_santim) FILTER (WHERE ${where}), 0)::bigint`;
  const sums = await first<{ count: number } & Record<'amountSantim' | 'openingSantim' | 'closingSantim', Santim>>(
    db,
    `SELECT count(*) FILTER (WHERE ${ofDays} AND ${matches})::int AS count,
            ${santim(`${ofDays} AND ${matches}`)} AS amount_santim,
            ${santim(`NOT ${ofDays}`)} AS opening_santim, ${santim('true')} AS closing_santim
     FROM ledger_journal WHERE ${adds}`,
    values,
  );
  return sums!;
}
