import {
  ethiopianYear,
  ETHIOPIAN_LOCALE,
  formatDay,
  formatEthiopianDay,
  formatGregorianDay,
  formatMonth,
  GREGORIAN_LOCALE,
} from '../../ui/format.ts';
import { text } from './text.ts';
import type { WantedReport } from './wanted.ts';

type Named = Pick<WantedReport, 'days' | 'period' | 'calendar'>;
type DayText = (day: string) => string;

const range = ({ startDate, endDate }: Named['days'], dayText: DayText): string =>
  startDate === endDate ? dayText(startDate) : `${dayText(startDate)} – ${dayText(endDate)}`;

/** A day in the calendar of the report. */
const dayTextOf = (calendar: Named['calendar']): DayText =>
  calendar === 'ethiopian' ? formatEthiopianDay : formatGregorianDay;

/** The number of a quarter from the month that it begins with: fiscal quarters begin in Hamle. */
const FIRST_MONTHS = { gregorian: ['01', '04', '07', '10'], ethiopian: ['07', '10', '01', '04'] } as const;

/** A period by its name in the calendar of the report: "Hidar 2019", "Quarter 1 of fiscal year 2019", or its days. */
export function periodName({ days, period, calendar }: Named): string {
  const { startDate, endDate } = days;
  if (period === 'month') {
    return formatMonth(startDate, calendar === 'ethiopian' ? ETHIOPIAN_LOCALE : GREGORIAN_LOCALE);
  }
  if (period !== 'quarter') return range(days, dayTextOf(calendar));
  const quarter = FIRST_MONTHS[calendar].findIndex((month) => month === startDate.slice(5, 7)) + 1;
  // A fiscal year has the number of the Ethiopian year in which it ends, and every quarter of it ends in that year.
  return calendar === 'ethiopian'
    ? text.fiscalQuarterOf(quarter, ethiopianYear(endDate))
    : text.quarterOf(quarter, startDate.slice(0, 4));
}

/** The days of a period: in the person's calendars where its name has none, or other ones. */
export function otherDays({ days, period, calendar }: Named): string | null {
  const own = range(days, formatDay);
  return own === range(days, dayTextOf(calendar)) && (period === 'day' || period === 'week') ? null : own;
}
