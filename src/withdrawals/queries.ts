import type { Payout } from '../ledger/postings.ts';
import { rows, type Knex, type Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { maskDigits } from '../lib/mask.ts';
import type { Santim } from '../lib/money.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { DayRange, Page } from '../lib/pagination.ts';
import { scopeOf, type Environment, type MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { CallbackWithdrawal } from '../providers/callbacks.ts';
import type { PayoutDestination, PayoutFailure, PayoutOutcome } from '../providers/provider.ts';
import type { ReviewReason, WithdrawalStage, WithdrawalStatus } from './states.ts';

/** The limits a withdrawal was judged by when it was asked for; santim as plain numbers. */
export type LimitsApplied = {
  minSantim: number;
  maxSantim: number;
  dailySantim: number | null;
  usedTodaySantim: number;
};

/** A row of `withdrawal`. */
export type WithdrawalRow = MerchantScope & {
  id: string;
  requestId: string;
  amountSantim: Santim;
  feeSantim: Santim;
  feeTaxSantim: Santim;
  /** What the beneficiary got, where that is not the amount. */
  paidSantim: Santim | null;
  currency: string;
  channel: Channel;
  phone: string | null;
  bankCode: string | null;
  accountNumber: string | null;
  accountName: string;
  reason: string | null;
  status: WithdrawalStatus;
  stage: WithdrawalStage;
  reviewReasons: ReviewReason[];
  approvalsNeeded: number;
  limitSnapshot: LimitsApplied;
  providerReference: string | null;
  providerCode: string | null;
  lastOutcome: PayoutOutcome['kind'] | null;
  failure: PayoutFailure | null;
  callbackSecret: string;
  leaseUntil: Date | null;
  lastCheckedAt: Date | null;
  requestedBy: string;
  version: number;
  requestedAt: Date;
  submittedAt: Date | null;
  completedAt: Date | null;
  reversedAt: Date | null;
  /** When the provider first reported it as paid, if that report caused no transition. */
  firstReportedPaidAt: Date | null;
};

/** One withdrawal, whoever's: for workflows and operators. Throws NOT_FOUND. */
export async function readWithdrawal(db: Queryable, id: string): Promise<WithdrawalRow> {
  const [row] = await rows<WithdrawalRow>(db, 'SELECT * FROM withdrawal WHERE id = :id', { id });
  if (!row) throw notFound('withdrawal');
  return row;
}

/** Locks a withdrawal until the end of the transaction, and reads it. Throws NOT_FOUND. */
export async function lockWithdrawal(trx: Knex.Transaction, id: string): Promise<WithdrawalRow> {
  const [row] = await rows<WithdrawalRow>(trx, 'SELECT * FROM withdrawal WHERE id = :id FOR UPDATE', { id });
  if (!row) throw notFound('withdrawal');
  return row;
}

/** One of the merchant's, by our id or by its own requestId. Throws NOT_FOUND. */
export async function findWithdrawal(
  db: Queryable,
  scope: MerchantScope,
  idOrRequestId: string,
): Promise<WithdrawalRow> {
  const [row] = await rows<WithdrawalRow>(
    db,
    `SELECT * FROM withdrawal
     WHERE merchant_id = :merchantId AND environment = :environment AND (id = :wanted OR request_id = :wanted)
     ORDER BY id <> :wanted LIMIT 1`,
    { ...scopeOf(scope), wanted: idOrRequestId },
  );
  if (!row) throw notFound('withdrawal');
  return row;
}

/** Where its money goes. */
export function destinationOf(row: WithdrawalRow): Destination {
  const { accountName, phone, bankCode, accountNumber } = row;
  if (phone !== null) return { kind: 'phone', phone, accountName };
  if (bankCode !== null && accountNumber !== null) return { kind: 'bank', bankCode, accountNumber, accountName };
  throw new Error(`withdrawal ${row.id} has no destination`);
}

/** What the ledger books of it. */
export function toPayout(row: WithdrawalRow): Payout & { type: 'withdrawal' } {
  const { id, channel, amountSantim, feeSantim, feeTaxSantim } = row;
  const paidSantim = row.paidSantim ?? amountSantim;
  return { ...scopeOf(row), type: 'withdrawal', id, channel, amountSantim, paidSantim, feeSantim, feeTaxSantim };
}

/** The withdrawal that a provider's callback belongs to, by the last part of the address it was given; null for any other. */
export async function findWithdrawalBySecret(db: Queryable, secret: string): Promise<CallbackWithdrawal | null> {
  const [withdrawal] = await rows<CallbackWithdrawal>(
    db,
    `SELECT id AS withdrawal_id, channel, environment FROM withdrawal WHERE callback_secret = :secret`,
    { secret },
  );
  return withdrawal ?? null;
}

/** Where money goes, and to whom. */
export type Destination = PayoutDestination & { accountName: string };

/** One beneficiary, however often it is paid: the key that rows of `withdrawal` are found by. */
export function beneficiaryOf(destination: PayoutDestination): string {
  return destination.kind === 'phone' ? destination.phone : `${destination.bankCode}:${destination.accountNumber}`;
}

/** As it is shown: the last four digits of a phone or an account say enough to tell it by. */
export function maskDestination(destination: Destination) {
  const { accountName } = destination;
  if (destination.kind === 'phone') return { phone: maskDigits(destination.phone), accountName };
  return { bankCode: destination.bankCode, accountNumber: maskDigits(destination.accountNumber), accountName };
}

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
