import { AppError } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { Channel } from './channel.ts';
import type { AmountLimits } from './queries.ts';

/** The refusal of an amount that a channel does not take, naming limit and value; null when it fits. */
export function refuseAmount(
  channel: Channel,
  limits: Pick<AmountLimits, 'minSantim' | 'maxSantim'>,
  amountSantim: Santim,
): AppError | null {
  const amount = formatBirr(amountSantim);
  if (amountSantim < limits.minSantim) {
    const issue = `must be at least ${formatBirr(limits.minSantim)} ETB on ${channel}, got ${amount}`;
    return new AppError('AMOUNT_BELOW_MINIMUM', `amount ${issue}`, { details: [{ field: 'amount', issue }] });
  }
  if (amountSantim > limits.maxSantim) {
    const issue = `must be at most ${formatBirr(limits.maxSantim)} ETB on ${channel}, got ${amount}`;
    return new AppError('AMOUNT_ABOVE_MAXIMUM', `amount ${issue}`, { details: [{ field: 'amount', issue }] });
  }
  return null;
}
