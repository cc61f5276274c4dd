import { addDays, addisDay } from '../../lib/dates.ts';
import { first, rows, type Queryable } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import { calendarOf, settlementDates, type Calendar, type SettlementDates } from './business-days.ts';
import { computeHoliday, computeHolidays, yearOf, type Holiday } from './holidays.ts';

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
export async function loadCalendar(db: Queryable, from: string, until: string): Promise<Calendar> {
  const holidays = await listHolidays(db, { from, until });
  return calendarOf(
    { from, until },
    holidays.filter(({ kind, active }) => active && kind === 'closed'),
  );
}

/** {@link settlementDates} by the current holidays. One statement. */
export async function readSettlementDates(db: Queryable, requestedAt: Date): Promise<SettlementDates> {
  const day = addisDay(requestedAt);
  return settlementDates(await loadCalendar(db, day, addDays(day, SETTLEMENT_HORIZON_DAYS)), requestedAt);
}
