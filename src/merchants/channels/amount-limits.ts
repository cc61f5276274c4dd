import { invalid, type AppError } from '../../lib/errors.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import type { Channel } from './channel.ts';
import type { AmountLimits } from './queries.ts';

/** The limit of an Addis day on a channel, and what remains of it, 0 at least. */
export type DayLimit = { dailySantim: Santim; leftSantim: Santim };

/** What is judged by: the day as well where it has a limit of its own. */
type Limits = Pick<AmountLimits, 'minSantim' | 'maxSantim'> & { day?: DayLimit | null };

/**
 * The refusal of an amount that a channel does not take, naming limit and value, and what remains of the day where that
 * is limited; null when it fits.
 */
export function amountLimitError(channel: Channel, limits: Limits, amountSantim: Santim): AppError | null {
  const amount = formatBirr(amountSantim);
  const { minSantim, maxSantim, day } = limits;
  const left = day
    ? `; ${formatBirr(day.leftSantim)} ETB are left today of ${formatBirr(day.dailySantim)} ETB a day`
    : '';
  if (amountSantim < minSantim) {
    const issue = `must be at least ${formatBirr(minSantim)} ETB on ${channel}, got ${amount}${left}`;
    return invalid('amount', issue, { code: 'AMOUNT_BELOW_MINIMUM' });
  }
  if (amountSantim > maxSantim) {
    const issue = `must be at most ${formatBirr(maxSantim)} ETB on ${channel}, got ${amount}${left}`;
    return invalid('amount', issue, { code: 'AMOUNT_ABOVE_MAXIMUM' });
  }
  if (day && amountSantim > day.leftSantim) {
    const issue = `must be at most ${formatBirr(day.leftSantim)} ETB, what is left today of ${formatBirr(day.dailySantim)} ETB a day on ${channel}, got ${amount}`;
    return invalid('amount', issue, { code: 'DAILY_LIMIT_EXCEEDED' });
  }
  return null;
}
