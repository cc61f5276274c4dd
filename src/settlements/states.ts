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
 * COMPLETED: the bank has credited it.
 */
export const SETTLEMENT_MOVES = {
  REQUESTED: ['APPROVED', 'REJECTED', 'CANCELLED'],
  APPROVED: ['PROCESSING', 'FAILED'],
  PROCESSING: ['COMPLETED', 'FAILED'],
  COMPLETED: [],
  FAILED: [],
  REJECTED: [],
  CANCELLED: [],
} as const satisfies Readonly<Record<SettlementStatus, readonly SettlementStatus[]>>;

/** Whether its money is still set aside. */
export function isOpen(status: SettlementStatus): status is 'REQUESTED' | 'APPROVED' | 'PROCESSING' {
  return SETTLEMENT_MOVES[status].length > 0;
}

/** From where one may come to a status. */
export function whence(to: SettlementStatus): SettlementStatus[] {
  return SETTLEMENT_STATUSES.filter((from) => (SETTLEMENT_MOVES[from] as readonly SettlementStatus[]).includes(to));
}
