import type { MerchantChannel } from '../channels/queries.ts';
import { AppError } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';

/** The refusal of an amount that a channel does not take, naming limit and value; null when it fits. */
export function refuseAmount({ channel, payIn }: MerchantChannel, amountSantim: Santim): AppError | null {
  const amount = formatBirr(amountSantim);
  if (amountSantim < payIn.minSantim) {
    const issue = `must be at least ${formatBirr(payIn.minSantim)} ETB on ${channel}, got ${amount}`;
    return new AppError('AMOUNT_BELOW_MINIMUM', `amount ${issue}`, { details: [{ field: 'amount', issue }] });
  }
  if (amountSantim > payIn.maxSantim) {
    const issue = `must be at most ${formatBirr(payIn.maxSantim)} ETB on ${channel}, got ${amount}`;
    return new AppError('AMOUNT_ABOVE_MAXIMUM', `amount ${issue}`, { details: [{ field: 'amount', issue }] });
  }
  return null;
}
