import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { countUpTo, readNewest, type Listed, type ListPart } from '../lib/paginate-newest.ts';

/** The posted amounts of a payout that are still in effect: without released and reversed ones. */
type PayoutTotals<Amount = Santim> = {
  /** Paid to the beneficiary. */
  paidSantim: Amount;
  feeSantim: Amount;
  feeTaxSantim: Amount;
  /** Debited from the balance: at most the requested amount, plus the fee and its tax. */
  totalDebitSantim: Amount;
  /** Reserved while the payout is open, with fee and tax. */
  reservedSantim: Amount;
};

/** A payout as reports list it: its columns, and what the ledger has posted; null where nothing is posted. */
export type ExportedPayout<Columns> = Omit<Columns, keyof PayoutTotals> &
  PayoutTotals<Santim | null> & { position: string };

/** Payouts of one status (and channel), counted and added up. */
type PayoutGroup<By> = By & PayoutTotals & { count: number; amountSantim: Santim };

/** In SQL: a table of payouts, its columns for reports, those to group by, two conditions and the paid amount. */
type Exported<Filter> = {
  table: 'withdrawal' | 'settlement';
  columns: string;
  groupBy: string;
  isPaid: string;
  isOpen: string;
  paid: string;
  conditionsOf: (filter: Filter) => Pick<Listed, 'where' | 'values'>;
};

/** Reads, counts and adds up the payouts of a list of the API, under its filters and in its order, for reports. */
export function createPayoutExport<Filter, Columns, By>(exported: Exported<Filter>) {
  const { table, groupBy, conditionsOf } = exported;
  const totals = payoutTotals(exported);
  return {
    read: async (db: Queryable, filter: Filter, part: ListPart): Promise<ExportedPayout<Columns>[]> => {
      const columns = `${exported.columns}, ${totals.columns}`;
      return readNewest(db, { columns, table, time: 'requested_at', ...conditionsOf(filter) }, part);
    },
    /** Counts up to `most`. */
    count: async (db: Queryable, filter: Filter, most: number): Promise<number> =>
      countUpTo(db, { table, ...conditionsOf(filter) }, most),
    group: async (db: Queryable, filter: Filter): Promise<PayoutGroup<By>[]> => {
      const { where, values } = conditionsOf(filter);
      return rows<PayoutGroup<By>>(
        db,
        `SELECT ${groupBy}, count(*)::int AS count, sum(amount_santim)::bigint AS amount_santim, ${totals.sums}
         FROM ${table} WHERE ${where} GROUP BY ${groupBy} ORDER BY ${groupBy}`,
        values,
      );
    },
  };
}

/** {@link PayoutTotals} in SQL: as columns of a row, and as sums. */
function payoutTotals({ isPaid, isOpen, paid }: Pick<Exported<never>, 'isPaid' | 'isOpen' | 'paid'>) {
  const ofPaid = (santim: string): string => `CASE WHEN ${isPaid} THEN ${santim} END`;
  const booked = Object.entries({
    paid_santim: ofPaid(paid),
    fee_santim: ofPaid('fee_santim'),
    fee_tax_santim: ofPaid('fee_tax_santim'),
    total_debit_santim: ofPaid(`least(${paid}, amount_santim) + fee_santim + fee_tax_santim`),
    reserved_santim: `CASE WHEN ${isOpen} THEN amount_santim + fee_santim + fee_tax_santim END`,
  });
  return {
    columns: booked.map(([name, santim]) => `${santim} AS ${name}`).join(', '),
    sums: booked.map(([name, santim]) => `coalesce(sum(${santim}), 0)::bigint AS ${name}`).join(', '),
  };
}
