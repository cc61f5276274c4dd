import type { z } from 'zod';

import { hasPermission, type MerchantCaller } from '../http/route.ts';
import { addisDay } from '../lib/dates.ts';
import { first, rows, type Queryable } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import { allOf, type Listed, type Order } from '../lib/paginate-newest.ts';
import { readDayRange, type DayRange } from '../lib/pagination.ts';
import { readPhoneSearch, type PhoneSearch } from '../lib/phone.ts';
import { scopeOf, type Environment, type MerchantScope } from '../lib/scope.ts';
import { TRANSACTION_THROUGH, type Channel } from '../merchants/channels/channel.ts';
import type { CallbackAttempt } from '../providers/callbacks.ts';
import type { ProviderFailure, ProviderOutcome } from '../providers/provider.ts';
import {
  isAttemptOver,
  type AttemptStatus,
  type HeldReason,
  type SessionStatus,
  type TransactionStatus,
} from './states.ts';
import type { TransactionExportQuery, TransactionFilterQuery } from './transaction-schema.ts';

export type TransactionRow = {
  id: string;
  sessionId: string;
  merchantId: string;
  environment: Environment;
  checkoutOrderNo: string;
  amountSantim: Santim;
  currency: string;
  type: 'API' | 'QRCODE';
  status: TransactionStatus;
  channel: Channel | null;
  providerReference: string | null;
  failure: ProviderFailure | null;
  confirmedLate: boolean;
  holdReason: HeldReason | null;
  needsReconciliation: boolean;
  /** The received amount, where an operator has accepted another amount than the expected one. */
  receivedSantim: Santim | null;
  feeSantim: Santim | null;
  feeTaxSantim: Santim | null;
  /** By refunds that are SUCCESS. */
  refundedSantim: Santim;
  customerName: string | null;
  customerEmail: string | null;
  customerPhone: string | null;
  metadata: Record<string, string> | null;
  version: number;
  createdAt: Date;
  completedAt: Date | null;
};

/** What {@link presentTransaction} reads of a row. */
export type ListedTransaction = Omit<TransactionRow, 'merchantId' | 'needsReconciliation' | 'version'>;

/** In SQL: the columns of `ListedTransaction`, of a transaction t. */
export const LISTED = `
  t.id, t.session_id, t.environment, t.checkout_order_no, t.amount_santim, t.currency, t.type, t.status, t.channel,
  t.provider_reference, t.failure, t.confirmed_late, t.hold_reason, t.received_santim, t.fee_santim, t.fee_tax_santim,
  t.refunded_santim, t.customer_name, t.customer_email, t.customer_phone, t.metadata, t.created_at, t.completed_at`;

/**
 * The public transaction as JSON: the contract's fields in its order, then ours. Unknown fields are undefined and so left
 * out, except `transactionThrough`, which is null until a channel is chosen.
 */
export function presentTransaction(row: ListedTransaction) {
  const { amountSantim, receivedSantim, feeSantim, feeTaxSantim } = row;
  const paidSantim = receivedSantim ?? amountSantim;
  return {
    checkoutOrderNo: row.checkoutOrderNo,
    amount: toBirr(amountSantim),
    currency: row.currency,
    transactionThrough: row.channel && TRANSACTION_THROUGH[row.channel],
    transactionDate: addisDay(row.createdAt),
    type: row.type,
    status: row.status,
    createdAt: row.createdAt.toISOString(),
    sessionId: row.sessionId,
    transactionId: row.id,
    customerName: row.customerName ?? undefined,
    customerEmail: row.customerEmail ?? undefined,
    customerPhone: row.customerPhone ?? undefined,
    receivedAmount: birr(receivedSantim),
    fee: birr(feeSantim),
    feeTax: birr(feeTaxSantim),
    netAmount: birr(feeSantim === null ? null : paidSantim - feeSantim - (feeTaxSantim ?? 0n)),
    refundedAmount: birr(row.refundedSantim || null),
    providerReference: row.providerReference ?? undefined,
    completedAt: row.completedAt?.toISOString(),
    failure: row.failure ?? undefined,
    lateConfirmation: row.confirmedLate || undefined,
    held: row.holdReason ?? undefined,
    environment: row.environment,
    metadata: row.metadata ?? undefined,
  };
}

const birr = (santim: Santim | null) => (santim === null ? undefined : toBirr(santim));

type FilterQuery = z.output<typeof TransactionFilterQuery>;
export type TransactionSort = z.output<typeof TransactionExportQuery>['sort'];

/** A filter of the list; undefined and null do not narrow. */
export type TransactionFilter = MerchantScope &
  Omit<FilterQuery, 'startDate' | 'endDate' | 'status' | 'minAgeMinutes'> & {
    range: DayRange;
    statuses: TransactionStatus[] | null;
    /** For people who read phones masked: `search` finds none, or they could guess one digit by digit. */
    hidesPhones?: boolean;
  };

/** The filter that a query requests. Throws as {@link readDayRange} does. */
export function readTransactionFilter(caller: MerchantCaller, query: FilterQuery, now: Date): TransactionFilter {
  const { currency, transactionThrough, type, held, late, search, minAmount, maxAmount, minAgeMinutes } = query;
  const narrowing = { currency, transactionThrough, type, held, late, search, minAmount, maxAmount };
  const range = readDayRange(query, now);
  const latest = minAgeMinutes === undefined ? Infinity : now.getTime() - minAgeMinutes * 60_000;
  const until = new Date(Math.min(range.until.getTime(), latest));
  const hidesPhones = !hasPermission(caller, 'phones:read');
  return { ...narrowing, ...scopeOf(caller), range: { ...range, until }, statuses: query.status, hidesPhones };
}

/** The order of a sort, of a transaction t. */
export function transactionOrder(sort: TransactionSort): Order {
  const direction = sort.startsWith('-') ? 'DESC' : 'ASC';
  return sort.endsWith('amount')
    ? { column: 't.amount_santim', type: 'bigint', direction }
    : { column: 't.created_at', type: 'timestamptz', direction };
}

/** SQL conditions on a transaction t for the filters that are set. */
export function transactionConditions(filter: TransactionFilter): string {
  return allOf([
    't.merchant_id = :merchantId',
    't.environment = :environment',
    't.created_at >= :from',
    't.created_at < :until',
    't.currency = :currency',
    filter.statuses && 't.status = ANY (:statuses)',
    filter.transactionThrough &&
      't.channel = ANY (ARRAY(SELECT id FROM channel WHERE transaction_through = ANY (:transactionThrough)))',
    filter.type && 't.type = :type',
    filter.held !== undefined && `t.hold_reason IS ${filter.held ? 'NOT NULL' : 'NULL'}`,
    filter.late !== undefined && 't.confirmed_late = :late',
    filter.minAmount !== undefined && 't.amount_santim >= :minAmount',
    filter.maxAmount !== undefined && 't.amount_santim <= :maxAmount',
    filter.search &&
      `(t.checkout_order_no ILIKE :pattern OR t.customer_email ILIKE :pattern OR t.customer_name ILIKE :pattern
        OR t.id = :search OR t.session_id = :search OR t.provider_reference = :search ${phoneCondition(filter.hidesPhones ? null : readPhoneSearch(filter.search))})`,
  ]);
}

/** A whole number is also compared with the payers' phones (index payment_attempt_phone). */
function phoneCondition(phone: PhoneSearch): string {
  if (phone === null) return '';
  if ('part' in phone) return 'OR t.customer_phone LIKE :phone';
  return `OR t.customer_phone = :phone OR t.id IN (
    SELECT a.transaction_id FROM payment_attempt a
    WHERE a.merchant_id = :merchantId AND a.environment = :environment AND a.phone = :phone)`;
}

/** Values for {@link transactionConditions}. */
export function transactionValues(filter: TransactionFilter): Record<string, unknown> {
  const { range, search = '', ...rest } = filter;
  const found = readPhoneSearch(search);
  const phone = found && ('part' in found ? `%${found.part}%` : found.whole);
  return { ...rest, ...range, search, pattern: `%${search.replace(/[\\%_]/g, '\\$&')}%`, phone };
}

/** What a filter selects, for lists and counts. */
export function listedTransactions(filter: TransactionFilter, sort: TransactionSort = '-createdAt'): Listed {
  const [where, values] = [transactionConditions(filter), transactionValues(filter)];
  return { columns: LISTED, table: 'transaction t', order: transactionOrder(sort), where, values };
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
  /** Our account there by which a live order is sent. */
  providerAccount: string | null;
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

/** The attempt of a callback address, found by the secret that ends the address; null for any other secret. */
export async function findAttemptBySecret(db: Queryable, secret: string): Promise<CallbackAttempt | null> {
  const sql = `SELECT id AS attempt_id, channel, environment, merchant_id, coalesce(initiated_at, created_at) AS sent_at
               FROM payment_attempt WHERE callback_secret = :secret`;
  return (await first<CallbackAttempt>(db, sql, { secret })) ?? null;
}

/** All attempts to pay a transaction, the oldest first. */
export async function listAttempts(db: Queryable, transactionId: string): Promise<AttemptRow[]> {
  const sql = 'SELECT * FROM payment_attempt WHERE transaction_id = :transactionId ORDER BY created_at, id';
  return rows<AttemptRow>(db, sql, { transactionId });
}

/** An attempt as the API presents it; its schema leaves out the other columns. */
export function presentAttempt(row: AttemptRow) {
  const { callbackSecret: _, ...attempt } = row;
  return {
    ...attempt,
    attemptId: attempt.id,
    expected: toBirr(attempt.amountSantim),
    received: attempt.receivedSantim === null ? null : toBirr(attempt.receivedSantim),
    decision: attempt.holdResolution,
    decidedAt: attempt.holdResolvedAt,
    startedAt: attempt.createdAt,
  };
}
