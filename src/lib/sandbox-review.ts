import type { Santim } from './money.ts';

/** In the sandbox no person is waited for: a review decides itself after this long. */
export const SANDBOX_REVIEW_MS = 5_000;

/** Sandbox reviews are decided under this name. */
export const SANDBOX_OPERATOR = 'sandbox';

/** What the sandbox decides, by the santim of the amount: .13 is rejected, .14 waits for an operator, all else approved. */
export function sandboxDecision(amountSantim: Santim): 'approve' | 'reject' | 'wait' {
  const santim = amountSantim % 100n;
  if (santim === 13n) return 'reject';
  return santim === 14n ? 'wait' : 'approve';
}
