import { first, rows, type Queryable } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import type { MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { CallbackAttempt } from '../providers/callbacks.ts';
import type { ProviderFailure, ProviderOutcome } from '../providers/provider.ts';
import { isAttemptOver, type AttemptStatus, type SessionStatus, type TransactionStatus } from './states.ts';

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
