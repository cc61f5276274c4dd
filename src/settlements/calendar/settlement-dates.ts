import { addisDay, HOUR_MS, startOfAddisDay } from '../../lib/dates.ts';
import { addBusinessDays, calendarDay, nextBusinessDay, type Calendar, type SkippedDay } from './business-days.ts';
import { dayInWords } from './days.ts';

/** From this hour in Addis Ababa on, a request counts as made on the next business day. */
const CUT_OFF_HOUR = 15;

/** The days (YYYY-MM-DD) a settlement is promised for, and each day on the way there that does not count, with why. */
export type SettlementDates = {
  effectiveDate: string;
  earliestExpected: string;
  expectedBy: string;
  reasons: SkippedDay[];
};

/**
 * Effective on the day of the request, or on the next business day from 15:00 in Addis Ababa on and on days that are
 * none; expected one to two business days after that. Throws RangeError when the calendar ends before.
 */
export function settlementDates(calendar: Calendar, requestedAt: Date): SettlementDates {
  const day = addisDay(requestedAt);
  const late = whyNotThatDay(calendar, day, requestedAt);
  const effective = late ? nextBusinessDay(calendar, day) : { date: day, skipped: [] };
  const expected = addBusinessDays(calendar, effective.date, 2);
  return {
    effectiveDate: effective.date,
    earliestExpected: nextBusinessDay(calendar, effective.date).date,
    expectedBy: expected.date,
    reasons: [...(late ? [late] : []), ...effective.skipped, ...expected.skipped],
  };
}

function whyNotThatDay(calendar: Calendar, day: string, requestedAt: Date): SkippedDay | null {
  const { reason, provisional } = calendarDay(calendar, day);
  if (reason !== null) return { date: day, reason, provisional };
  const cutOffMs = startOfAddisDay(day).getTime() + CUT_OFF_HOUR * HOUR_MS;
  if (requestedAt.getTime() < cutOffMs) return null;
  return { date: day, reason: `requested after ${CUT_OFF_HOUR}:00, ${dayInWords(day)}`, provisional: false };
}
