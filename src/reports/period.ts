import { addDays, addisDay, daysInRange, endOfAddisDay, startOfAddisDay } from '../lib/dates.ts';
import { invalid } from '../lib/errors.ts';
import type { DayRange } from '../lib/pagination.ts';
import { FIRST_DAY, LAST_DAY } from '../settlements/calendar/business-days.ts';

/** Gregorian weeks from Monday, months and quarters; or days of one's own choice. */
export const PERIODS = ['day', 'week', 'month', 'quarter', 'custom'] as const;
export type Period = (typeof PERIODS)[number];

/** What a report is asked for over. `date`: any day of the period. */
export type WantedPeriod = {
  period: Period;
  date?: string | undefined;
  startDate?: string | undefined;
  endDate?: string | undefined;
};

const CUSTOM_DAYS_MAX = 366;
const MONTHS_IN_QUARTER = 3;

/**
 * The whole days in Addis Ababa of a period; without a date those of the last one that is over.
 * Throws VALIDATION_ERROR, INVALID_DATE_RANGE and DATE_RANGE_TOO_WIDE (more than 366 days).
 */
export function readPeriod(wanted: WantedPeriod, now: Date): DayRange {
  const { period, date, startDate, endDate } = wanted;
  if (period === 'custom') return rangeOf(readCustom(wanted));
  if (startDate !== undefined || endDate !== undefined) {
    const field = startDate === undefined ? 'endDate' : 'startDate';
    throw invalid(field, `is for period custom; of a ${period} give date, any day of it`);
  }
  return rangeOf(date === undefined ? lastFull(period, addisDay(now)) : daysOf(period, withTimeout('date', date)));
}

/** The range of days that were read before. */
export function rangeOf({ startDate, endDate }: Pick<DayRange, 'startDate' | 'endDate'>): DayRange {
  return { startDate, endDate, from: startOfAddisDay(startDate), until: endOfAddisDay(endDate) };
}

/** A range in parts of so many days, the last one shorter. */
export function inParts(range: DayRange, daysMax: number): DayRange[] {
  const parts: DayRange[] = [];
  for (let startDate = range.startDate; startDate <= range.endDate; startDate = addDays(startDate, daysMax)) {
    const last = addDays(startDate, daysMax - 1);
    parts.push(rangeOf({ startDate, endDate: last < range.endDate ? last : range.endDate }));
  }
  return parts;
}

type Days = Pick<DayRange, 'startDate' | 'endDate'>;

function readCustom({ date, startDate, endDate }: WantedPeriod): Days {
  if (date !== undefined)
    throw invalid('date', 'is for the other periods; of period custom give startDate and endDate');
  if (startDate === undefined) throw invalid('startDate', 'is required for period custom');
  if (endDate === undefined) throw invalid('endDate', 'is required for period custom');
  const days = daysInRange(withTimeout('startDate', startDate), withTimeout('endDate', endDate));
  if (days < 1) {
    const issue = `must not be after endDate, got ${startDate} and ${endDate}`;
    throw invalid('startDate', issue, { code: 'INVALID_DATE_RANGE' });
  }
  if (days > CUSTOM_DAYS_MAX) {
    const issue = `and endDate must cover at most ${CUSTOM_DAYS_MAX} days, got ${startDate} and ${endDate} (${days} days)`;
    throw invalid('startDate', issue, { code: 'DATE_RANGE_TOO_WIDE' });
  }
  return { startDate, endDate };
}

function withTimeout(field: string, day: string): string {
  if (day >= FIRST_DAY && day <= LAST_DAY) return day;
  throw invalid(field, `must be a day from ${FIRST_DAY} to ${LAST_DAY}, got ${day}`);
}

/** The last period that was over before a day. */
function lastFull(period: Exclude<Period, 'custom'>, today: string): Days {
  return daysOf(period, addDays(daysOf(period, today).startDate, -1));
}

/** The period that a day is in. */
function daysOf(period: Exclude<Period, 'custom'>, day: string): Days {
  switch (period) {
    case 'day':
      return { startDate: day, endDate: day };
    case 'week': {
      const sinceMonday = (new Date(day).getUTCDay() + 6) % 7;
      const monday = addDays(day, -sinceMonday);
      return { startDate: monday, endDate: addDays(monday, 6) };
    }
    case 'month':
      return monthsFrom(day, monthOf(day), 1);
    case 'quarter':
      return monthsFrom(day, monthOf(day) - (monthOf(day) % MONTHS_IN_QUARTER), MONTHS_IN_QUARTER);
  }
}

/** From 0. */
const monthOf = (day: string): number => Number(day.slice(5, 7)) - 1;

function monthsFrom(day: string, first: number, count: number): Days {
  const year = Number(day.slice(0, 4));
  const text = (month: number, dayOfMonth: number): string =>
    new Date(Date.UTC(year, month, dayOfMonth)).toISOString().slice(0, 10);
  return { startDate: text(first, 1), endDate: text(first + count, 0) };
}
