import { rows, type Queryable } from '../lib/db.ts';
import { listNewest } from '../lib/list.ts';
import type { Environment, Owner } from '../lib/owner.ts';
import type { DayRange, Page } from '../lib/page.ts';
import type { WithdrawalRow } from './model.ts';
import type { WithdrawalStatus } from './states.ts';

/** What to list; null and undefined do not narrow. */
export type WithdrawalFilter = Owner & {
  range: DayRange;
  statuses: WithdrawalStatus[] | null;
  channel?: string | undefined;
  /** One of our ids, or the merchant's requestId, whole. */
  search?: string | undefined;
};

/** Conditions in SQL on withdrawals for those filters that are set, and their values. */
export function withdrawalConditions(filter: WithdrawalFilter): { where: string; values: Record<string, unknown> } {
  const where = [
    'merchant_id = :merchantId AND environment = :environment AND requested_at >= :from AND requested_at < :until',
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
  const listed = { columns: '*', table: 'withdrawal', time: 'requested_at', ...withdrawalConditions(filter) };
  return listNewest<WithdrawalRow>(db, listed, page);
}

/** What was withdrawn over each channel since an instant, of what counts towards the day's limit; santim. */
export async function withdrawnSince(db: Queryable, owner: Owner, since: Date): Promise<ReadonlyMap<string, bigint>> {
  const found = await rows<{ channel: string; used: bigint }>(
    db,
    `SELECT id AS channel, withdrawn_since(:merchantId, :environment, id, :since) AS used FROM channel`,
    { merchantId: owner.merchantId, environment: owner.environment, since },
  );
  return new Map(found.map(({ channel, used }) => [channel, used]));
}

/** What operators list, of all merchants and both environments unless one is named. */
export type EverybodysWithdrawals = Omit<WithdrawalFilter, keyof Owner | 'channel'> & {
  merchantId?: string | undefined;
  environment?: Environment | undefined;
};

/** Withdrawals of all merchants, newest first. */
export async function listEverybodysWithdrawals(db: Queryable, filter: EverybodysWithdrawals, page: Page) {
  const { merchantId, environment, range, statuses, search } = filter;
  const where = [
    'requested_at >= :from AND requested_at < :until',
    merchantId !== undefined && 'merchant_id = :merchantId',
    environment !== undefined && 'environment = :environment',
    statuses && 'status = ANY (:statuses)',
    search !== undefined && '(id = :search OR request_id = :search OR provider_reference = :search)',
  ]
    .filter((one) => typeof one === 'string')
    .join(' AND ');
  const { from, until } = range;
  const named = { merchantId: merchantId ?? null, environment: environment ?? null, search: search ?? null };
  const values = { ...named, from, until, statuses };
  return listNewest<WithdrawalRow>(
    db,
    { columns: '*', table: 'withdrawal', time: 'requested_at', where, values },
    page,
  );
}
