import { z } from 'zod';

import { DAY_MS } from './dates.ts';
import { rows, type Queryable } from './db.ts';
import { invalid } from './errors.ts';
import { mustBe, patternText } from './fields.ts';

/** How far ahead a rule may be set to begin, in days. */
const AHEAD_DAYS_MAX = 366;

/** When a new rule begins: now by default, never in the past. Throws VALIDATION_ERROR. */
export function readValidFrom(wanted: Date | undefined, now: Date): Date {
  if (wanted === undefined) return now;
  if (wanted < now) throw invalid('validFrom', `must not be in the past, got ${wanted.toISOString()}`);
  if (wanted.getTime() > now.getTime() + AHEAD_DAYS_MAX * DAY_MS) {
    throw invalid('validFrom', `must be at most ${AHEAD_DAYS_MAX} days ahead, got ${wanted.toISOString()}`);
  }
  return wanted;
}

/** Rules of one kind: current and scheduled ones. */
export type RuleSchedule<Rule> = { current: Rule[]; scheduled: Rule[] };

/** The effective rules of a merchant: its own before the general ones, by channel and direction; and the scheduled ones. */
export async function readRuleBook<Rule>(
  db: Queryable,
  { table, columns }: { table: 'fee_rule' | 'limit_rule'; columns: string },
  { merchantId, at }: { merchantId: string; at: Date },
): Promise<RuleSchedule<Rule>> {
  const own = '(merchant_id = :merchantId OR merchant_id IS NULL)';
  const [current, scheduled] = await Promise.all([
    rows<Rule>(
      db,
      `SELECT DISTINCT ON (direction, channel) ${columns} FROM ${table} WHERE ${own} AND valid_from <= :at
       ORDER BY direction, channel, merchant_id IS NULL, valid_from DESC, version DESC`,
      { merchantId, at },
    ),
    rows<Rule>(
      db,
      `SELECT ${columns} FROM ${table} WHERE ${own} AND valid_from > :at
       ORDER BY valid_from, direction, channel, version`,
      { merchantId, at },
    ),
  ]);
  return { current, scheduled };
}

/** A schedule with each rule as the API presents it. */
export function presentSchedule<Rule, Presented>(
  { current, scheduled }: RuleSchedule<Rule>,
  present: (rule: Rule) => Presented,
): RuleSchedule<Presented> {
  return { current: current.map(present), scheduled: scheduled.map(present) };
}

type Place = { direction: string; channel: string | null };

/** Adds new versions one by one; `added` and the current ones that they replace are without those that changed nothing. */
export async function addRules<New, Rule extends Place>(
  wanted: readonly New[],
  { list, add }: { list: () => Promise<RuleSchedule<Rule>>; add: (rule: New) => Promise<Rule | null> },
): Promise<{ added: Rule[]; replaced: Rule[]; schedule: RuleSchedule<Rule> }> {
  const before = await list();
  const added: Rule[] = [];
  for (const rule of wanted) {
    const stored = await add(rule);
    if (stored) added.push(stored);
  }
  const isReplaced = (old: Rule): boolean =>
    added.some((rule) => rule.direction === old.direction && rule.channel === old.channel);
  return { added, replaced: before.current.filter(isReplaced), schedule: await list() };
}

const INSTANT_CHARACTERS_MAX = 40;

/** How many rules one request may add. */
export const RULES_MAX = 20;

/** When a new rule begins, in a request. */
export const validFromParam = patternText(
  INSTANT_CHARACTERS_MAX,
  z.regexes.datetime({ offset: true }),
  mustBe('a valid datetime'),
)
  .transform((text) => new Date(text))
  .optional()
  .meta({ description: 'Not in the past; now unless given', override: { type: 'string', format: 'date-time' } });
