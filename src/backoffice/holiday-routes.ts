import { z } from 'zod';

import { auditContextOf } from '../access/audit.ts';
import { ANY_OPERATOR, requirePermission } from '../access/permissions.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { addDays, addisDay, daysInRange } from '../lib/dates.ts';
import type { Knex } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import { FIRST_DAY, LAST_DAY } from '../settlements/calendar/business-days.ts';
import { listHolidays } from '../settlements/calendar/queries.ts';
import * as decisionSchema from './decision-schema.ts';
import { declareHoliday, editHoliday, withdrawHoliday, type CalendarChanged } from './holidays.ts';
import { presentHoliday } from './present.ts';
import * as schema from './schema.ts';

export type HolidayRouteDeps = { db: Knex; clock: Clock; calendarChanged: CalendarChanged };

const SHOWN_DAYS = { default: 366, max: 3_660 } as const;

/** The holidays that business days are counted by. */
export function holidayRoutes(deps: HolidayRouteDeps): Route[] {
  return [listRoute(deps), ...editingRoutes(deps)];
}

function listRoute({ db, clock }: HolidayRouteDeps): Route {
  return readRoute({
    method: 'GET',
    path: '/api/ops/holidays',
    operationId: 'opsListHolidays',
    tag: 'Operators',
    summary: 'Holidays of a range of days, memorial and switched-off ones too, the earliest first',
    description: `A year from today on, unless said otherwise; at most ${SHOWN_DAYS.max} days.`,
    auth: ANY_OPERATOR,
    query: decisionSchema.HolidayQuery,
    responses: { 200: z.array(decisionSchema.Holiday) },
    handle: async ({ query }) => {
      const from = query.startDate ?? addisDay(clock());
      const until = query.endDate ?? earlier(addDays(from, SHOWN_DAYS.default - 1), LAST_DAY);
      const days = daysInRange(from, until);
      if (days < 1) {
        const issue = `must not be after endDate, got ${from} and ${until}`;
        throw invalid('startDate', issue, { code: 'INVALID_DATE_RANGE' });
      }
      if (days > SHOWN_DAYS.max) {
        const issue = `and endDate must span at most ${SHOWN_DAYS.max} days`;
        throw invalid('startDate', issue, { code: 'DATE_RANGE_TOO_WIDE' });
      }
      return { message: 'Holidays retrieved', data: (await listHolidays(db, { from, until })).map(presentHoliday) };
    },
  });
}

const earlier = (one: string, other: string): string => (one < other ? one : other);

function editingRoutes(deps: HolidayRouteDeps): Route[] {
  return [
    writeRoute({
      method: 'POST',
      path: '/api/ops/holidays',
      operationId: 'opsAddHoliday',
      tag: 'Operators',
      summary: 'Add a holiday or a closure of one day; open settlements count their days again',
      description: `From ${FIRST_DAY} to ${LAST_DAY}.`,
      auth: requirePermission('holiday.add'),
      body: decisionSchema.AddedHoliday,
      responses: { 201: decisionSchema.Holiday },
      errors: ['DUPLICATE_REFERENCE'],
      handle: async (input) => {
        const holiday = await declareHoliday(auditContextOf(input, deps), input.body, deps);
        return { status: 201, message: 'Holiday added', data: presentHoliday(holiday) };
      },
    }),
    writeRoute({
      method: 'PATCH',
      path: '/api/ops/holidays/:holidayId',
      operationId: 'opsChangeHoliday',
      tag: 'Operators',
      summary: 'Move, rename, confirm or switch a holiday; open settlements count their days again',
      auth: requirePermission('holiday.change'),
      params: decisionSchema.HolidayParams,
      body: decisionSchema.ChangedHoliday,
      responses: { 200: decisionSchema.Holiday },
      errors: ['DUPLICATE_REFERENCE'],
      handle: async (input) => {
        const holiday = await editHoliday(auditContextOf(input, deps), { ...input.body, ...input.params }, deps);
        return { message: 'Holiday changed', data: presentHoliday(holiday) };
      },
    }),
    writeRoute({
      method: 'DELETE',
      path: '/api/ops/holidays/:holidayId',
      operationId: 'opsRemoveHoliday',
      tag: 'Operators',
      summary: 'Remove a holiday that an operator added; a computed one is switched off instead',
      auth: requirePermission('holiday.remove'),
      params: decisionSchema.HolidayParams,
      body: schema.OptionalReason,
      responses: { 200: decisionSchema.Holiday },
      errors: ['INVALID_STATE'],
      handle: async (input) => {
        const holiday = await withdrawHoliday(auditContextOf(input, deps), { ...input.params, ...input.body }, deps);
        return { message: 'Holiday removed', data: presentHoliday(holiday) };
      },
    }),
  ];
}
