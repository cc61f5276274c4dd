import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { DayRange, Page } from '../lib/pagination.ts';
import type { Environment, MerchantScope } from '../lib/scope.ts';
import { beneficiaryOf } from './destination.ts';
import { destinationOf, type WithdrawalRow } from './model.ts';
import type { WithdrawalStatus } from './states.ts';

export { destinationOf };

/** What to list; null and undefined do not narrow. */
export type WithdrawalFilter = MerchantScope & {
  range: DayRange;
  statuses: WithdrawalStatus[] | null;
  channel?: string | undefined;
  /** One of our ids, or the merchant's requestId, whole. */
  search?: string | undefined;
};

/** What operators list, of all merchants and both environments unless one is named. */
export type AllWithdrawals = Omit<WithdrawalFilter, keyof MerchantScope> & {
  merchantId?: string | undefined;
  environment?: Environment | undefined;
};

/** Conditions in SQL on withdrawals for those filters that are set, and their values. */
export function withdrawalConditions(filter: AllWithdrawals): {
  where: string;
  values: Record<string, unknown>;
} {
  const where = [
    filter.merchantId !== undefined && 'merchant_id = :merchantId',
    filter.environment !== undefined && 'environment = :environment',
    'requested_at >= :from AND requested_at < :until',
    filter.statuses && 'status = ANY (:statuses)',
    filter.channel && 'channel = :channel',
    filter.search && '(id = :search OR request_id = :search OR provider_reference = :search)',
  ]
    .filter((one) => typeof one === 'string' && one !== '')
    .join(' AND ');
  const { merchantId, environment, range, statuses, channel, search } = filter;
  const { from, until } = range;
  const values = { merchantId, environment, from, until, statuses, channel: channel ?? null, search: search ?? null };
  return { where, values };
}

/** The merchant's withdrawals, newest first. */
export async function listWithdrawals(db: Queryable, filter: WithdrawalFilter, page: Page) {
  return listAllWithdrawals(db, filter, page);
}

/** What was withdrawn over each channel since an instant, of what counts towards the day's limit; santim. */
export async function withdrawnSince(
  db: Queryable,
  scope: MerchantScope,
  since: Date,
): Promise<ReadonlyMap<string, bigint>> {
  const found = await rows<{ channel: string; used: bigint }>(
    db,
    `SELECT id AS channel, withdrawn_since(:merchantId, :environment, id, :since) AS used FROM channel`,
    { merchantId: scope.merchantId, environment: scope.environment, since },
  );
  return new Map(found.map(({ channel, used }) => [channel, used]));
}

/** Withdrawals of all merchants, newest first. */
export async function listAllWithdrawals(db: Queryable, filter: AllWithdrawals, page: Page) {
  const listed = { columns: '*', table: 'withdrawal', time: 'requested_at', ...withdrawalConditions(filter) };
  return paginateNewest<WithdrawalRow>(db, listed, page);
}

/** One operator's yes; "sandbox" says its own. */
export type Approval = { operatorId: string; approvedAt: Date };

/** Who has approved a withdrawal so far, in their order. */
export async function listApprovals(db: Queryable, withdrawalId: string): Promise<Approval[]> {
  const sql =
    'SELECT operator_id, approved_at FROM withdrawal_approval WHERE withdrawal_id = :withdrawalId ORDER BY approved_at';
  return rows<Approval>(db, sql, { withdrawalId });
}

/** What a beneficiary has got before, and under which names. */
export type PaidBefore = { count: number; santim: Santim; lastAt: Date | null; accountNames: string[] };

/** What its merchant has paid to the same phone or account before, of what did not come back. */
export async function readPaidBefore(db: Queryable, row: WithdrawalRow): Promise<PaidBefore> {
  const { id, merchantId, environment, completedAt } = row;
  const [paid] = await rows<PaidBefore>(
    db,
    `SELECT count(*)::int AS count, CAST(coalesce(sum(coalesce(paid_santim, amount_santim)), 0) AS bigint) AS santim,
            max(completed_at) AS last_at,
            coalesce(array_agg(DISTINCT account_name), '{}') AS account_names
     FROM withdrawal
     WHERE merchant_id = :merchantId AND environment = :environment AND id <> :id AND status = 'SUCCESS'
       AND coalesce(phone, bank_code || ':' || account_number) = :beneficiary
       AND completed_at <= coalesce(CAST(:completedAt AS timestamptz), 'infinity')`,
    { id, merchantId, environment, completedAt, beneficiary: beneficiaryOf(destinationOf(row)) },
  );
  if (!paid) throw new Error('an aggregate always has one row');
  return paid;
}
