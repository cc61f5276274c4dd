import { countMovements, exportMovements, sumMovements, type ReadMovement } from '../../ledger/balance.ts';
import { maskDigits } from '../../lib/mask.ts';
import { toSantim } from '../../lib/money.ts';
import { TRANSACTION_THROUGH } from '../../merchants/channels/channel.ts';
import type { TransactionFilter } from '../../payments/queries.ts';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../payments/states.ts';
import { refundExport, type ExportedRefund as Refund } from '../../payouts/refunds/queries.ts';
import { REFUND_STATUSES } from '../../payouts/refunds/states.ts';
import { withdrawalExport, type ExportedWithdrawal as Withdrawal } from '../../payouts/withdrawals/queries.ts';
import { WITHDRAWAL_STATUSES } from '../../payouts/withdrawals/states.ts';
import { settlementExport, type ExportedSettlement as Settlement } from '../../settlements/queries.ts';
import { SETTLEMENT_STATUSES } from '../../settlements/states.ts';
import type { ReportKind } from '../states.ts';
import {
  countTransactions,
  exportTransactions,
  groupTransactions,
  type ExportedTransaction as Transaction,
} from '../transactions.ts';
import { dayColumns, PAYOUT_AMOUNTS, textColumns, timeColumns, type Column } from './columns.ts';
import { createListSource, createSource, type ReportFilter, type Source } from './source.ts';

/** The columns of the transaction list in its order, then further fields. */
export const TRANSACTION_COLUMNS: readonly Column<Transaction>[] = [
  ...textColumns<Transaction>('checkoutOrderNo'),
  { key: 'amount', heading: 'Amount', amount: 'amountSantim' },
  ...textColumns<Transaction>('currency'),
  {
    key: 'transactionThrough',
    heading: 'Transaction Through',
    cell: (row) => row.channel && TRANSACTION_THROUGH[row.channel],
  },
  ...dayColumns<Transaction>('transactionDate', (row) => row.createdAt),
  ...textColumns<Transaction>('type', 'status'),
  ...timeColumns<Transaction>('createdAt'),
  { key: 'transactionId', heading: 'Transaction ID', cell: (row) => row.id },
  ...textColumns<Transaction>('sessionId', 'customerName', 'customerEmail', 'customerPhone'),
  { key: 'receivedAmount', heading: 'Received Amount', amount: 'receivedSantim' },
  { key: 'fee', heading: 'Fee', amount: 'feeSantim' },
  { key: 'feeTax', heading: 'Fee Tax', amount: 'feeTaxSantim' },
  { key: 'netAmount', heading: 'Net Amount', amount: 'netSantim' },
  { key: 'refundedAmount', heading: 'Refunded Amount', amount: 'refundedSantim' },
  { key: 'feeReturned', heading: 'Fee Returned', amount: 'feeReturnedSantim' },
  { key: 'feeTaxReturned', heading: 'Fee Tax Returned', amount: 'feeTaxReturnedSantim' },
  { key: 'netAfterRefunds', heading: 'Net After Refunds', amount: 'netAfterRefundsSantim' },
  { key: 'reserved', heading: 'Reserved', amount: 'reservedSantim' },
  ...textColumns<Transaction>('providerReference'),
  ...timeColumns<Transaction>('completedAt'),
  { key: 'failureCode', heading: 'Failure Code', cell: (row) => row.failure?.code ?? null },
  { key: 'lateConfirmation', heading: 'Late Confirmation', cell: (row) => (row.confirmedLate ? 'yes' : null) },
  { key: 'held', heading: 'Held', cell: (row) => row.holdReason },
];

/** For people who may not see phone numbers. */
export const COLUMNS_WITHOUT_PHONES: typeof TRANSACTION_COLUMNS = TRANSACTION_COLUMNS.map((column) =>
  column.key === 'customerPhone'
    ? { ...column, cell: ({ customerPhone }: Transaction) => customerPhone && maskDigits(customerPhone) }
    : column,
);

const paymentsSource = createListSource<Transaction>({
  statuses: TRANSACTION_STATUSES,
  takesChannel: true,
  columns: TRANSACTION_COLUMNS,
  count: (db, filter, most) => countTransactions(db, listOfTransactions(filter), most),
  read: (db, filter, part) => exportTransactions(db, listOfTransactions(filter), part),
  group: (db, filter) => groupTransactions(db, listOfTransactions(filter)),
});

export function listOfTransactions({ statuses, channel, narrowing, ...rest }: ReportFilter): TransactionFilter {
  const { minAmount, maxAmount, ...narrower } = narrowing ?? {};
  return {
    ...rest,
    // Validated against TRANSACTION_STATUSES.
    statuses: statuses as TransactionStatus[] | null,
    currency: 'ETB',
    transactionThrough: channel && [TRANSACTION_THROUGH[channel]],
    ...narrower,
    ...(minAmount !== undefined && { minAmount: toSantim(minAmount) }),
    ...(maxAmount !== undefined && { maxAmount: toSantim(maxAmount) }),
  };
}

const refundsSource = createListSource<Refund>({
  statuses: REFUND_STATUSES,
  takesChannel: true,
  columns: [
    { key: 'refundId', heading: 'Refund ID', cell: (row) => row.id },
    ...textColumns<Refund>('reference', 'transactionId'),
    { key: 'amount', heading: 'Amount', amount: 'amountSantim' },
    { key: 'paidAmount', heading: 'Paid Amount', amount: 'paidSantim' },
    { key: 'feeReturned', heading: 'Fee Returned', amount: 'feeSantim' },
    { key: 'feeTaxReturned', heading: 'Fee Tax Returned', amount: 'feeTaxSantim' },
    { key: 'totalDebit', heading: 'Total Debit', amount: 'totalDebitSantim' },
    { key: 'reserved', heading: 'Reserved', amount: 'reservedSantim' },
    ...textColumns<Refund>('currency', 'channel', 'status'),
    ...dayColumns<Refund>('requestDate', (row) => row.requestedAt),
    ...timeColumns<Refund>('requestedAt'),
    ...textColumns<Refund>('reason', 'providerReference'),
    ...timeColumns<Refund>('completedAt'),
    { key: 'failureCode', heading: 'Failure Code', cell: (row) => row.failure?.code ?? null },
  ],
  ...refundExport,
});

const withdrawalsSource = createListSource<Withdrawal>({
  statuses: WITHDRAWAL_STATUSES,
  takesChannel: true,
  columns: [
    { key: 'withdrawalRequestId', heading: 'Withdrawal ID', cell: (row) => row.id },
    { key: 'requestId', heading: 'Request ID', cell: (row) => row.reference },
    ...PAYOUT_AMOUNTS,
    ...textColumns<Withdrawal>('currency', 'channel', 'destination', 'accountName', 'status'),
    ...dayColumns<Withdrawal>('requestDate', (row) => row.requestedAt),
    ...timeColumns<Withdrawal>('requestedAt'),
    ...textColumns<Withdrawal>('reason', 'providerReference'),
    ...timeColumns<Withdrawal>('completedAt', 'reversedAt'),
    { key: 'failureCode', heading: 'Failure Code', cell: (row) => row.failure?.code ?? null },
  ],
  ...withdrawalExport,
});

const settlementsSource = createListSource<Settlement>({
  statuses: SETTLEMENT_STATUSES,
  takesChannel: false,
  columns: [
    { key: 'settlementId', heading: 'Settlement ID', cell: (row) => row.id },
    ...textColumns<Settlement>('requestId'),
    ...PAYOUT_AMOUNTS,
    ...textColumns<Settlement>('currency'),
    { key: 'bank', heading: 'Bank', cell: (row) => row.bankCode },
    ...textColumns<Settlement>('accountNumber', 'accountName', 'status'),
    ...dayColumns<Settlement>('requestDate', (row) => row.requestedAt),
    ...timeColumns<Settlement>('requestedAt'),
    { key: 'effectiveDate', heading: 'Effective Date', as: 'day', cell: (row) => row.effectiveDate },
    { key: 'expectedBy', heading: 'Expected by', as: 'day', cell: (row) => row.expectedUntil },
    ...timeColumns<Settlement>('sentAt', 'creditedAt', 'returnedAt', 'completedAt'),
    ...textColumns<Settlement>('bankReference'),
    { key: 'failureCode', heading: 'Failure Code', cell: (row) => row.failure?.code ?? null },
  ],
  ...settlementExport,
});

type Movement = ReadMovement & { createdAt: Date };

/** Every movement of the available balance, as its history presents them: opening + amounts = closing. */
const balanceSource = createSource<Movement>({
  statuses: null,
  takesChannel: false,
  columns: [
    { key: 'entryId', heading: 'Entry ID', cell: (row) => `${row.journalId}-${row.entry}` },
    ...textColumns<Movement>('type'),
    { key: 'amount', heading: 'Amount', cell: (row) => row.amountSantim },
    { key: 'balanceAfter', heading: 'Balance After', cell: (row) => row.balanceAfterSantim },
    { key: 'currency', heading: 'Currency', cell: () => 'ETB' },
    ...dayColumns<Movement>('date', (row) => row.createdAt),
    ...timeColumns<Movement>('createdAt'),
    ...textColumns<Movement>('journalId', 'resourceType', 'resourceId'),
  ],
  count: (db, filter, most) => countMovements(db, { ...filter, account: 'available' }, most),
  sum: async (db, filter) => {
    const sums = await sumMovements(db, { ...filter, account: 'available' });
    const { count, openingSantim: openingBalance, amountSantim: amount, closingSantim: closingBalance } = sums;
    return { count, totals: { openingBalance, amount, closingBalance } };
  },
  read: async (db, filter, part) => {
    const movements = await exportMovements(db, { ...filter, account: 'available' }, part);
    return movements.map((movement) => ({ ...movement, createdAt: movement.effectiveAt }));
  },
});

export const SOURCES = {
  payments: paymentsSource,
  refunds: refundsSource,
  withdrawals: withdrawalsSource,
  settlements: settlementsSource,
  balance: balanceSource,
} as const satisfies Record<ReportKind, Source>;
