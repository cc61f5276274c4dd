import { z } from 'zod';

import {
  addisDay,
  DAY_MS,
  DAYS,
  daysInRange,
  endOfAddisDay,
  isCalendarDay,
  isDay,
  RANGE_DAYS_APART_MAX,
  startOfAddisDay,
} from './dates.ts';
import { invalid, type AppError } from './errors.ts';
import { mustBe } from './fields.ts';
import { ruleOf } from './issues.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;
const PAGE_MAX = 1_000_000_000;
const TEXT_CHARACTERS_MAX = 200;
/** Of a number or a day. */
const SHORT_CHARACTERS_MAX = 10;
const RANGE_DAYS_DEFAULT = 30;

/**
 * The position of a row in its list. In lists ordered by `createdAt` descending and id, `at` is PostgreSQL's text of the
 * time (microseconds, UTC); in lists ordered by a sequence or an amount it is the number.
 */
export type Position = { at: string; id: string };

/** The requested part of a list: a page by its number, or the rows after a position. */
export type Page = { page: number; limit: number; after: Position | null };

/** Instants `from` (included) to `until` (excluded) of whole days in Addis Ababa, and the days as the caller writes them. */
export type DayRange = { startDate: string; endDate: string; from: Date; until: Date };

/** A text of limited length as another value; a wrong one, for which `read` returns undefined, may be repeated in errors. */
function readText<Value>(what: string, read: (text: string) => Value | undefined, charactersMax = TEXT_CHARACTERS_MAX) {
  const error = mustBe(what);
  return z
    .string({ error })
    .max(charactersMax, { abort: true, error })
    .transform((text, context): Value => {
      const value = read(text);
      if (value !== undefined) return value;
      context.addIssue({ code: 'custom', message: error({ input: text }), params: ruleOf('wrong_format') });
      return z.NEVER;
    });
}

function wholeNumberText(max: number) {
  const read = (text: string): number | undefined => {
    const number = /^\d+$/.test(text) ? Number(text) : 0;
    return number >= 1 && number <= max ? number : undefined;
  };
  return readText(`a whole number from 1 to ${max}`, read, SHORT_CHARACTERS_MAX).meta({
    override: { type: 'integer', minimum: 1, maximum: max },
  });
}

function cursorText(isPosition: (at: string) => boolean) {
  return readText('the nextCursor of an earlier response', (text) => {
    const cursor = decodeCursor(text);
    return cursor && isPosition(cursor.after.at) ? cursor : undefined;
  }).describe('The nextCursor of the previous response: the list continues there without repeated or missing rows');
}

/** Query parameters of every list, to spread into a strict object; {@link readPage} turns them into a {@link Page}. */
export const pageQuery = {
  page: wholeNumberText(PAGE_MAX).optional(),
  limit: wholeNumberText(LIMIT_MAX).optional(),
  pageSize: wholeNumberText(LIMIT_MAX).optional(),
  cursor: cursorText(isInstantText).optional(),
};

/** The same for a list in the order of a sequence. */
export const sequencePageQuery = { ...pageQuery, cursor: cursorText(isSequenceText).optional() };

/** The same for a list in the order of a time or of an amount; {@link isPositionOf} tells which a cursor is of. */
export const sortedPageQuery = {
  ...pageQuery,
  cursor: cursorText((at) => isInstantText(at) || isSequenceText(at)).optional(),
};

/** Whether a cursor is of a list in the order of a time, or else of a number. */
export function isPositionOf(order: 'time' | 'number', { at }: Position): boolean {
  return order === 'time' ? isInstantText(at) : isSequenceText(at);
}

const mustBeDay = mustBe('a date as YYYY-MM-DD');
const mustBeNear = mustBe(`a date from ${DAYS.first} to ${DAYS.last}`);

/** A real calendar day as YYYY-MM-DD. */
export const dateParam = z
  .string({ error: mustBeDay })
  .max(SHORT_CHARACTERS_MAX, { abort: true, error: mustBeDay })
  .refine(isDay, {
    error: (issue) => (isCalendarDay(String(issue.input)) ? mustBeNear : mustBeDay)(issue),
    params: ruleOf('not_a_day'),
  })
  .meta({ format: 'date', example: '2026-01-31' });

/** One value, a comma list, or `ALL`, as the list of wanted values; null stands for all. */
export function statusParam<Value extends string>(values: readonly Value[]) {
  const isValue = (text: string): text is Value => (values as readonly string[]).includes(text);
  return readText(`one of ${values.join(', ')}, a comma list of them, or ALL`, (text): Value[] | null | undefined => {
    if (text === 'ALL') return null;
    const parts = [...new Set(text.split(','))];
    return parts.every(isValue) ? parts : undefined;
  }).describe(`One of ${values.join(', ')}, a comma list of them, or ALL`);
}

export type PageQuery = z.output<z.ZodObject<typeof pageQuery>>;

/** The page that a query requests. Throws VALIDATION_ERROR when two parameters contradict each other. */
export function readPage(query: PageQuery): Page {
  const { page, limit, pageSize, cursor } = query;
  if (limit !== undefined && pageSize !== undefined && limit !== pageSize) {
    const issue = `is an alias of limit: use one of them, got ${pageSize} and ${limit}`;
    throw invalid('pageSize', { issue, code: 'not_allowed' });
  }
  if (page !== undefined && cursor !== undefined) {
    const issue = 'cannot be combined with page: use page or cursor, not both';
    throw invalid('cursor', { issue, code: 'not_allowed' });
  }
  return { limit: limit ?? pageSize ?? LIMIT_DEFAULT, page: cursor?.page ?? page ?? 1, after: cursor?.after ?? null };
}

/**
 * Whole days in Addis Ababa, both ends included; without an end it is today, without a start 30 days in all.
 * Throws INVALID_DATE_RANGE (end before start) and DATE_RANGE_TOO_WIDE (more than 93 days apart).
 */
export function readDayRange(
  query: { startDate?: string | undefined; endDate?: string | undefined },
  now: Date,
): DayRange {
  const endDate = query.endDate ?? addisDay(now);
  const startDate =
    query.startDate ?? addisDay(new Date(startOfAddisDay(endDate).getTime() - (RANGE_DAYS_DEFAULT - 1) * DAY_MS));
  const daysApart = daysInRange(startDate, endDate) - 1;
  if (daysApart < 0) {
    const issue = `startDate must not be after endDate, got ${startDate} and ${endDate}`;
    const more = { code: 'INVALID_DATE_RANGE', message: issue } as const;
    throw invalid('startDate', { issue, code: 'start_after_end' }, more);
  }
  if (daysApart > RANGE_DAYS_APART_MAX) {
    const issue = `startDate and endDate must be at most ${RANGE_DAYS_APART_MAX} days apart, got ${startDate} and ${endDate} (${daysApart} days); request the range in parts`;
    throw rangeTooWide(issue, RANGE_DAYS_APART_MAX + 1, issue);
  }
  return dayRange(startDate, endDate);
}

/** The range of two days (YYYY-MM-DD) in Addis Ababa, both included. */
export function dayRange(startDate: string, endDate: string): DayRange {
  return { startDate, endDate, from: startOfAddisDay(startDate), until: endOfAddisDay(endDate) };
}

/** The same for operators' lists: null, which stands for all days, if an order number is given without dates. */
export function readDayRangeOfOrder(
  query: Parameters<typeof readDayRange>[0] & { checkoutOrderNo?: string | undefined },
  now: Date,
): DayRange | null {
  const { checkoutOrderNo, startDate, endDate } = query;
  return checkoutOrderNo === undefined || startDate !== undefined || endDate !== undefined
    ? readDayRange(query, now)
    : null;
}

/** Throws INVALID_DATE_RANGE, and DATE_RANGE_TOO_WIDE for more days than these, both ends included. */
export function ensureDaysInRange({ startDate, endDate }: Pick<DayRange, 'startDate' | 'endDate'>, max: number): void {
  const days = daysInRange(startDate, endDate);
  const got = `got ${startDate} and ${endDate}`;
  if (days < 1) {
    const issue = { issue: `must not be after endDate, ${got}`, code: 'start_after_end' } as const;
    throw invalid('startDate', issue, { code: 'INVALID_DATE_RANGE' });
  }
  if (days <= max) return;
  throw rangeTooWide(`and endDate must cover at most ${max} days, ${got} (${days} days)`, max);
}

function rangeTooWide(issue: string, maximum: number, message = `startDate ${issue}`): AppError {
  const more = { code: 'DATE_RANGE_TOO_WIDE', message } as const;
  return invalid('startDate', { issue, code: 'range_too_wide', params: { maximum } }, more);
}

/** The number of rows to skip in SQL: none if the page starts after a position. */
export function pageOffset(page: Page): number {
  return page.after ? 0 : (page.page - 1) * page.limit;
}

/** `pagination` of a list's response. `next` is the position of the page's last row if rows follow it, else null. */
export function pagination(page: Page, total: number, next: Position | null) {
  return {
    total,
    page: page.page,
    limit: page.limit,
    totalPages: Math.ceil(total / page.limit),
    nextCursor: next && encodeCursor({ page: page.page + 1, after: next }),
  };
}

/** Cuts a list read with `LIMIT limit + 1` to its page; the additional row means that there is a next page. */
export function toPage<Row extends { position: string; id: string }>(page: Page, total: number, read: Row[]) {
  const shown = read.slice(0, page.limit);
  const last = shown.at(-1);
  const next = last && read.length > page.limit ? { at: last.position, id: last.id } : null;
  return { rows: shown, pagination: pagination(page, total, next) };
}

type Cursor = { page: number; after: Position };

const CURSOR = /^(\d{1,10}) ([-\d :.+]{1,40}) ([a-z]{2,4}_[0-9A-Z]{26,28})$/;
const INSTANT = /^\d{4}-\d{2}-\d{2} (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?\+00$/;

function encodeCursor(cursor: Cursor): string {
  return Buffer.from(`${cursor.page} ${cursor.after.at} ${cursor.after.id}`).toString('base64url');
}

/** null for a text that is not of {@link encodeCursor}. */
function decodeCursor(text: string): Cursor | null {
  const [, page, at, id] = CURSOR.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  return page && at && id ? { page: Number(page), after: { at, id } } : null;
}

/** Whether the text is a timestamp, which it is bound as in SQL. */
function isInstantText(at: string): boolean {
  return INSTANT.test(at) && isDay(at.slice(0, 10));
}

/** Whether the text is a bigint. */
function isSequenceText(at: string): boolean {
  return /^\d{1,18}$/.test(at);
}
