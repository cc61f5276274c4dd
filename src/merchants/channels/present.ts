import { toBirr } from '../../lib/money.ts';
import type { AmountLimits, MerchantChannel } from './queries.ts';

/** A merchant's channel as the merchant and operators see it. */
export function presentChannel({ payIn, payOut, ...channel }: MerchantChannel) {
  return { ...channel, limits: { currency: 'ETB', payIn: presentLimits(payIn), payOut: presentLimits(payOut) } };
}

/** Limits in birr. */
export function presentLimits({ minSantim, maxSantim, dailySantim }: AmountLimits) {
  return { min: toBirr(minSantim), max: toBirr(maxSantim), daily: dailySantim === null ? null : toBirr(dailySantim) };
}
