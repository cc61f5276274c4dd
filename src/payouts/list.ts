import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { allOf, countUpTo, readNewest, type ListPart } from '../lib/paginate-newest.ts';
import type { DayRange } from '../lib/pagination.ts';
import type { Environment, MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { PayoutKind, PayoutRow } from './queries.ts';

/**
 * The posted amounts of a payout that are still in effect, without released and reversed ones: paid to the beneficiary,
 * fee and tax (of a refund, given back), debited from the balance, and reserved while the payout is open.
 */
type PayoutTotals<Amount = Santim> = Record<
  'paidSantim' | 'feeSantim' | 'feeTaxSantim' | 'totalDebitSantim' | 'reservedSantim',
  Amount
>;

/** A payout as reports list it: its columns, and what the ledger has posted; null where nothing is posted. */
export type ExportedPayout<Columns> = Omit<Columns, keyof PayoutTotals> &
  PayoutTotals<Santim | null> & { position: string };

/** Payouts of one status (and channel), counted and added up. */
type PayoutGroup = PayoutTotals & { status: string; channel?: Channel; count: number; amountSantim: Santim };

/** Filters of a merchant's list; null and undefined do not narrow it. */
export type PayoutFilter<Status> = MerchantScope & {
  range: DayRange;
  statuses: Status[] | null;
  /** Our id, the merchant's own, or the reference of the provider or the bank, whole. */
  search?: string | undefined;
};

/** The same of withdrawals or refunds. */
export type OutgoingFilter<Status, Stage> = PayoutFilter<Status> & {
  channel?: string | undefined;
  /** Of pending ones. */
  stage?: Stage[] | null | undefined;
};

/** Filters for operators: all merchants and both environments, unless one is given. */
export type AllPayouts<Filter extends MerchantScope> = Omit<Filter, keyof MerchantScope> & {
  merchantId?: string | undefined;
  environment?: Environment | undefined;
};

type AnyFilter = AllPayouts<PayoutFilter<string>> & {
  channel?: string | null | undefined;
  stage?: string[] | null | undefined;
};

/** The SQL conditions of the filters that are set, and their values. `searched`: the columns that are searched beside the id. */
export function payoutConditions(
  filter: AnyFilter,
  { kind = null, searched }: { kind?: PayoutKind | null; searched: readonly string[] },
) {
  const { merchantId, environment, range, statuses, stage, channel, search } = filter;
  const where = allOf([
    kind && `kind = '${kind}'`,
    'requested_at >= :from AND requested_at < :until',
    merchantId !== undefined && 'merchant_id = :merchantId',
    environment !== undefined && 'environment = :environment',
    statuses && 'status = ANY (:statuses)',
    stage && `status = 'PENDING' AND stage = ANY (:stage)`,
    channel && 'channel = :channel',
    search && `(${['id', ...searched].map((column) => `${column} = :search`).join(' OR ')})`,
  ]);
  const values = { merchantId, environment, from: range.from, until: range.until, statuses, stage, channel, search };
  return { where, values };
}

/**
 * In SQL: a table of payouts, its columns for reports, those to group by, two conditions, the paid amount, the columns that are
 * searched, and '-' before a fee that it gives back.
 */
type Exported = {
  table: 'payout' | 'settlement';
  /** Of the payouts. */
  kind?: PayoutKind;
  columns: string;
  groupBy: string;
  isPaid: string;
  isOpen: string;
  paid: string;
  searched: readonly string[];
  sign?: '-' | '';
};

/** The columns of withdrawals and refunds for reports: nothing secret. */
export const OUTGOING_COLUMNS = [
  'id',
  'amountSantim',
  'currency',
  'channel',
  'reason',
  'status',
  'providerReference',
  'failure',
  'requestedAt',
  'completedAt',
] as const satisfies (keyof PayoutRow)[];

/** Of withdrawals and refunds alike. */
export const OUTGOING_EXPORT = {
  groupBy: 'status, channel',
  isPaid: `status = 'SUCCESS'`,
  isOpen: `status = 'PENDING'`,
  paid: 'coalesce(paid_santim, amount_santim)',
} as const;

/** Reads, counts and adds up the payouts of a list of the API, under its filters and in its order, for reports. */
export function createPayoutExport<Columns>({
  table,
  groupBy,
  isPaid,
  isOpen,
  paid,
  sign = '',
  ...exported
}: Exported) {
  const ofPaid = (santim: string): string => `CASE WHEN ${isPaid} THEN ${santim} END`;
  const totals = Object.entries({
    paid_santim: ofPaid(paid),
    fee_santim: ofPaid(`${sign}fee_santim`),
    fee_tax_santim: ofPaid(`${sign}fee_tax_santim`),
    total_debit_santim: ofPaid(`least(${paid}, amount_santim) + fee_santim + fee_tax_santim`),
    reserved_santim: `CASE WHEN ${isOpen} THEN amount_santim + fee_santim + fee_tax_santim END`,
  });
  const sums = totals.map(([name, santim]) => `coalesce(sum(${santim}), 0)::bigint AS ${name}`);
  const columns = [exported.columns, ...totals.map(([name, santim]) => `${santim} AS ${name}`)].join(', ');
  const list = { columns, table, time: 'requested_at' };
  const listed = (filter: AnyFilter) => ({ ...list, ...payoutConditions(filter, exported) });
  return {
    read: async (db: Queryable, filter: AnyFilter, part: ListPart) =>
      readNewest<ExportedPayout<Columns>>(db, listed(filter), part),
    count: async (db: Queryable, filter: AnyFilter, most: number) => countUpTo(db, listed(filter), most),
    group: async (db: Queryable, filter: AnyFilter): Promise<PayoutGroup[]> => {
      const { where, values } = listed(filter);
      return rows<PayoutGroup>(
        db,
        `SELECT ${groupBy}, count(*)::int AS count, sum(amount_santim)::bigint AS amount_santim, ${sums.join(', ')}
         FROM ${table} WHERE ${where} GROUP BY ${groupBy} ORDER BY ${groupBy}`,
        values,
      );
    },
  };
}
