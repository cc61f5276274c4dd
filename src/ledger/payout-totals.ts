import type { Santim } from '../lib/money.ts';

/** The posted amounts of a payout that are still in effect: without released and reversed ones. */
export type PayoutTotals<Amount = Santim> = {
  /** Paid to the beneficiary. */
  paidSantim: Amount;
  feeSantim: Amount;
  feeTaxSantim: Amount;
  /** Debited from the balance: at most the requested amount, plus the fee and its tax. */
  totalDebitSantim: Amount;
  /** Reserved while the payout is open, with fee and tax. */
  reservedSantim: Amount;
};

/** SQL expressions of the table: two conditions and the paid amount. */
type Rules = { isPaid: string; isOpen: string; paid: string };

/** {@link PayoutTotals} in SQL, for a table of payouts: as columns of a row (null where nothing is posted), and as sums. */
export function payoutTotalsSql({ isPaid, isOpen, paid }: Rules): { columns: string; sums: string } {
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
