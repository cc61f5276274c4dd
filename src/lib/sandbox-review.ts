import type { Santim } from './money.ts';

/** Sandbox reviews are decided automatically after this time. */
export const SANDBOX_REVIEW_MS = 5_000;

/** Sandbox reviews are decided under this name. */
export const SANDBOX_OPERATOR = 'sandbox';

/** Amounts that end in this are rejected. */
export const REJECTED_SANTIM = 13n;

/** Amounts that end in this wait for an operator. */
export const WAITING_SANTIM = 14n;

/** The sandbox's decision by the santim of the amount: .13 is rejected, .14 waits for an operator, all else is approved. */
export function sandboxDecision(amountSantim: Santim): 'approve' | 'reject' | 'wait' {
  const santim = amountSantim % 100n;
  if (santim === REJECTED_SANTIM) return 'reject';
  return santim === WAITING_SANTIM ? 'wait' : 'approve';
}
