// The transitions that exist, importable by workflows. SQL writes each as one conditional UPDATE on the state before it.

export const SETTLEMENT_STATUSES = [
  'REQUESTED',
  'APPROVED',
  'PROCESSING',
  'COMPLETED',
  'FAILED',
  'REJECTED',
  'CANCELLED',
] as const;
export type SettlementStatus = (typeof SETTLEMENT_STATUSES)[number];

/**
 * The states after each state. PROCESSING: sent to the bank. APPROVED → FAILED: it could not be sent. COMPLETED: credited by
 * the bank. COMPLETED → FAILED: sent back by the bank. FAILED → COMPLETED: an operator has booked a late credit.
 */
export const SETTLEMENT_TRANSITIONS = {
  REQUESTED: ['APPROVED', 'REJECTED', 'CANCELLED'],
  APPROVED: ['PROCESSING', 'FAILED'],
  PROCESSING: ['COMPLETED', 'FAILED'],
  COMPLETED: ['FAILED'],
  FAILED: ['COMPLETED'],
  REJECTED: [],
  CANCELLED: [],
} as const satisfies Readonly<Record<SettlementStatus, readonly SettlementStatus[]>>;

const OPEN_STATUSES = ['REQUESTED', 'APPROVED', 'PROCESSING'] as const;

/** In SQL: whether the money of a settlement is reserved. */
export const IS_OPEN = `status IN ('${OPEN_STATUSES.join("', '")}')`;

/** Whether its money is reserved. */
export function isOpen(status: SettlementStatus): status is (typeof OPEN_STATUSES)[number] {
  return (OPEN_STATUSES as readonly SettlementStatus[]).includes(status);
}

export function statusesBefore(to: SettlementStatus): SettlementStatus[] {
  return OPEN_STATUSES.filter((from) => (SETTLEMENT_TRANSITIONS[from] as readonly SettlementStatus[]).includes(to));
}
