import { isDeepStrictEqual } from 'node:util';

import { z } from 'zod';

import { operatorReadRoute, operatorRoute } from '../../access/operator-route.ts';
import { id, OptionalReason } from '../../access/operator-schema.ts';
import { readRoute, type Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import { addDays, addisDay, daysFrom } from '../../lib/dates.ts';
import type { Database } from '../../lib/db.ts';
import { instant } from '../../lib/fields.ts';
import { ensureDaysInRange, readDayRange } from '../../lib/pagination.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { enqueueCalendarChanged } from '../expected-dates.ts';
import { calendarDay, FIRST_DAY, LAST_DAY } from './business-days.ts';
import { ethiopianDate, type Holiday } from './holidays.ts';
import * as calendar from './operations.ts';

type Deps = { db: Database; clock: Clock };

const CalendarQuery = z.strictObject({
  startDate: calendar.calendarDate.optional(),
  endDate: calendar.calendarDate.optional(),
});

const CalendarDay = z
  .object({
    date: z.string().meta({ format: 'date' }),
    businessDay: z.boolean().describe('Whether banks are open and settlements can be credited'),
    reason: z.string().nullable().meta({
      description: 'Why it is no business day; null when it is one',
      example: 'Timkat, Tuesday 19 January 2027',
    }),
    provisional: z.boolean().describe('A holiday on it is not confirmed and may still be a day earlier or later'),
    ethiopianDate: z.string().meta({ description: 'In the Ethiopian calendar', example: '11 Tir 2019' }),
  })
  .meta({ id: 'CalendarDay' });

const DEFAULT_DAYS = 30;

/** Business days, and the reasons of the other days. */
export function calendarRoutes({ db, clock }: Deps): Route[] {
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
        const { startDate, endDate } = readDayRange(withDefaults(query, clock()), clock());
        const ofDays = await calendar.loadCalendar(db, startDate, endDate);
        const days = daysFrom(startDate, endDate).map((day) => calendarDay(ofDays, day));
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

const HolidayParams = z.strictObject({ holidayId: id });

export const HolidayResponse = z
  .object({
    holidayId: z.string(),
    ...calendar.holidayFields,
    source: z.enum(['computed', 'operator']),
    updatedAt: instant.nullable(),
  })
  .meta({ id: 'OpsHoliday' });

const LISTED_DAYS = { default: 366, max: 3_660 } as const;

/** The holidays that business days are computed from. A change recomputes the dates of open settlements. */
export function calendarOperatorRoutes({ db }: Pick<Deps, 'db'>): Route[] {
  return [
    operatorReadRoute('GET /api/ops/holidays', {
      operationId: 'opsListHolidays',
      cli: { name: 'holidays list', columns: 'date holidayId kind confirmed active name' },
      summary: 'List the holidays of a range of days, memorial and inactive ones too, earliest first',
      description: `A year from today on unless given; at most ${LISTED_DAYS.max} days.`,
      query: CalendarQuery,
      responses: { 200: z.array(HolidayResponse) },
      handle: async ({ query, at }) => {
        const holidays = await calendar.listHolidays(db, listedDays(query, at));
        return { message: 'Holidays retrieved', data: holidays.map(present) };
      },
    }),
    operatorRoute('POST /api/ops/holidays', {
      operationId: 'opsAddHoliday',
      cli: { name: 'holidays add', body: { kind: 'closed' } },
      summary: 'Add a holiday or a closure of one day; recomputes the dates of open settlements',
      description: `From ${FIRST_DAY} to ${LAST_DAY}. Confirmed and active unless given.`,
      action: 'holiday.add',
      body: calendar.NewHoliday,
      responses: { 201: HolidayResponse },
      errors: ['DUPLICATE_REFERENCE'],
      run: async ({ tx }, { body }) => ({
        status: 201,
        message: 'Holiday added',
        ...(await changed(tx, null, await calendar.addHoliday(tx, body))),
      }),
    }),
    operatorRoute('PATCH /api/ops/holidays/:holidayId', {
      operationId: 'opsChangeHoliday',
      cli: [
        { name: 'holidays reschedule', summary: 'Reschedule a holiday', options: ['date!', 'reason'] },
        { name: 'holidays enable', summary: 'Enable a holiday', body: { active: true }, options: ['reason'] },
        { name: 'holidays disable', summary: 'Disable a holiday', body: { active: false }, options: ['reason'] },
        { name: 'holidays confirm', summary: 'Confirm its date', body: { confirmed: true }, options: ['reason'] },
      ],
      summary: 'Reschedule, rename, confirm, enable or disable a holiday; recomputes the dates of open settlements',
      action: 'holiday.change',
      params: HolidayParams,
      body: calendar.HolidayChanges,
      responses: { 200: HolidayResponse },
      errors: ['DUPLICATE_REFERENCE'],
      run: async ({ tx }, { params: { holidayId }, body }) => {
        const before = await calendar.findHoliday(tx.trx, holidayId);
        const after = await calendar.changeHoliday(tx, holidayId, body);
        return { message: 'Holiday changed', ...(await changed(tx, before, after)) };
      },
    }),
    operatorRoute('DELETE /api/ops/holidays/:holidayId', {
      operationId: 'opsRemoveHoliday',
      cli: { name: 'holidays remove', confirm: true },
      summary: 'Remove a holiday that an operator added; a computed one is disabled instead',
      action: 'holiday.remove',
      params: HolidayParams,
      body: OptionalReason,
      responses: { 200: HolidayResponse },
      errors: ['INVALID_STATE'],
      run: async ({ tx }, { params: { holidayId } }) => {
        const removed = await calendar.removeHoliday(tx, holidayId);
        const { data } = await changed(tx, null, removed);
        return { message: 'Holiday removed', data, audit: { ...about(removed), before: audited(removed) } };
      },
    }),
  ];
}

function listedDays(query: z.output<typeof CalendarQuery>, now: Date): { from: string; until: string } {
  const from = query.startDate ?? addisDay(now);
  const yearLater = addDays(from, LISTED_DAYS.default - 1);
  const until = query.endDate ?? (yearLater < LAST_DAY ? yearLater : LAST_DAY);
  ensureDaysInRange({ startDate: from, endDate: until }, LISTED_DAYS.max);
  return { from, until };
}

/** The response to a change and its audit row. Signals the settlements that it may concern. */
async function changed(tx: UnitOfWork, before: Holiday | null, after: Holiday) {
  const isSame = before !== null && isDeepStrictEqual(audited(before), audited(after));
  const [from = after.date, until = from] = [before?.date ?? after.date, after.date].toSorted();
  if (!isSame) await enqueueCalendarChanged(tx, { from, until });
  const audit = { ...about(after), ...(before && { before: audited(before) }), after: audited(after) };
  return { data: present(after), audit: isSame ? null : audit };
}

const about = ({ id: resourceId }: Holiday) => ({ resourceType: 'holiday', resourceId }) as const;

function audited({ date, name, nameAm, kind, confirmed, active }: Holiday) {
  return { date, name, nameAm, kind, confirmed, active };
}

function present(holiday: Holiday) {
  return { holidayId: holiday.id, ...holiday };
}
