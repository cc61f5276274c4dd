import type { HeldReason, TransactionStatus } from './states.ts';

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
