import { addDays, addisDay } from '../lib/dates.ts';
import { invalid } from '../lib/errors.ts';
import { dayRange, ensureDaysInRange, type DayRange } from '../lib/pagination.ts';
import { FIRST_DAY, LAST_DAY } from '../settlements/calendar/business-days.ts';
import { ethiopianDate, toEthiopian } from '../settlements/calendar/holidays.ts';

/** Days, weeks from Monday, Gregorian months and quarters; or a custom range of days. */
export const PERIODS = ['day', 'week', 'month', 'quarter', 'custom'] as const;
export type Period = (typeof PERIODS)[number];

/** The period of a request. `date`: any day of the period; `startDate` and `endDate` are for custom. */
export type RequestedPeriod = {
  period: Period;
  date?: string | undefined;
  startDate?: string | undefined;
  endDate?: string | undefined;
};

const CUSTOM_DAYS_MAX = 366;

/**
 * The whole days in Addis Ababa of a period; without a date, of the last complete one.
 * Throws VALIDATION_ERROR, INVALID_DATE_RANGE and DATE_RANGE_TOO_WIDE (more than 366 days).
 */
export function readPeriod(requested: RequestedPeriod, now: Date): DayRange {
  const { period, date, startDate, endDate } = requested;
  if (period === 'custom') return rangeOf(readCustom(requested));
  if (startDate !== undefined || endDate !== undefined) {
    const field = startDate === undefined ? 'endDate' : 'startDate';
    const issue = `is for period custom; for a ${period} send date, any day of it`;
    throw invalid(field, { issue, code: 'not_allowed' });
  }
  if (date !== undefined) return rangeOf(intervalOf(period, ensureInCalendar('date', date)));
  const current = intervalOf(period, addisDay(now));
  return rangeOf(intervalOf(period, addDays(current.startDate, -1)));
}

type Days = Pick<DayRange, 'startDate' | 'endDate'>;

/** The range of days that were validated before. */
export const rangeOf = ({ startDate, endDate }: Days): DayRange => dayRange(startDate, endDate);

/** Two days (YYYY-MM-DD), in the Ethiopian calendar as well. */
export function presentDays({ startDate, endDate }: Days) {
  const [startDateEthiopian, endDateEthiopian] = [ethiopianDate(startDate), ethiopianDate(endDate)];
  return { startDate, endDate, startDateEthiopian, endDateEthiopian };
}

/** What a day is part of: the same text for all days of an interval. */
export const INTERVALS = {
  day: (day) => day,
  week: (day) => addDays(day, -((new Date(day).getUTCDay() + 6) % 7)),
  month: (day) => day.slice(0, 7),
  // The five or six days of Pagumen belong to Nehase.
  ethiopianMonth: (day) => {
    const { year, month } = toEthiopian(day);
    return `${year}-${Math.min(month, 12)}`;
  },
} as const satisfies Readonly<Record<string, (day: string) => string>>;
export type Interval = keyof typeof INTERVALS;

const PARTS = {
  ...INTERVALS,
  quarter: (day: string) => `${day.slice(0, 4)} ${Math.ceil(Number(day.slice(5, 7)) / 3)}`,
};

/** The whole interval or quarter that contains a day. */
export function intervalOf(interval: keyof typeof PARTS, day: string): Days {
  const keyOf = PARTS[interval];
  const edge = (step: 1 | -1): string => {
    let last = day;
    while (keyOf(addDays(last, step)) === keyOf(day)) last = addDays(last, step);
    return last;
  };
  return { startDate: edge(-1), endDate: edge(1) };
}

/** Splits a range into parts of at most `daysMax` days. */
export function inParts(range: DayRange, daysMax: number): DayRange[] {
  const parts: DayRange[] = [];
  for (let startDate = range.startDate; startDate <= range.endDate; startDate = addDays(startDate, daysMax)) {
    const last = addDays(startDate, daysMax - 1);
    parts.push(rangeOf({ startDate, endDate: last < range.endDate ? last : range.endDate }));
  }
  return parts;
}

function readCustom({ date, startDate, endDate }: RequestedPeriod): Days {
  if (date !== undefined) {
    const issue = 'is for the other periods; for custom send startDate and endDate';
    throw invalid('date', { issue, code: 'not_allowed' });
  }
  const missing = { issue: 'is required for period custom', code: 'required' } as const;
  if (startDate === undefined) throw invalid('startDate', missing);
  if (endDate === undefined) throw invalid('endDate', missing);
  const days = { startDate: ensureInCalendar('startDate', startDate), endDate: ensureInCalendar('endDate', endDate) };
  ensureDaysInRange(days, CUSTOM_DAYS_MAX);
  return days;
}

function ensureInCalendar(field: string, day: string): string {
  if (day >= FIRST_DAY && day <= LAST_DAY) return day;
  throw invalid(field, { issue: `must be a day from ${FIRST_DAY} to ${LAST_DAY}, got ${day}`, code: 'not_a_day' });
}
