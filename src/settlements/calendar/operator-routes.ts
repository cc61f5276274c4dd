import { z } from 'zod';

import type { AuditedChange } from '../../access/audit.ts';
import { operatorReadRoute, operatorRoute } from '../../access/operator-route.ts';
import { id, OptionalReason, reason } from '../../access/operator-schema.ts';
import type { Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import { addDays, addisDay, daysInRange, isoOrNull } from '../../lib/dates.ts';
import type { Database } from '../../lib/db.ts';
import { invalid } from '../../lib/errors.ts';
import { instant } from '../../lib/fields.ts';
import { enqueueCalendarChanged } from '../expected-dates.ts';
import { FIRST_DAY, LAST_DAY } from './business-days.ts';
import { HOLIDAY_KINDS } from './holidays.ts';
import { addHoliday, changeHoliday, HolidayChanges, NewHoliday, removeHoliday } from './operations.ts';
import { findHoliday, listHolidays, type Holiday } from './queries.ts';
import { CalendarQuery } from './routes.ts';

type Deps = { db: Database; clock: Clock };

const HolidayParams = z.strictObject({ holidayId: id });
const AddedHoliday = NewHoliday.extend({ reason: reason.optional() });
const ChangedHoliday = HolidayChanges.extend({ reason: reason.optional() });

/** A holiday as operators see it. */
const HolidayResponse = z
  .object({
    holidayId: z.string(),
    date: z.string().meta({ format: 'date' }),
    name: z.string(),
    nameAm: z.string().nullable(),
    kind: z.enum(HOLIDAY_KINDS).meta({ description: 'Whether banks are closed' }),
    confirmed: z.boolean().meta({ description: 'false: provisional, the date may change by a day' }),
    active: z.boolean(),
    source: z.enum(['computed', 'operator']),
    updatedAt: instant.nullable(),
  })
  .meta({ id: 'OpsHoliday' });

const LISTED_DAYS = { default: 366, max: 3_660 } as const;

/** The holidays that business days are computed from. A change recomputes the dates of open settlements. */
export function calendarOperatorRoutes(deps: Deps): Route[] {
  return [listRoute(deps), addRoute(deps), changeRoute(deps), removeRoute(deps)];
}

function listRoute({ db, clock }: Deps): Route {
  return operatorReadRoute('GET /api/ops/holidays', {
    operationId: 'opsListHolidays',
    cli: { name: 'holidays list', columns: 'date holidayId kind confirmed active name' },
    summary: 'List the holidays of a range of days, memorial and inactive ones too, earliest first',
    description: `A year from today on unless given; at most ${LISTED_DAYS.max} days.`,
    query: CalendarQuery,
    responses: { 200: z.array(HolidayResponse) },
    handle: async ({ query }) => {
      const from = query.startDate ?? addisDay(clock());
      const yearLater = addDays(from, LISTED_DAYS.default - 1);
      const until = query.endDate ?? (yearLater < LAST_DAY ? yearLater : LAST_DAY);
      const days = daysInRange(from, until);
      if (days < 1) {
        const issue = `must not be after endDate, got ${from} and ${until}`;
        throw invalid('startDate', issue, { code: 'INVALID_DATE_RANGE' });
      }
      if (days > LISTED_DAYS.max) {
        const issue = `and endDate must span at most ${LISTED_DAYS.max} days`;
        throw invalid('startDate', issue, { code: 'DATE_RANGE_TOO_WIDE' });
      }
      return { message: 'Holidays retrieved', data: (await listHolidays(db, { from, until })).map(presentHoliday) };
    },
  });
}

function addRoute({ clock }: Deps): Route {
  return operatorRoute('POST /api/ops/holidays', {
    operationId: 'opsAddHoliday',
    cli: { name: 'holidays add', body: { kind: 'closed' } },
    summary: 'Add a holiday or a closure of one day; recomputes the dates of open settlements',
    description: `From ${FIRST_DAY} to ${LAST_DAY}.`,
    action: 'holiday.add',
    clock,
    body: AddedHoliday,
    responses: { 201: HolidayResponse },
    errors: ['DUPLICATE_REFERENCE'],
    run: async ({ tx }, { body }) => {
      const { reason: _, ...holiday } = body;
      const added = await addHoliday(tx, holiday);
      await enqueueCalendarChanged(tx, { from: added.date, until: added.date });
      const audit = auditHoliday(added.id, { after: audited(added) });
      return { status: 201, message: 'Holiday added', data: presentHoliday(added), audit };
    },
  });
}

function changeRoute({ clock }: Deps): Route {
  return operatorRoute('PATCH /api/ops/holidays/:holidayId', {
    operationId: 'opsChangeHoliday',
    cli: [
      { name: 'holidays reschedule', summary: 'Reschedule a holiday', options: ['date!', 'reason'] },
      { name: 'holidays enable', summary: 'Enable a holiday', body: { active: true }, options: ['reason'] },
      { name: 'holidays disable', summary: 'Disable a holiday', body: { active: false }, options: ['reason'] },
      { name: 'holidays confirm', summary: 'Confirm its date', body: { confirmed: true }, options: ['reason'] },
    ],
    summary: 'Reschedule, rename, confirm, enable or disable a holiday; recomputes the dates of open settlements',
    action: 'holiday.change',
    clock,
    params: HolidayParams,
    body: ChangedHoliday,
    responses: { 200: HolidayResponse },
    errors: ['DUPLICATE_REFERENCE'],
    run: async ({ tx }, { params: { holidayId }, body }) => {
      const { reason: _, ...changes } = body;
      const found = await findHoliday(tx.trx, holidayId);
      const holiday = await changeHoliday(tx, holidayId, changes);
      const message = 'Holiday changed';
      const [before, after] = [audited(found ?? holiday), audited(holiday)];
      if (JSON.stringify(before) === JSON.stringify(after))
        return { message, data: presentHoliday(holiday), audit: null };
      const [from = after.date, until = after.date] = [before.date, after.date].toSorted();
      await enqueueCalendarChanged(tx, { from, until });
      return { message, data: presentHoliday(holiday), audit: auditHoliday(holidayId, { before, after }) };
    },
  });
}

function removeRoute({ clock }: Deps): Route {
  return operatorRoute('DELETE /api/ops/holidays/:holidayId', {
    operationId: 'opsRemoveHoliday',
    cli: { name: 'holidays remove', confirm: true },
    summary: 'Remove a holiday that an operator added; a computed one is disabled instead',
    action: 'holiday.remove',
    clock,
    params: HolidayParams,
    body: OptionalReason,
    responses: { 200: HolidayResponse },
    errors: ['INVALID_STATE'],
    run: async ({ tx }, { params: { holidayId } }) => {
      const removed = await removeHoliday(tx, holidayId);
      await enqueueCalendarChanged(tx, { from: removed.date, until: removed.date });
      const audit = auditHoliday(holidayId, { before: audited(removed) });
      return { message: 'Holiday removed', data: presentHoliday(removed), audit };
    },
  });
}

function auditHoliday(resourceId: string, change: Pick<AuditedChange, 'before' | 'after'>): AuditedChange {
  return { resourceType: 'holiday', resourceId, ...change };
}

function audited({ date, name, nameAm, kind, confirmed, active }: Holiday) {
  return { date, name, nameAm, kind, confirmed, active };
}

/** A holiday as operators see it. */
export function presentHoliday(holiday: Holiday) {
  const { id, source, updatedAt } = holiday;
  return { holidayId: id, ...audited(holiday), source, updatedAt: isoOrNull(updatedAt) };
}
