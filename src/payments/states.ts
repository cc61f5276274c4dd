/*
 * The tables of states, pure: importable by workflows. SQL makes each move as one conditional UPDATE on the state
 * before it; these say which moves exist.
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

/** Why money that came waits for an operator. REFERENCE_USED: the provider's reference has paid another transaction. */
export type HeldReason = 'WRONG_AMOUNT' | 'WRONG_CURRENCY' | 'REFERENCE_USED';

/** Where a session may go. Only late money leaves a final state, and only for COMPLETED, which nothing leaves. */
export const SESSION_TRANSITIONS: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  OPEN: ['PROCESSING', 'CANCELLED', 'EXPIRED', 'COMPLETED'],
  PROCESSING: ['OPEN', 'COMPLETED', 'FAILED', 'CANCELLED', 'EXPIRED'],
  COMPLETED: [],
  FAILED: ['COMPLETED'],
  CANCELLED: ['COMPLETED'],
  EXPIRED: ['COMPLETED'],
};

/** Where an attempt may go. A declined or abandoned one may still turn out paid; held money may be accepted. */
export const ATTEMPT_TRANSITIONS: Readonly<Record<AttemptStatus, readonly AttemptStatus[]>> = {
  CREATED: ['PENDING', 'SUCCEEDED', 'DECLINED', 'HELD', 'DUPLICATE', 'ABANDONED'],
  PENDING: ['SUCCEEDED', 'DECLINED', 'HELD', 'DUPLICATE', 'ABANDONED'],
  DECLINED: ['SUCCEEDED', 'HELD', 'DUPLICATE'],
  ABANDONED: ['SUCCEEDED', 'HELD', 'DUPLICATE'],
  SUCCEEDED: [],
  HELD: ['SUCCEEDED', 'DUPLICATE'],
  DUPLICATE: [],
};

const TRANSACTION_OF: Readonly<Record<SessionStatus, TransactionStatus>> = {
  OPEN: 'PENDING',
  PROCESSING: 'PENDING',
  COMPLETED: 'SUCCESS',
  FAILED: 'FAILED',
  CANCELLED: 'CANCELLED',
  EXPIRED: 'EXPIRED',
};

/** Session and transaction tell one story: the transaction's status for the session's. */
export function transactionStatusOf(session: SessionStatus): TransactionStatus {
  return TRANSACTION_OF[session];
}

/** The provider's answer may still change an attempt in these states. */
export const QUERYABLE_ATTEMPTS = ['CREATED', 'PENDING', 'DECLINED', 'ABANDONED'] as const;

/** false: money came on the attempt, which nothing changes any more. */
export function isQueryable(status: AttemptStatus): boolean {
  return QUERYABLE_ATTEMPTS.some((one) => one === status);
}

/** Whether the attempt is over for its own clock: no further poll is due. */
export function isAttemptOver(status: AttemptStatus): boolean {
  return status !== 'CREATED' && status !== 'PENDING';
}

/** Tries a customer has in one session. */
export const ATTEMPTS_MAX = 3;

/** Where a declined try leaves its PROCESSING session: another try, or one of two ends. */
export function afterDecline(facts: {
  retryable: boolean;
  attemptsCount: number;
  expired: boolean;
}): 'OPEN' | 'FAILED' | 'EXPIRED' {
  if (!facts.retryable || facts.attemptsCount >= ATTEMPTS_MAX) return 'FAILED';
  return facts.expired ? 'EXPIRED' : 'OPEN';
}

/** How long after the session's end a provider that does not know is asked again, before it goes to reconciliation. */
export const UNKNOWN_GRACE_MS = 24 * 60 * 60 * 1000;

/** What the last query of an attempt gave: a definite no, doubt, or nothing, for the provider was not asked just now. */
export type LastResult = 'unpaid' | 'unknown' | 'not asked';

/** What that allows once the session's time is over: only what was heard just now ends an attempt. */
export function atExpiry(facts: {
  result: LastResult;
  expiresAtMs: number;
  atMs: number;
}): 'wait' | 'end' | 'reconcile' {
  if (facts.atMs < facts.expiresAtMs || facts.result === 'not asked') return 'wait';
  if (facts.result === 'unpaid') return 'end';
  return facts.atMs < facts.expiresAtMs + UNKNOWN_GRACE_MS ? 'wait' : 'reconcile';
}

/** Why somebody has to look into a session's payment. */
export const REVIEW_REASONS = [
  'WRONG_AMOUNT',
  'WRONG_CURRENCY',
  'REFERENCE_USED',
  'PAID_TWICE',
  'OUTCOME_UNKNOWN',
] as const;
export type ReviewReason = (typeof REVIEW_REASONS)[number];

/** What a session's rows say about money that does not settle it. */
export type ReviewFacts = {
  transactionStatus: TransactionStatus;
  /** Money came, but not what was asked for, or under a reference that has paid another transaction. */
  holdReason: HeldReason | null;
  paidTwice: boolean;
  /** Ended while its provider could not say whether it was paid. */
  needsReconciliation: boolean;
};

/** Why this session's payment is looked into; null when it is not. */
export function reviewReason(facts: ReviewFacts): ReviewReason | null {
  if (facts.holdReason !== null) return facts.holdReason;
  if (facts.paidTwice) return 'PAID_TWICE';
  return facts.needsReconciliation ? 'OUTCOME_UNKNOWN' : null;
}

/** Whether money came that was not asked for, so that the customer must neither pay again nor cancel meanwhile. */
export function isHeld(facts: ReviewFacts): boolean {
  return facts.holdReason !== null && facts.transactionStatus === 'PENDING';
}

/** Said of a held payment wherever it is asked about. */
export const HELD_MESSAGE =
  'Money came for this session, but not what was asked for, or it was counted before: we are looking into it, and the customer must not pay again. Read the status, or wait for the webhook.';
