import { isAcceptable, isUndecided, type Payment } from '../payments/queries.ts';
import type { BankAccountRow } from '../settlements/bank-account/queries.ts';
import type { SettlementRow } from '../settlements/queries.ts';
import { isContradicted, type PayoutCase } from '../withdrawals/conflicts.ts';
import type { WithdrawalRow } from '../withdrawals/queries.ts';

/** Paths of this API by what is done there. */
export type Links = Record<string, string>;

/** Where each of these is done to one thing. */
export function verbs(path: string, ...names: string[]): Links {
  return Object.fromEntries(names.map((name) => [name, `/api/ops/${path}/${name}`]));
}

/** What can be said of a withdrawal as it stands. */
export function withdrawalLinks(row: WithdrawalRow, cases: readonly PayoutCase[]): Links {
  const path = `withdrawals/${row.id}`;
  if (row.stage === 'UNDER_REVIEW') return verbs(path, 'approve', 'reject');
  if (row.stage === 'CREATED') return verbs(path, 'reject');
  return row.stage === 'UNKNOWN' || isContradicted(row, cases) ? verbs(path, 'resolve') : {};
}

/** What can be said of a settlement as it stands. */
export function settlementLinks({ id, status, lateCredit, lateCreditResolution }: SettlementRow): Links {
  const path = `settlements/${id}`;
  switch (status) {
    case 'REQUESTED':
      return verbs(path, 'approve', 'reject');
    case 'APPROVED':
      return verbs(path, 'sent', 'failed');
    case 'PROCESSING':
      return verbs(path, 'credited', 'failed');
    case 'COMPLETED':
      return verbs(path, 'returned');
    case 'FAILED':
      return lateCredit !== null && lateCreditResolution === null ? verbs(path, 'book-credit', 'dismiss-credit') : {};
    case 'REJECTED':
    case 'CANCELLED':
      return {};
    default:
      return status satisfies never;
  }
}

/** What can be said of a payment: only money that waits is decided about, and not all of it can be a merchant's. */
export function paymentLinks(transactionId: string, payment: Payment): Links {
  if (!isUndecided(payment)) return {};
  return verbs(`transactions/${transactionId}`, ...(isAcceptable(payment) ? ['accept'] : []), 'reject');
}

/** What can be said of a linked bank account: one that was verified can be rejected later. */
export function bankAccountLinks({ merchantId, status }: BankAccountRow): Links {
  const path = `merchants/${merchantId}/bank-account`;
  if (status === 'PENDING') return verbs(path, 'verify', 'reject');
  return status === 'VERIFIED' ? verbs(path, 'reject') : {};
}
