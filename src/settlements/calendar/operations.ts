import { z } from 'zod';

import { name, reason } from '../../access/operator-schema.ts';
import { addDays, addisDay, isDay } from '../../lib/dates.ts';
import { first, rows, type Queryable, type Trx } from '../../lib/db.ts';
import { duplicate, found, invalidState } from '../../lib/errors.ts';
import { mustBe } from '../../lib/fields.ts';
import { newId } from '../../lib/ids.ts';
import { ruleOf } from '../../lib/issues.ts';
import { dateParam } from '../../lib/pagination.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { calendarOf, FIRST_DAY, LAST_DAY, settlementDates } from './business-days.ts';
import { computeHoliday, computeHolidays, HOLIDAY_KINDS, yearOf, type Holiday } from './holidays.ts';

export const calendarDate = dateParam.refine((text) => !isDay(text) || (text >= FIRST_DAY && text <= LAST_DAY), {
  error: mustBe(`from ${FIRST_DAY} to ${LAST_DAY}`),
  params: ruleOf('not_a_day'),
});

const holidayName = name.overwrite((text) => text.replaceAll(/ +/g, ' '));

export const holidayFields = {
  date: calendarDate,
  name: holidayName,
  nameAm: holidayName.nullable().describe('The name in Amharic, if it has one'),
  kind: z.enum(HOLIDAY_KINDS).describe('Whether banks are closed'),
  confirmed: z.boolean().describe('false: provisional, it may still be a day earlier or later'),
  active: z.boolean().describe('false: disabled, ignored by the calendar'),
};

/** An operator's changes of a holiday; omitted fields do not change. */
export const HolidayChanges = z.strictObject({ ...holidayFields, reason }).partial();
export type HolidayChanges = z.output<typeof HolidayChanges>;

/** A holiday that an operator adds; confirmed and active unless given. */
export const NewHoliday = HolidayChanges.extend({ date: calendarDate, name: holidayName, kind: holidayFields.kind });
export type NewHoliday = z.output<typeof NewHoliday>;

/** Adds a holiday or a closure of one day. Throws DUPLICATE_REFERENCE for an active holiday of the same date and name. */
export async function addHoliday(tx: UnitOfWork, added: NewHoliday): Promise<Holiday> {
  await acquireLock(tx.trx);
  const { date, name, kind, nameAm = null, confirmed = true, active = true } = added;
  return save(tx.trx, { id: newId('hol'), date, name, kind, nameAm, confirmed, active, source: 'operator' });
}

/** A new date confirms a holiday unless `confirmed` is given. Throws NOT_FOUND and DUPLICATE_REFERENCE. */
export async function changeHoliday(tx: UnitOfWork, id: string, changes: HolidayChanges): Promise<Holiday> {
  await acquireLock(tx.trx);
  const before = await findHoliday(tx.trx, id);
  const { date = before.date, name = before.name, kind = before.kind, nameAm = before.nameAm } = changes;
  const { confirmed = before.confirmed || date !== before.date, active = before.active } = changes;
  return save(tx.trx, { id, date, name, kind, nameAm, confirmed, active, source: before.source });
}

/** Removes and returns a holiday that an operator added. Throws NOT_FOUND, and INVALID_STATE for a computed one. */
export async function removeHoliday(tx: UnitOfWork, id: string): Promise<Holiday> {
  await acquireLock(tx.trx);
  const { source, name, date, ...holiday } = await findHoliday(tx.trx, id);
  if (source === 'computed') {
    throw invalidState(`${name} of ${date} is computed and cannot be removed: disable it with "active": false.`);
  }
  await rows(tx.trx, 'DELETE FROM holiday WHERE id = :id', { id });
  return { source, name, date, ...holiday };
}

/** Edits are rare and run one after the other, so each writes what it has read; readers do not wait. */
async function acquireLock(trx: Trx): Promise<void> {
  await rows(trx, 'LOCK TABLE holiday IN SHARE ROW EXCLUSIVE MODE');
}

async function save(trx: Trx, holiday: Omit<Holiday, 'createdAt' | 'updatedAt'>): Promise<Holiday> {
  if (holiday.active) await ensureNameUnused(trx, holiday);
  const saved = await first<Holiday>(
    trx,
    `INSERT INTO holiday (id, date, name, name_am, kind, confirmed, active, source)
     VALUES (:id, :date, :name, :nameAm, :kind, :confirmed, :active, :source)
     ON CONFLICT (id) DO UPDATE SET date = :date, name = :name, name_am = :nameAm, kind = :kind, confirmed = :confirmed,
       active = :active, updated_at = now()
     RETURNING *`,
    holiday,
  );
  return found(saved, 'holiday');
}

async function ensureNameUnused(trx: Trx, { id, date, name }: Pick<Holiday, 'id' | 'date' | 'name'>): Promise<void> {
  const others = (await listHolidays(trx, { from: date, until: date })).filter((one) => one.active && one.id !== id);
  const same = others.find((other) => other.name.toLowerCase() === name.toLowerCase());
  if (!same) return;
  const issue = `must differ from that of another holiday on ${date}, got ${JSON.stringify(name)}: change that one (${same.id}), or disable it`;
  throw duplicate('name', issue, { holidayId: same.id });
}

/** Longer than any settlement takes. */
const SETTLEMENT_HORIZON_DAYS = 90;

/** Days YYYY-MM-DD, both included. */
export type Days = { from: string; until: string };

/** All holidays of these days, also memorial and inactive ones, earliest first: the stored, and those that are computed. */
export async function listHolidays(db: Queryable, { from, until }: Days): Promise<Holiday[]> {
  const years = Array.from({ length: yearOf(until) - yearOf(from) + 1 }, (_, index) => yearOf(from) + index);
  const computed = years.flatMap(computeHolidays);
  const stored = await rows<Holiday>(
    db,
    `SELECT * FROM holiday
     WHERE date BETWEEN CAST(:from AS date) AND CAST(:until AS date) OR id = ANY(CAST(:ids AS text[]))`,
    { from, until, ids: computed.map(({ id }) => id) },
  );
  const edited = new Set(stored.map(({ id }) => id));
  return [...stored, ...computed.filter(({ id }) => !edited.has(id))]
    .filter(({ date }) => date >= from && date <= until)
    .toSorted((a, b) => (`${a.date} ${a.name} ${a.id}` < `${b.date} ${b.name} ${b.id}` ? -1 : 1));
}

/** One holiday. Throws NOT_FOUND. */
export async function findHoliday(db: Queryable, id: string): Promise<Holiday> {
  const stored = await first<Holiday>(db, 'SELECT * FROM holiday WHERE id = :id', { id });
  return found(stored ?? computeHoliday(id), 'holiday');
}

/** The calendar of these days (YYYY-MM-DD, both included). One statement. */
export async function loadCalendar(db: Queryable, from: string, until: string) {
  const holidays = await listHolidays(db, { from, until });
  return calendarOf(
    { from, until },
    holidays.filter(({ kind, active }) => active && kind === 'closed'),
  );
}

/** {@link settlementDates} by the current holidays. One statement. */
export async function readSettlementDates(db: Queryable, requestedAt: Date) {
  const day = addisDay(requestedAt);
  return settlementDates(await loadCalendar(db, day, addDays(day, SETTLEMENT_HORIZON_DAYS)), requestedAt);
}
