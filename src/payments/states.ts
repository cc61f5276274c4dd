/*
 * State tables, pure: workflows may import them. SQL makes each transition as one conditional UPDATE on the status before;
 * these tables list the transitions that exist.
 */

export const TRANSACTION_STATUSES = ['PENDING', 'SUCCESS', 'FAILED', 'CANCELLED', 'EXPIRED'] as const;
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

export const SESSION_STATUSES = ['OPEN', 'PROCESSING', 'COMPLETED', 'FAILED', 'CANCELLED', 'EXPIRED'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const ATTEMPT_STATUSES = [
  'CREATED',
  'PENDING',
  'SUCCEEDED',
  'DECLINED',
  'HELD',
  'DUPLICATE',
  'ABANDONED',
] as const;
export type AttemptStatus = (typeof ATTEMPT_STATUSES)[number];

/** Why received money is held. REFERENCE_USED: the provider's reference has paid another transaction. */
export const HELD_REASONS = ['WRONG_AMOUNT', 'WRONG_CURRENCY', 'REFERENCE_USED'] as const;
export type HeldReason = (typeof HELD_REASONS)[number];

/** Transitions of a session. Only late money leaves a final status, and only for COMPLETED, which is never left. */
export const SESSION_TRANSITIONS: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  OPEN: ['PROCESSING', 'CANCELLED', 'EXPIRED', 'COMPLETED'],
  PROCESSING: ['OPEN', 'COMPLETED', 'FAILED', 'CANCELLED', 'EXPIRED'],
  COMPLETED: [],
  FAILED: ['COMPLETED'],
  CANCELLED: ['COMPLETED'],
  EXPIRED: ['COMPLETED'],
};

/** Transitions of an attempt. A declined or abandoned one can still turn out paid; held money can be released. */
export const ATTEMPT_TRANSITIONS: Readonly<Record<AttemptStatus, readonly AttemptStatus[]>> = {
  CREATED: ['PENDING', 'SUCCEEDED', 'DECLINED', 'HELD', 'DUPLICATE', 'ABANDONED'],
  PENDING: ['SUCCEEDED', 'DECLINED', 'HELD', 'DUPLICATE', 'ABANDONED'],
  DECLINED: ['SUCCEEDED', 'HELD', 'DUPLICATE'],
  ABANDONED: ['SUCCEEDED', 'HELD', 'DUPLICATE'],
  SUCCEEDED: [],
  HELD: ['SUCCEEDED', 'DUPLICATE'],
  DUPLICATE: [],
};

/** The transaction's status for a session's status. */
export function transactionStatusOf(session: SessionStatus): TransactionStatus {
  if (session === 'OPEN' || session === 'PROCESSING') return 'PENDING';
  return session === 'COMPLETED' ? 'SUCCESS' : session;
}

/** Statuses in which the provider's result can still change an attempt. */
export const QUERYABLE_ATTEMPTS = ['CREATED', 'PENDING', 'DECLINED', 'ABANDONED'] as const;

/** false: money came on the attempt, which nothing changes any more. */
export function isQueryable(status: AttemptStatus): boolean {
  return QUERYABLE_ATTEMPTS.some((one) => one === status);
}

/** Whether the attempt needs no further poll. */
export function isAttemptOver(status: AttemptStatus): boolean {
  return status !== 'CREATED' && status !== 'PENDING';
}

/** Attempts per session. */
export const ATTEMPTS_MAX = 3;

/** The next status of a PROCESSING session whose attempt was declined: another attempt, or one of two ends. */
export function afterDecline(facts: { retryable: boolean; attemptsCount: number; expired: boolean }) {
  if (!facts.retryable || facts.attemptsCount >= ATTEMPTS_MAX) return 'FAILED';
  return facts.expired ? 'EXPIRED' : 'OPEN';
}

/** How long after the session's end an unknown outcome is queried, before it is left to reconciliation. */
export const UNKNOWN_GRACE_MS = 24 * 60 * 60 * 1000;

/** An attempt after a query; `queried`: this very query reached the provider, and `outcomeKind` is its result. */
type CheckedAttempt = { initiatedAt: Date | null; queried: boolean; outcomeKind: string | null; expiresAt: Date };

/** Whether the provider's latest result is a definite "not paid (yet)". */
export function reportsUnpaid({ outcomeKind }: Pick<CheckedAttempt, 'outcomeKind'>): boolean {
  return outcomeKind === 'accepted' || outcomeKind === 'pending';
}

/** What happens to an attempt once its session's time is over: only a fresh result, or one never sent, ends it. */
export function atExpiry(attempt: CheckedAttempt, at: Date): 'wait' | 'end' | 'reconcile' {
  const { initiatedAt, queried, expiresAt } = attempt;
  if (at < expiresAt || (initiatedAt !== null && !queried)) return 'wait';
  if (initiatedAt === null || reportsUnpaid(attempt)) return 'end';
  return at.getTime() < expiresAt.getTime() + UNKNOWN_GRACE_MS ? 'wait' : 'reconcile';
}

/** Why a session's payment is under review. */
export const REVIEW_REASONS = [...HELD_REASONS, 'PAID_TWICE', 'OUTCOME_UNKNOWN'] as const;
export type ReviewReason = (typeof REVIEW_REASONS)[number];

/** The facts of a session that decide whether its payment is under review. */
export type ReviewFacts = {
  transactionStatus: TransactionStatus;
  /** Money of another amount or currency came, or under a reference that has paid another transaction. */
  holdReason: HeldReason | null;
  paidTwice: boolean;
  /** Ended while its outcome was unknown. */
  needsReconciliation: boolean;
};

/** Why this session's payment is under review; null when it is not. */
export function reviewReason(facts: ReviewFacts): ReviewReason | null {
  if (facts.holdReason !== null) return facts.holdReason;
  if (facts.paidTwice) return 'PAID_TWICE';
  return facts.needsReconciliation ? 'OUTCOME_UNKNOWN' : null;
}

/** Whether unexpected money came, so that the customer must neither pay again nor cancel meanwhile. */
export function isHeld(facts: ReviewFacts): boolean {
  return facts.holdReason !== null && facts.transactionStatus === 'PENDING';
}

/** The message of a held payment in every response. */
export const HELD_MESSAGE =
  'A payment with an unexpected amount, currency or reference was received and is under review. The customer must not pay again. Read the status, or wait for the webhook.';
