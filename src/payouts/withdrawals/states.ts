/* The states of a withdrawal, without imports, so that workflows can use them. */

export const WITHDRAWAL_STATUSES = ['PENDING', 'SUCCESS', 'FAILED', 'REJECTED', 'CANCELLED', 'REVERSED'] as const;
export type WithdrawalStatus = (typeof WITHDRAWAL_STATUSES)[number];

/**
 * The stage of a PENDING withdrawal. AWAITING_CONFIRMATION: by a second person of the merchant. CREATED: not sent yet.
 * UNKNOWN: sent, and the provider does not know the outcome.
 */
export const WITHDRAWAL_STAGES = [
  'AWAITING_CONFIRMATION',
  'CREATED',
  'UNDER_REVIEW',
  'SUBMITTED',
  'UNKNOWN',
  'COMPLETED',
] as const;
export type WithdrawalStage = (typeof WITHDRAWAL_STAGES)[number];

/** The stages of a PENDING withdrawal. Every other status has the stage COMPLETED. */
export const STAGE_TRANSITIONS: Readonly<Record<WithdrawalStage, readonly WithdrawalStage[]>> = {
  AWAITING_CONFIRMATION: ['UNDER_REVIEW', 'CREATED', 'COMPLETED'],
  UNDER_REVIEW: ['CREATED', 'COMPLETED'],
  CREATED: ['SUBMITTED', 'COMPLETED'],
  SUBMITTED: ['UNKNOWN', 'COMPLETED'],
  UNKNOWN: ['SUBMITTED', 'COMPLETED'],
  COMPLETED: [],
};

/**
 * The transitions. A paid withdrawal can be reversed. A failed one that was paid after all becomes SUCCESS by operators'
 * resolution only. No other transition leaves a final status.
 */
export const WITHDRAWAL_TRANSITIONS: Readonly<Record<WithdrawalStatus, readonly WithdrawalStatus[]>> = {
  PENDING: ['SUCCESS', 'FAILED', 'REJECTED', 'CANCELLED'],
  SUCCESS: ['REVERSED'],
  FAILED: ['SUCCESS'],
  REJECTED: [],
  CANCELLED: [],
  REVERSED: [],
};

/** Why a withdrawal is reviewed before it is sent. */
export const REVIEW_REASONS = [
  'FIRST_TO_BENEFICIARY',
  'NEW_BENEFICIARY',
  'BENEFICIARY_RENAMED',
  'LARGE_AMOUNT',
  'MANY_IN_AN_HOUR',
  'SANDBOX_TEST',
] as const;
export type ReviewReason = (typeof REVIEW_REASONS)[number];

/** The stages of withdrawals that were not sent, and can still be cancelled. */
export const UNSENT_STAGES: readonly WithdrawalStage[] = ['AWAITING_CONFIRMATION', 'UNDER_REVIEW', 'CREATED'];

/** The stage of a withdrawal that needs no confirmation, or has it. */
export const stageAfterConfirmation = ({ approvalsNeeded }: { approvalsNeeded: number }) =>
  approvalsNeeded === 0 ? ('CREATED' as const) : ('UNDER_REVIEW' as const);
