import fc from 'fast-check';

import type { Posting } from '../../src/ledger/postings.ts';

/** Times of postings in minutes: they may go back, like those of late payments. */
export const anyMinutes = fc.array(fc.nat(600), { minLength: 1, maxLength: 28, size: 'max' });

const ORDERED: ReadonlySet<string> = new Set(['AVAILABLE', 'RESERVED', 'FEE_REVENUE', 'TAX_PAYABLE']);

/**
 * The time in minutes at which each key's entries are posted. Postings to the merchant's balance, or to its fees to
 * date, are never earlier than the previous one; the operator's other accounts have no order.
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
