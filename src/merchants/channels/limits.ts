import { type Queryable, rows, type Trx } from '../../lib/db.ts';
import { readRuleBook, readValidFrom, type RuleSchedule } from '../../lib/effective-rules.ts';
import { invalid, type AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { lock } from '../../lib/lock.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import type { Channel } from './channel.ts';
import { readLimits, type AmountLimits, type LimitsJson } from './queries.ts';

export const LIMIT_DIRECTIONS = ['PAY_IN', 'PAY_OUT'] as const;
export type LimitDirection = (typeof LIMIT_DIRECTIONS)[number];

/** A stored rule: the merchant's own, or (merchantId null) the platform's, for merchants without one. */
export type StoredLimitRule = AmountLimits & {
  id: string;
  merchantId: string | null;
  channel: Channel;
  direction: LimitDirection;
  validFrom: Date;
  version: number;
};

export type NewLimitRule = AmountLimits & {
  merchantId: string;
  channel: Channel;
  direction: LimitDirection;
  validFrom?: Date | undefined;
};

/**
 * Adds a version of a merchant's own limits, within the platform's, which are the provider's; earlier versions remain.
 * Returns null when the newest version is the same. Throws VALIDATION_ERROR.
 */
export async function addLimitRule(trx: Trx, wanted: NewLimitRule, now: Date): Promise<StoredLimitRule | null> {
  const { merchantId, channel, direction, minSantim, maxSantim, dailySantim } = wanted;
  const validFrom = readValidFrom(wanted.validFrom, now);
  await lock(trx, 'limit_rule', merchantId);
  const sql = 'SELECT effective_limit_rule(NULL, :channel, :direction, :validFrom) AS limits';
  const [platform] = await rows<{ limits: LimitsJson }>(trx, sql, { channel, direction, validFrom });
  if (!platform) throw new Error('the platform always has a rule');
  rejectUnusable(wanted, readLimits(platform.limits));
  const rules = () => trx<StoredLimitRule>('limitRule');
  const newest = await rules().where({ merchantId, channel, direction }).orderBy('version', 'desc').first();
  const same = newest?.minSantim === minSantim && newest.maxSantim === maxSantim && newest.dailySantim === dailySantim;
  const begins = wanted.validFrom?.getTime() ?? null;
  if (same && (begins === null ? newest.validFrom <= now : newest.validFrom.getTime() === begins)) return null;
  const limits = { merchantId, channel, direction, minSantim, maxSantim, dailySantim };
  const version = (newest?.version ?? 0) + 1;
  const [added] = await rules()
    .insert({ id: newId('lim'), ...limits, validFrom, version })
    .returning('*');
  return added ?? null;
}

/** The limits of a merchant by channel and direction: current and scheduled. */
export async function listLimitRules(
  db: Queryable,
  merchantId: string,
  at: Date,
): Promise<RuleSchedule<StoredLimitRule>> {
  return readRuleBook(db, { table: 'limit_rule', columns: COLUMNS }, { merchantId, at });
}

const COLUMNS = 'id, merchant_id, channel, direction, min_santim, max_santim, daily_santim, valid_from, version';

function rejectUnusable(
  { channel, direction, minSantim, maxSantim, dailySantim }: NewLimitRule,
  platform: AmountLimits,
) {
  const bounds = `${formatBirr(platform.minSantim)} to ${formatBirr(platform.maxSantim)} ETB`;
  if (minSantim < platform.minSantim || minSantim > platform.maxSantim) {
    throw invalid('min', `must be from ${bounds}, what ${channel} takes, got ${formatBirr(minSantim)}`);
  }
  if (maxSantim < minSantim) {
    throw invalid('max', `must be at least min, got ${formatBirr(maxSantim)} and ${formatBirr(minSantim)}`);
  }
  if (maxSantim > platform.maxSantim) {
    throw invalid('max', `must be from ${bounds}, what ${channel} takes, got ${formatBirr(maxSantim)}`);
  }
  if (dailySantim === null) return;
  if (direction === 'PAY_IN') throw invalid('daily', 'must be left out for PAY_IN: only payouts have a daily limit');
  if (dailySantim < maxSantim) {
    throw invalid('daily', `must be at least max, got ${formatBirr(dailySantim)} and ${formatBirr(maxSantim)}`);
  }
}

/** The daily limit of a channel, in Addis Ababa's days, and the rest of it, at least 0. */
export type DayLimit = { dailySantim: Santim; leftSantim: Santim };

/** `day`: only for channels with a daily limit. */
type Limits = Pick<AmountLimits, 'minSantim' | 'maxSantim'> & { day?: DayLimit | null };

/** The error of an amount outside the limits of a channel, with the limit, the amount and the rest of the day; null: allowed. */
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
