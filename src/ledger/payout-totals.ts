import type { Santim } from '../lib/money.ts';

/** What the ledger has booked of money out, and kept booked: what failed was released, what came back is mirrored. */
export type Booked<Amount = Santim> = {
  /** What beneficiaries have. */
  paidSantim: Amount;
  feeSantim: Amount;
  feeTaxSantim: Amount;
  /** What the balance gave for it: no more than was asked for, whatever was paid, and the fee and its tax. */
  totalDebitSantim: Amount;
  /** What is set aside for it while it is open, fee and tax included. */
  reservedSantim: Amount;
};

/** Conditions and an amount in SQL. */
type Rules = { isPaid: string; isOpen: string; paid: string };

/** {@link Booked} in SQL, of a table of money out: as a row's columns, null where nothing is booked; and added up. */
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
