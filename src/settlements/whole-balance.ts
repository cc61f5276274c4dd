import { feeOf, type FeeRule } from '../ledger/fees.ts';
import { totalDebit } from '../ledger/postings.ts';
import type { Santim } from '../lib/money.ts';

/**
 * The largest amount that what is available pays for together with its fee and tax; 0 when that is none. Rounding may
 * leave a santim.
 */
export function wholeBalance(rule: FeeRule, availableSantim: Santim): Santim {
  const fits = (amountSantim: Santim): boolean =>
    totalDebit({ amountSantim, ...feeOf(rule, amountSantim) }) <= availableSantim;
  let least = 0n;
  let most = availableSantim;
  // A larger amount never has a smaller fee.
  while (least < most) {
    const middle = (least + most + 1n) / 2n;
    if (fits(middle)) least = middle;
    else most = middle - 1n;
  }
  return least;
}
