import type { PayoutTotals } from '../../ledger/payout-totals.ts';
import type { Santim } from '../../lib/money.ts';
import type { Column } from './columns.ts';

/** What is added up of money out, by column. */
export const MONEY_OUT_TOTALS = ['amount', 'paidAmount', 'fee', 'feeTax', 'totalDebit', 'reserved'] as const;
type Total = (typeof MONEY_OUT_TOTALS)[number];

/**
 * What was asked for, and beside it what the ledger has booked: empty where nothing is, as of what failed or came back,
 * so that each column adds up to the ledger.
 */
export function moneyOutColumns<Row extends { amountSantim: Santim } & PayoutTotals<Santim | null>>(): Column<Row>[] {
  return [
    { key: 'amount', heading: 'Amount', cell: (row) => row.amountSantim },
    { key: 'paidAmount', heading: 'Paid Amount', cell: (row) => row.paidSantim },
    { key: 'fee', heading: 'Fee', cell: (row) => row.feeSantim },
    { key: 'feeTax', heading: 'Fee Tax', cell: (row) => row.feeTaxSantim },
    { key: 'totalDebit', heading: 'Total Debit', cell: (row) => row.totalDebitSantim },
    { key: 'reserved', heading: 'Reserved', cell: (row) => row.reservedSantim },
  ];
}

/** The same of a group. */
export function moneyOutTotals(group: { amountSantim: Santim } & PayoutTotals): Record<Total, Santim> {
  return {
    amount: group.amountSantim,
    paidAmount: group.paidSantim,
    fee: group.feeSantim,
    feeTax: group.feeTaxSantim,
    totalDebit: group.totalDebitSantim,
    reserved: group.reservedSantim,
  };
}
