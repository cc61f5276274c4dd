/* The states of a refund, without imports, so that workflows can use them. */

export const REFUND_STATUSES = ['PENDING', 'SUCCESS', 'FAILED'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

/**
 * The stage of a PENDING refund. AWAITING_CONFIRMATION: by a second person of the merchant. CREATED: not sent yet. UNKNOWN:
 * sent, and the provider does not know the outcome.
 */
export const REFUND_STAGES = ['AWAITING_CONFIRMATION', 'CREATED', 'SUBMITTED', 'UNKNOWN', 'COMPLETED'] as const;
export type RefundStage = (typeof REFUND_STAGES)[number];

/** The stages of a PENDING refund. Every other status has the stage COMPLETED. */
export const REFUND_STAGE_TRANSITIONS: Readonly<Record<RefundStage, readonly RefundStage[]>> = {
  AWAITING_CONFIRMATION: ['CREATED', 'COMPLETED'],
  CREATED: ['SUBMITTED', 'COMPLETED'],
  SUBMITTED: ['CREATED', 'UNKNOWN', 'COMPLETED'],
  UNKNOWN: ['SUBMITTED', 'COMPLETED'],
  COMPLETED: [],
};

/** The transitions. A failed refund that was paid after all becomes SUCCESS by operators' resolution only. */
export const REFUND_TRANSITIONS: Readonly<Record<RefundStatus, readonly RefundStatus[]>> = {
  PENDING: ['SUCCESS', 'FAILED'],
  SUCCESS: [],
  FAILED: ['SUCCESS'],
};
