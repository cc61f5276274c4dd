import fc from 'fast-check';

import type { Posting } from '../../src/ledger/postings.ts';

/** Times of business, in minutes: they may go back, as those of late money do. */
export const anyMinutes = fc.array(fc.nat(600), { minLength: 1, maxLength: 28, size: 'max' });

const ORDERED: ReadonlySet<string> = new Set(['AVAILABLE', 'RESERVED', 'FEE_REVENUE', 'TAX_PAYABLE']);

/**
 * When each key's entries are booked, in minutes. What moves the merchant's balance, or the fees to date that stand beside
 * it, is never booked before the last that did; the operator's other accounts know no order.
 */
export function bookTimes(postings: readonly Posting[], minutes: readonly number[]): Map<string, number> {
  const times = new Map<string, number>();
  let last = 0;
  for (const [index, { key, entries }] of postings.entries()) {
    if (times.has(key)) continue;
    const minute = minutes[index % minutes.length] ?? 0;
    const isOrdered = entries.some(({ account }) => ORDERED.has(account));
    if (isOrdered) last = Math.max(last, minute);
    times.set(key, isOrdered ? last : minute);
  }
  return times;
}
