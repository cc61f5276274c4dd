import { first, type Trx } from '../../lib/db.ts';
import { invalid, type AppError } from '../../lib/errors.ts';
import { tooBig, tooSmall } from '../../lib/issues.ts';
import { formatBirr, toBirr, type Santim } from '../../lib/money.ts';
import { addRule, type StoredRule } from '../effective-rules.ts';
import type { Channel } from './channel.ts';
import { readLimits, type AmountLimits, type LimitsJson } from './queries.ts';

export const LIMIT_DIRECTIONS = ['PAY_IN', 'PAY_OUT'] as const;
type LimitDirection = (typeof LIMIT_DIRECTIONS)[number];

export type StoredLimitRule = AmountLimits & StoredRule & { channel: Channel; direction: LimitDirection };

type NewLimitRule = AmountLimits &
  Pick<StoredLimitRule, 'channel' | 'direction'> & { merchantId: string; validFrom?: Date | undefined };

/**
 * Adds a version of a merchant's own limits, within the platform's, which are the provider's; earlier versions remain.
 * Nothing is added when the newest version is the same. Throws VALIDATION_ERROR.
 */
export async function addLimitRule(trx: Trx, rule: NewLimitRule, now: Date): Promise<void> {
  const { channel, direction, validFrom = now } = rule;
  const sql = 'SELECT effective_limit_rule(NULL, :channel, :direction, :validFrom) AS limits';
  const platform = await first<{ limits: LimitsJson }>(trx, sql, { channel, direction, validFrom });
  if (!platform) throw new Error('the platform always has a rule');
  rejectUnusable(rule, readLimits(platform.limits));
  await addRule(trx, { table: 'limit_rule', prefix: 'lim' }, { rule, now });
}

function rejectUnusable(
  { channel, direction, minSantim, maxSantim, dailySantim }: NewLimitRule,
  platform: AmountLimits,
) {
  const outOfBounds = (field: string, amountSantim: Santim): AppError => {
    const bounds = `${formatBirr(platform.minSantim)} to ${formatBirr(platform.maxSantim)} ETB`;
    const issue = `must be from ${bounds}, what ${channel} takes, got ${formatBirr(amountSantim)}`;
    const params = { minimum: toBirr(platform.minSantim), maximum: toBirr(platform.maxSantim) };
    return invalid(field, { issue, code: 'out_of_bounds', params });
  };
  if (minSantim < platform.minSantim || minSantim > platform.maxSantim) throw outOfBounds('min', minSantim);
  if (maxSantim < minSantim) {
    const issue = `must be at least min, got ${formatBirr(maxSantim)} and ${formatBirr(minSantim)}`;
    throw invalid('max', { issue, code: 'min_above_max' });
  }
  if (maxSantim > platform.maxSantim) throw outOfBounds('max', maxSantim);
  if (dailySantim === null) return;
  if (direction === 'PAY_IN') {
    const issue = 'must be left out for PAY_IN: only payouts have a daily limit';
    throw invalid('daily', { issue, code: 'not_allowed' });
  }
  if (dailySantim < maxSantim) {
    const issue = `must be at least max, got ${formatBirr(dailySantim)} and ${formatBirr(maxSantim)}`;
    throw invalid('daily', tooSmall(issue, maxSantim));
  }
}

/** The daily limit of a channel, in Addis Ababa's days, and the rest of it, at least 0. */
export type DayLimit = { dailySantim: Santim; leftSantim: Santim };

/** `day`: only for channels with a daily limit. */
type Limits = Pick<AmountLimits, 'minSantim' | 'maxSantim'> & { day?: DayLimit | null };

/** The error of an amount outside the limits of a channel, with the limit, the amount and the rest of the day; null: allowed. */
export function amountLimitError(channel: Channel, limits: Limits, amountSantim: Santim): AppError | null {
  const { minSantim, maxSantim, day } = limits;
  const got = `got ${formatBirr(amountSantim)}`;
  const daily = day && `of ${formatBirr(day.dailySantim)} ETB a day`;
  const left = day ? `; ${formatBirr(day.leftSantim)} ETB are left today ${daily}` : '';
  if (amountSantim < minSantim) {
    const issue = `must be at least ${formatBirr(minSantim)} ETB on ${channel}, ${got}${left}`;
    return invalid('amount', tooSmall(issue, minSantim), { code: 'AMOUNT_BELOW_MINIMUM' });
  }
  if (amountSantim > maxSantim) {
    const issue = `must be at most ${formatBirr(maxSantim)} ETB on ${channel}, ${got}${left}`;
    return invalid('amount', tooBig(issue, maxSantim), { code: 'AMOUNT_ABOVE_MAXIMUM' });
  }
  if (!day || amountSantim <= day.leftSantim) return null;
  const issue = `must be at most ${formatBirr(day.leftSantim)} ETB, what is left today ${daily} on ${channel}, ${got}`;
  return invalid('amount', tooBig(issue, day.leftSantim), { code: 'DAILY_LIMIT_EXCEEDED' });
}
