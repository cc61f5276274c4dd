import { z } from 'zod';

import { readRoute, type Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import { addDays, addisDay, daysFrom } from '../../lib/dates.ts';
import type { Database } from '../../lib/db.ts';
import { readDayRange } from '../../lib/pagination.ts';
import { calendarDay, FIRST_DAY, LAST_DAY } from './business-days.ts';
import { ethiopianDate } from './ethiopian-date.ts';
import { calendarDate } from './operations.ts';
import { loadCalendar } from './queries.ts';

export const CalendarQuery = z.strictObject({ startDate: calendarDate.optional(), endDate: calendarDate.optional() });

const CalendarDay = z
  .object({
    date: z.string().meta({ format: 'date' }),
    businessDay: z.boolean().meta({ description: 'Whether banks are open and settlements can be credited' }),
    reason: z.string().nullable().meta({
      description: 'Why it is no business day; null when it is one',
      example: 'Timkat, Tuesday 19 January 2027',
    }),
    provisional: z
      .boolean()
      .meta({ description: 'A holiday on it is not confirmed and may still be a day earlier or later' }),
    ethiopianDate: z.string().meta({ description: 'In the Ethiopian calendar', example: '11 Tir 2019' }),
  })
  .meta({ id: 'CalendarDay' });

const DEFAULT_DAYS = 30;

/** Business days, and the reasons of the other days. */
export function calendarRoutes(deps: { db: Database; clock: Clock }): Route[] {
  return [
    readRoute('GET /api/checkout/calendar', {
      operationId: 'getCalendar',
      tag: 'Calendar',
      summary: 'Business days and holidays',
      description:
        'By default 30 days from today; with one of the two dates, 30 days from it or up to it. At most 93 days, both ends included. Saturdays, Sundays and public holidays are no business days.',
      auth: { by: 'key', scope: 'transactions:read' },
      query: CalendarQuery,
      responses: { 200: z.array(CalendarDay) },
      handle: async ({ query }) => {
        const { startDate, endDate } = readDayRange(withDefaults(query, deps.clock()), deps.clock());
        const calendar = await loadCalendar(deps.db, startDate, endDate);
        const days = daysFrom(startDate, endDate).map((day) => calendarDay(calendar, day));
        return {
          message: 'Calendar retrieved',
          data: days.map((day) => ({ ...day, ethiopianDate: ethiopianDate(day.date) })),
        };
      },
    }),
  ];
}

/** Both ends of the range when the caller gives one or none, within the calendar. */
function withDefaults({ startDate, endDate }: z.output<typeof CalendarQuery>, now: Date) {
  if (startDate === undefined && endDate !== undefined) {
    const first = addDays(endDate, 1 - DEFAULT_DAYS);
    return { startDate: first < FIRST_DAY ? FIRST_DAY : first, endDate };
  }
  const first = startDate ?? addisDay(now);
  const last = endDate ?? addDays(first, DEFAULT_DAYS - 1);
  return { startDate: first, endDate: last > LAST_DAY ? LAST_DAY : last };
}
