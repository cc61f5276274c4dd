import type { z } from 'zod';

import { first, rows, type Queryable } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import { pageOffset, toPage, type DayRange, type Page, type pageQuery } from '../lib/pagination.ts';
import { readPhoneSearch, type PhoneSearch } from '../lib/phone.ts';
import type { MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { CallbackAttempt } from '../providers/callbacks.ts';
import type { ProviderFailure, ProviderOutcome } from '../providers/provider.ts';
import type { TransactionRow } from './present.ts';
import { isAttemptOver, type AttemptStatus, type SessionStatus, type TransactionStatus } from './states.ts';
import type { TransactionListQuery } from './transaction-schema.ts';

/** A filter of the list; undefined and null do not narrow. */
export type TransactionFilter = MerchantScope &
  Omit<z.output<typeof TransactionListQuery>, 'startDate' | 'endDate' | 'status' | keyof typeof pageQuery> & {
    range: DayRange;
    statuses: TransactionStatus[] | null;
  };

/** SQL conditions on a transaction t for the filters that are set. */
export function transactionConditions(filter: TransactionFilter): string {
  const conditions = [
    't.merchant_id = :merchantId',
    't.environment = :environment',
    't.created_at >= :from',
    't.created_at < :until',
    't.currency = :currency',
    filter.statuses && 't.status = ANY (:statuses)',
    filter.transactionThrough && `t.channel = (SELECT id FROM channel WHERE transaction_through = :transactionThrough)`,
    filter.type && 't.type = :type',
    filter.minAmount !== undefined && 't.amount_santim >= :minAmount',
    filter.maxAmount !== undefined && 't.amount_santim <= :maxAmount',
    filter.search &&
      `(t.checkout_order_no ILIKE :pattern OR t.customer_email ILIKE :pattern OR t.id = :search
        OR t.session_id = :search OR t.provider_reference = :search ${phoneCondition(readPhoneSearch(filter.search))})`,
  ];
  return conditions.filter((one) => typeof one === 'string').join(' AND ');
}

/** A whole number is also compared with the payers' phones (index payment_attempt_phone). */
function phoneCondition(phone: PhoneSearch): string {
  if (phone === null) return '';
  if ('part' in phone) return 'OR t.customer_phone LIKE :phone';
  return `OR t.customer_phone = :phone OR t.id IN (
    SELECT a.transaction_id FROM payment_attempt a
    WHERE a.merchant_id = :merchantId AND a.environment = :environment AND a.phone = :phone)`;
}

function phoneBinding(phone: PhoneSearch): string | null {
  if (phone === null) return null;
  return 'part' in phone ? `%${phone.part}%` : phone.whole;
}

/** Values for {@link transactionConditions}. */
export function transactionValues(filter: TransactionFilter): Record<string, unknown> {
  const { range, search = '', ...rest } = filter;
  return {
    ...rest,
    search,
    from: range.from,
    until: range.until,
    pattern: `%${search.replace(/[\\%_]/g, '\\$&')}%`,
    phone: phoneBinding(readPhoneSearch(search)),
  };
}

/** A page of transactions, newest first, with the exact number of all that match: one statement. */
export async function listTransactions(db: Queryable, filter: TransactionFilter, page: Page) {
  const where = transactionConditions(filter);
  const after = page.after ? 'AND (t.created_at, t.id) < (CAST(:afterAt AS timestamptz), :afterId)' : '';
  const listed = await rows<TransactionRow & { position: string; total: number }>(
    db,
    `SELECT t.*, CAST(t.created_at AS text) AS position, counted.total
     FROM (SELECT count(*)::int AS total FROM transaction t WHERE ${where}) counted
     LEFT JOIN (
       SELECT * FROM transaction t WHERE ${where} ${after}
       ORDER BY t.created_at DESC, t.id DESC LIMIT :limit + 1 OFFSET :offset
     ) t ON true
     ORDER BY t.created_at DESC, t.id DESC`,
    {
      ...transactionValues(filter),
      limit: page.limit,
      offset: pageOffset(page),
      afterAt: page.after?.at ?? null,
      afterId: page.after?.id ?? null,
    },
  );
  // An empty page is one row that has only the total.
  const transactions = listed.filter(({ id }) => id !== null);
  return toPage<TransactionRow & { position: string }>(page, listed[0]?.total ?? 0, transactions);
}

/** One transaction of this merchant and environment. Throws NOT_FOUND. */
export async function findTransaction(
  db: Queryable,
  { merchantId, environment }: MerchantScope,
  transactionId: string,
): Promise<TransactionRow> {
  const sql =
    'SELECT * FROM transaction WHERE id = :transactionId AND merchant_id = :merchantId AND environment = :environment';
  return found(await first<TransactionRow>(db, sql, { merchantId, environment, transactionId }), 'transaction');
}

/** One transaction of any merchant: for operators. Throws NOT_FOUND. */
export async function readTransaction(db: Queryable, transactionId: string): Promise<TransactionRow> {
  const sql = 'SELECT * FROM transaction WHERE id = :transactionId';
  return found(await first<TransactionRow>(db, sql, { transactionId }), 'transaction');
}

/** A row of `payment_attempt`. */
export type AttemptRow = MerchantScope & {
  id: string;
  sessionId: string;
  transactionId: string;
  channel: Channel;
  /** The payer: digits from the country code on. */
  phone: string;
  amountSantim: Santim;
  currency: string;
  status: AttemptStatus;
  /** The provider's latest result, and when it was queried. */
  lastOutcome: ProviderOutcome['kind'] | null;
  lastCheckedAt: Date | null;
  providerReference: string | null;
  providerCode: string | null;
  failure: ProviderFailure | null;
  /** The received amount; null before any money came. */
  receivedSantim: Santim | null;
  receivedCurrency: string | null;
  holdResolution: 'ACCEPTED' | 'RETURNED' | null;
  holdResolvedAt: Date | null;
  returnReference: string | null;
  redirectUrl: string | null;
  callbackSecret: string;
  /** Until when another caller may be querying the provider. */
  leaseUntil: Date | null;
  /** null: never sent to the provider. */
  initiatedAt: Date | null;
  createdAt: Date;
  endedAt: Date | null;
};

/** The state of an attempt, its session and its transaction. `final`: the attempt is over and needs no further poll. */
export type AttemptState = Pick<
  AttemptRow,
  'sessionId' | 'transactionId' | 'initiatedAt' | 'lastCheckedAt' | 'redirectUrl' | 'leaseUntil'
> & {
  /** Whether this very call queried the provider: only then is `outcomeKind` fresh. */
  queried: boolean;
  attemptId: string;
  attemptStatus: AttemptStatus;
  transactionStatus: TransactionStatus;
  sessionStatus: SessionStatus;
  expiresAt: Date;
  final: boolean;
  outcomeKind: AttemptRow['lastOutcome'];
};

export type StateRow = Omit<AttemptState, 'queried' | 'final'>;

/** SQL of the states of these attempts. */
export const selectStates = (attempts: string): string =>
  `SELECT a.id AS attempt_id, a.session_id, a.transaction_id, a.status AS attempt_status, t.status AS transaction_status,
          s.status AS session_status, s.expires_at, a.initiated_at, a.last_outcome AS outcome_kind, a.last_checked_at,
          a.redirect_url, a.lease_until
   FROM ${attempts} a
   JOIN checkout_session s ON s.id = a.session_id
   JOIN transaction t ON t.id = a.transaction_id`;

export const toState = (row: StateRow, queried: boolean): AttemptState => ({
  ...row,
  queried,
  final: isAttemptOver(row.attemptStatus),
});

/** The stored state of one attempt. Throws NOT_FOUND. */
export async function readAttemptState(db: Queryable, attemptId: string): Promise<AttemptState> {
  const row = await first<StateRow>(db, `${selectStates('payment_attempt')} WHERE a.id = :attemptId`, { attemptId });
  return toState(found(row, 'payment attempt'), false);
}

/** Whether the provider's latest result is a definite "not paid (yet)". */
export function reportsUnpaid(state: Pick<AttemptState, 'outcomeKind'>): boolean {
  return state.outcomeKind === 'accepted' || state.outcomeKind === 'pending';
}

/** The attempt of a callback address, found by the secret that ends the address; null for any other secret. */
export async function findAttemptBySecret(db: Queryable, secret: string): Promise<CallbackAttempt | null> {
  const sql = 'SELECT id AS attempt_id, channel, environment FROM payment_attempt WHERE callback_secret = :secret';
  return (await first<CallbackAttempt>(db, sql, { secret })) ?? null;
}

/** All attempts to pay a transaction, the oldest first. */
export async function listAttempts(db: Queryable, transactionId: string): Promise<AttemptRow[]> {
  const sql = 'SELECT * FROM payment_attempt WHERE transaction_id = :transactionId ORDER BY created_at, id';
  return rows<AttemptRow>(db, sql, { transactionId });
}
