import { isDeepStrictEqual } from 'node:util';

import { z } from 'zod';

import { DAY_MS } from '../lib/dates.ts';
import { first, insertRow, rows, type Queryable, type Trx } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import { mustBe, patternText } from '../lib/fields.ts';
import { newId } from '../lib/ids.ts';
import { lock } from '../lib/lock.ts';

const AHEAD_DAYS_MAX = 366;

/** A version of a rule: a merchant's own, or (merchantId null) the platform's, for merchants without one. */
export type StoredRule = { id: string; merchantId: string | null; validFrom: Date; version: number };

/** A merchant's own version of a rule. */
type NewRule = { merchantId: string; channel: string | null; direction: string; validFrom?: Date | undefined };

/**
 * Adds a version of a merchant's own rule, unless the newest one has the same figures and the same start. Earlier versions
 * stay, to explain the past. Throws VALIDATION_ERROR for a start in the past or too far ahead.
 */
export async function addRule<Rule extends NewRule>(
  trx: Trx,
  { table, prefix }: { table: 'fee_rule' | 'limit_rule'; prefix: 'fee' | 'lim' },
  { rule, now }: { rule: Rule; now: Date },
): Promise<void> {
  const { merchantId, channel, direction, validFrom: start, ...figures } = rule;
  const validFrom = readValidFrom(start, now);
  await lock(trx, table, merchantId);
  const place = { merchantId, channel, direction };
  const newest = await first<Record<string, unknown> & { validFrom: Date; version: number }>(
    trx,
    `SELECT * FROM ${table} WHERE merchant_id = :merchantId AND channel IS NOT DISTINCT FROM :channel
       AND direction = :direction ORDER BY version DESC LIMIT 1`,
    place,
  );
  const isSame = newest && Object.entries(figures).every(([figure, value]) => newest[figure] === value);
  if (isSame && (start === undefined ? newest.validFrom <= now : newest.validFrom.getTime() === start.getTime()))
    return;
  const version = (newest?.version ?? 0) + 1;
  await insertRow(trx, table, { ...place, ...figures, id: newId(prefix), validFrom, version });
}

/** When a new rule begins: now by default, never in the past. Throws VALIDATION_ERROR. */
function readValidFrom(wanted: Date | undefined, now: Date): Date {
  if (wanted === undefined) return now;
  if (wanted < now) {
    throw invalid('validFrom', { issue: `must not be in the past, got ${wanted.toISOString()}`, code: 'in_the_past' });
  }
  if (wanted.getTime() > now.getTime() + AHEAD_DAYS_MAX * DAY_MS) {
    const issue = `must be at most ${AHEAD_DAYS_MAX} days ahead, got ${wanted.toISOString()}`;
    throw invalid('validFrom', { issue, code: 'too_far_ahead', params: { maximum: AHEAD_DAYS_MAX } });
  }
  return wanted;
}

export type RuleSchedule<Rule> = { current: Rule[]; scheduled: Rule[] };

/** The effective rules of a merchant, its own before the general ones, and the scheduled ones, as the API has them. */
export async function readRules<Rule, Presented>(
  db: Queryable,
  { table, present }: { table: 'fee_rule' | 'limit_rule'; present: (rule: Rule) => Presented },
  about: { merchantId: string; at: Date },
): Promise<RuleSchedule<Presented>> {
  const own = '(merchant_id = :merchantId OR merchant_id IS NULL)';
  const [current, scheduled] = await Promise.all([
    rows<Rule>(
      db,
      `SELECT DISTINCT ON (direction, channel) * FROM ${table} WHERE ${own} AND valid_from <= :at
       ORDER BY direction, channel, merchant_id IS NULL, valid_from DESC, version DESC`,
      about,
    ),
    rows<Rule>(
      db,
      `SELECT * FROM ${table} WHERE ${own} AND valid_from > :at ORDER BY valid_from, direction, channel, version`,
      about,
    ),
  ]);
  return { current: current.map(present), scheduled: scheduled.map(present) };
}

/** The rules that a change has added, and the current ones that they replace; null: none. */
export function compareRules<Rule extends { direction: string; channel: string | null }>(
  before: RuleSchedule<Rule>,
  after: RuleSchedule<Rule>,
) {
  const known = [...before.current, ...before.scheduled];
  const added = [...after.current, ...after.scheduled].filter(
    (rule) => !known.some((one) => isDeepStrictEqual(one, rule)),
  );
  const isReplaced = (old: Rule): boolean =>
    added.some((rule) => rule.direction === old.direction && rule.channel === old.channel);
  if (added.length === 0) return null;
  return { before: { rules: before.current.filter(isReplaced) }, after: { rules: added } };
}

const INSTANT_CHARACTERS_MAX = 40;

/** How many rules one request may add. */
export const RULES_MAX = 20;

/** An instant in a request, with its offset. */
export const instantParam = patternText(
  INSTANT_CHARACTERS_MAX,
  z.regexes.datetime({ offset: true }),
  mustBe('a valid datetime'),
)
  .transform((text) => new Date(text))
  .meta({ override: { type: 'string', format: 'date-time' } });

export const validFromParam = instantParam
  .optional()
  .meta({ description: 'Not in the past; now unless given', override: { type: 'string', format: 'date-time' } });
