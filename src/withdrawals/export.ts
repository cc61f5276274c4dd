import { payoutTotalsSql, type PayoutTotals } from '../ledger/payout-totals.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { maskDigits } from '../lib/mask.ts';
import type { Santim } from '../lib/money.ts';
import type { Position } from '../lib/pagination.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { withdrawalConditions, type WithdrawalFilter, type WithdrawalRow } from './queries.ts';
import type { WithdrawalStatus } from './states.ts';

/** A withdrawal as reports list it: the request, and what the ledger has posted. */
export type ExportedWithdrawal = Pick<
  WithdrawalRow,
  | 'id'
  | 'requestId'
  | 'amountSantim'
  | 'currency'
  | 'channel'
  | 'accountName'
  | 'reason'
  | 'status'
  | 'providerReference'
  | 'failure'
  | 'requestedAt'
  | 'completedAt'
  | 'reversedAt'
> &
  PayoutTotals<Santim | null> & {
    position: string;
    /** The last four digits of the phone, or bank and account. */
    destination: string;
  };

/** `number`: the whole phone or account number. */
type ExportRow = Omit<ExportedWithdrawal, 'destination'> & { number: string; bankCode: string | null };

const TOTALS = payoutTotalsSql({
  isPaid: `status = 'SUCCESS'`,
  isOpen: `status = 'PENDING'`,
  paid: 'coalesce(paid_santim, amount_santim)',
});

/** At most `limit` withdrawals of the list under this filter, in its order, after a position. */
export async function exportWithdrawals(
  db: Queryable,
  filter: WithdrawalFilter,
  { after, limit }: { after: Position | null; limit: number },
): Promise<ExportedWithdrawal[]> {
  const { where, values } = withdrawalConditions(filter);
  const found = await rows<ExportRow>(
    db,
    `SELECT id, request_id, amount_santim, ${TOTALS.columns}, currency, channel,
            coalesce(phone, account_number) AS number, bank_code, account_name, reason, status, provider_reference,
            failure, requested_at, completed_at, reversed_at, requested_at::text AS position
     FROM withdrawal
     WHERE ${where} ${after ? 'AND (requested_at, id) < (CAST(:afterAt AS timestamptz), CAST(:afterId AS text))' : ''}
     ORDER BY requested_at DESC, id DESC LIMIT :limit`,
    { ...values, afterAt: after?.at ?? null, afterId: after?.id ?? null, limit },
  );
  return found.map(masked);
}

function masked({ number, bankCode, ...row }: ExportRow): ExportedWithdrawal {
  const digits = maskDigits(number);
  return { ...row, destination: bankCode === null ? digits : `${bankCode} ${digits}` };
}

/** The number of withdrawals under this filter, counted up to `most`. */
export async function countWithdrawals(db: Queryable, filter: WithdrawalFilter, most: number): Promise<number> {
  const { where, values } = withdrawalConditions(filter);
  const [found] = await rows<{ count: number }>(
    db,
    `SELECT count(*)::int AS count FROM (SELECT FROM withdrawal WHERE ${where} LIMIT :most) counted`,
    { ...values, most },
  );
  return found?.count ?? 0;
}

/** Withdrawals of one status and channel, counted and added up. */
export type WithdrawalGroup = PayoutTotals & {
  status: WithdrawalStatus;
  channel: Channel;
  count: number;
  amountSantim: Santim;
};

/** The withdrawals under this filter, added up by status and channel. */
export async function groupWithdrawals(db: Queryable, filter: WithdrawalFilter): Promise<WithdrawalGroup[]> {
  const { where, values } = withdrawalConditions(filter);
  return rows<WithdrawalGroup>(
    db,
    `SELECT status, channel, count(*)::int AS count, sum(amount_santim)::bigint AS amount_santim, ${TOTALS.sums}
     FROM withdrawal WHERE ${where} GROUP BY status, channel ORDER BY status, channel`,
    values,
  );
}
