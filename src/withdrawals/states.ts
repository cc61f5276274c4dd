/*
 * The table of states, pure: importable by workflows. SQL makes each move as one conditional UPDATE on the state before
 * it; these say which moves exist.
 */

export const WITHDRAWAL_STATUSES = ['PENDING', 'SUCCESS', 'FAILED', 'REJECTED', 'CANCELLED', 'REVERSED'] as const;
export type WithdrawalStatus = (typeof WITHDRAWAL_STATUSES)[number];

/** Where a PENDING one stands. CREATED: about to be sent. UNKNOWN: sent, and its provider cannot say what became of it. */
export const WITHDRAWAL_STAGES = ['CREATED', 'UNDER_REVIEW', 'SUBMITTED', 'UNKNOWN', 'COMPLETED'] as const;
export type WithdrawalStage = (typeof WITHDRAWAL_STAGES)[number];

/**
 * Where a withdrawal may go. What was paid may come back. What had failed and was paid all the same is SUCCESS once an
 * operator has said so. Nothing else leaves a final state.
 */
export const WITHDRAWAL_TRANSITIONS: Readonly<Record<WithdrawalStatus, readonly WithdrawalStatus[]>> = {
  PENDING: ['SUCCESS', 'FAILED', 'REJECTED', 'CANCELLED'],
  SUCCESS: ['REVERSED'],
  FAILED: ['SUCCESS'],
  REJECTED: [],
  CANCELLED: [],
  REVERSED: [],
};

/** Before these nothing has been sent: only here may it be cancelled. */
export const CANCELLABLE_STAGES = ['CREATED', 'UNDER_REVIEW'] as const satisfies readonly WithdrawalStage[];

/** Why somebody looks at a withdrawal before it is sent. */
export const REVIEW_REASONS = [
  'FIRST_TO_BENEFICIARY',
  'NEW_BENEFICIARY',
  'BENEFICIARY_RENAMED',
  'LARGE_AMOUNT',
  'MANY_IN_AN_HOUR',
  'SANDBOX_TEST',
] as const;
export type ReviewReason = (typeof REVIEW_REASONS)[number];
