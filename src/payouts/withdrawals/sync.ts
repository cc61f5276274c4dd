import { first } from '../../lib/db.ts';
import type { CheckDeps } from '../../providers/lease.ts';
import { createCheck, type Check, type Outgoing } from '../check.ts';
import { applyProviderResult } from './apply-result.ts';
import { destinationOf, lockWithdrawal, updateWithdrawal, type WithdrawalRow } from './queries.ts';

export type CheckPayout = Check<WithdrawalRow>;

/** A withdrawal of a suspended merchant is not sent. */
export const PAYOUTS: Omit<Outgoing<WithdrawalRow>, 'apply'> = {
  kind: 'withdrawal',
  finalStatus: 'REVERSED',
  account: 'payouts',
  lock: lockWithdrawal,
  update: updateWithdrawal,
  isSendable: async (trx, { merchantId }) => {
    const sql = 'SELECT status FROM merchant WHERE id = :merchantId';
    return (await first<{ status: string }>(trx, sql, { merchantId }))?.status === 'ACTIVE';
  },
  query: (provider, { id }) => provider.queryPayout(id),
  send: (provider, row, notifyUrl) => {
    const { id: orderId, amountSantim, currency } = row;
    const { accountName, ...destination } = destinationOf(row);
    return provider.payout({ orderId, amountSantim, currency, destination, accountName, notifyUrl });
  },
};

/** Sends a withdrawal and queries its outcome, as {@link createCheck} does. */
export function createCheckPayout(deps: CheckDeps): CheckPayout {
  return createCheck(deps, {
    ...PAYOUTS,
    apply: async (leased, report) => applyProviderResult(deps, leased, report),
  });
}
