import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { countUpTo, readNewest, type ListPart } from '../lib/paginate-newest.ts';
import type { DayRange } from '../lib/pagination.ts';
import type { Environment, MerchantScope } from '../lib/scope.ts';

/**
 * The posted amounts of a payout that are still in effect, without released and reversed ones: paid to the beneficiary,
 * fee and tax, debited from the balance, and reserved while the payout is open.
 */
type PayoutTotals<Amount = Santim> = Record<
  'paidSantim' | 'feeSantim' | 'feeTaxSantim' | 'totalDebitSantim' | 'reservedSantim',
  Amount
>;

/** A payout as reports list it: its columns, and what the ledger has posted; null where nothing is posted. */
export type ExportedPayout<Columns> = Omit<Columns, keyof PayoutTotals> &
  PayoutTotals<Santim | null> & { position: string };

/** Payouts of one status (and channel), counted and added up. */
type PayoutGroup<By> = By & PayoutTotals & { count: number; amountSantim: Santim };

/** Filters of a merchant's list; null and undefined do not narrow it. */
export type PayoutFilter<Status> = MerchantScope & {
  range: DayRange;
  statuses: Status[] | null;
  /** Our id, the merchant's requestId, or the reference of the provider or the bank, whole. */
  search?: string | undefined;
};

/** Filters for operators: all merchants and both environments, unless one is given. */
export type AllPayouts<Filter extends MerchantScope> = Omit<Filter, keyof MerchantScope> & {
  merchantId?: string | undefined;
  environment?: Environment | undefined;
};

type AnyFilter = AllPayouts<PayoutFilter<string>> & { channel?: string | null | undefined };
type Reference = 'provider_reference' | 'bank_reference';

/** The SQL conditions of the filters that are set, and their values. `reference`: the column that is searched. */
export function payoutConditions(filter: AnyFilter, reference: Reference) {
  const { merchantId, environment, range, statuses, channel, search } = filter;
  const conditions = [
    'requested_at >= :from AND requested_at < :until',
    ...(merchantId === undefined ? [] : ['merchant_id = :merchantId']),
    ...(environment === undefined ? [] : ['environment = :environment']),
    ...(statuses ? ['status = ANY (:statuses)'] : []),
    ...(channel ? ['channel = :channel'] : []),
    ...(search ? [`(id = :search OR request_id = :search OR ${reference} = :search)`] : []),
  ];
  const values = { merchantId, environment, from: range.from, until: range.until, statuses, channel, search };
  return { where: conditions.join(' AND '), values };
}

/** In SQL: a table of payouts, its columns for reports, those to group by, two conditions, the paid amount, and the reference. */
type Exported = {
  table: 'withdrawal' | 'settlement';
  columns: string;
  groupBy: string;
  isPaid: string;
  isOpen: string;
  paid: string;
  reference: Reference;
};

/** Reads, counts and adds up the payouts of a list of the API, under its filters and in its order, for reports. */
export function createPayoutExport<Filter extends AnyFilter, Columns, By>(exported: Exported) {
  const { table, groupBy, reference } = exported;
  const totals = Object.entries(payoutTotals(exported));
  const sums = totals.map(([name, santim]) => `coalesce(sum(${santim}), 0)::bigint AS ${name}`);
  return {
    read: async (db: Queryable, filter: Filter, part: ListPart): Promise<ExportedPayout<Columns>[]> => {
      const columns = [exported.columns, ...totals.map(([name, santim]) => `${santim} AS ${name}`)].join(', ');
      return readNewest(db, { columns, table, time: 'requested_at', ...payoutConditions(filter, reference) }, part);
    },
    /** Counts up to `most`. */
    count: async (db: Queryable, filter: Filter, most: number): Promise<number> =>
      countUpTo(db, { table, ...payoutConditions(filter, reference) }, most),
    group: async (db: Queryable, filter: Filter): Promise<PayoutGroup<By>[]> => {
      const { where, values } = payoutConditions(filter, reference);
      return rows<PayoutGroup<By>>(
        db,
        `SELECT ${groupBy}, count(*)::int AS count, sum(amount_santim)::bigint AS amount_santim, ${sums.join(', ')}
         FROM ${table} WHERE ${where} GROUP BY ${groupBy} ORDER BY ${groupBy}`,
        values,
      );
    },
  };
}

/** {@link PayoutTotals} in SQL, by column. At most the requested amount is debited, beside the fee and its tax. */
function payoutTotals({ isPaid, isOpen, paid }: Exported) {
  return {
    paid_santim: `CASE WHEN ${isPaid} THEN ${paid} END`,
    fee_santim: `CASE WHEN ${isPaid} THEN fee_santim END`,
    fee_tax_santim: `CASE WHEN ${isPaid} THEN fee_tax_santim END`,
    total_debit_santim: `CASE WHEN ${isPaid} THEN least(${paid}, amount_santim) + fee_santim + fee_tax_santim END`,
    reserved_santim: `CASE WHEN ${isOpen} THEN amount_santim + fee_santim + fee_tax_santim END`,
  };
}
