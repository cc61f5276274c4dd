/*
 * The table of states, pure: importable by workflows. SQL makes each move as one conditional UPDATE on the state before
 * it; these say which moves exist.
 */

export { SANDBOX_REVIEW_MS } from '../lib/sandbox-review.ts';

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
 * Where a settlement may go. PROCESSING: it was sent to the bank. One that was approved and cannot be sent fails, too.
 * COMPLETED: the bank has credited it. What the bank sends back afterwards fails all the same, and what it credits after
 * a failure is COMPLETED once an operator has booked it.
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

/** Whether its money is still set aside. */
export function isOpen(status: SettlementStatus): status is (typeof OPEN_STATUSES)[number] {
  return (OPEN_STATUSES as readonly SettlementStatus[]).includes(status);
}

/** From where one may come to a status while its money is set aside. */
export function statusesBefore(to: SettlementStatus): SettlementStatus[] {
  return OPEN_STATUSES.filter((from) => (SETTLEMENT_TRANSITIONS[from] as readonly SettlementStatus[]).includes(to));
}
