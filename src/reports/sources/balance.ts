import { countMovements, exportMovements, sumAccount, type ReadMovement as Row } from '../../ledger/balance.ts';
import { dayColumns, textColumns, timeColumns } from './columns.ts';
import { createSource } from './source.ts';

/** Every movement of the available balance, as its history presents them: opening + amounts = closing. */
export const balanceSource = createSource<Row>({
  statuses: null,
  takesChannel: false,
  columns: [
    { key: 'entryId', heading: 'Entry ID', cell: (row) => `${row.journalId}-${row.entry}` },
    ...textColumns<Row>('type'),
    { key: 'amount', heading: 'Amount', cell: (row) => row.amountSantim },
    { key: 'balanceAfter', heading: 'Balance After', cell: (row) => row.balanceAfterSantim },
    { key: 'currency', heading: 'Currency', cell: () => 'ETB' },
    ...dayColumns<Row>('date', 'Date', (row) => row.effectiveAt),
    ...timeColumns<Row>('createdAt', 'Created at', (row) => row.effectiveAt),
    ...textColumns<Row>('journalId', 'resourceType', 'resourceId'),
  ],
  count: (db, filter, most) => countMovements(db, { ...filter, account: 'available' }, most),
  sum: async (db, filter) => {
    const sums = await sumAccount(db, filter, { account: 'available', range: filter.range });
    const { count, openingSantim: openingBalance, movedSantim: amount, closingSantim: closingBalance } = sums;
    return { count, totals: { openingBalance, amount, closingBalance } };
  },
  read: (db, filter, part) => exportMovements(db, { ...filter, account: 'available' }, part),
});
