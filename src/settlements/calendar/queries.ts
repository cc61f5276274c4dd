import { addDays, addisDay } from '../../lib/dates.ts';
import { rows, type Queryable } from '../../lib/db.ts';
import {
  calendarOf,
  FIRST_DAY,
  LAST_DAY,
  settlementDates,
  type Calendar,
  type SettlementDates,
} from './business-days.ts';
import { computeHoliday, computeHolidays, type ComputedHoliday, type HolidayKind } from './holidays.ts';

/** Years whose holidays the migrations insert. Those of other years are computed until an operator edits them. */
export const SEEDED_YEARS = { first: 2023, last: 2032 } as const;

/** Longer than any settlement takes. */
const SETTLEMENT_HORIZON_DAYS = 90;

/** A holiday. Unconfirmed ones are provisional; inactive ones are ignored. */
export type Holiday = {
  id: string;
  /** YYYY-MM-DD */
  date: string;
  name: string;
  nameAm: string | null;
  kind: HolidayKind;
  confirmed: boolean;
  active: boolean;
  source: 'computed' | 'operator';
  /** null: computed, without a row. */
  createdAt: Date | null;
  updatedAt: Date | null;
};

/** Days YYYY-MM-DD, both included. */
export type Days = { from: string; until: string };

/** All holidays of these days, also memorial and inactive ones, earliest first. */
export async function listHolidays(db: Queryable, days: Days): Promise<Holiday[]> {
  const computed = unseededYears(days).flatMap(computeHolidays);
  const stored = await rows<Holiday>(
    db,
    `SELECT * FROM holiday
     WHERE date BETWEEN CAST(:from AS date) AND CAST(:until AS date) OR id = ANY(CAST(:ids AS text[]))`,
    { ...days, ids: computed.map(({ id }) => id) },
  );
  const edited = new Set(stored.map(({ id }) => id));
  const untouched = computed.filter(({ id }) => !edited.has(id)).map(asHoliday);
  return [...stored, ...untouched]
    .filter(({ date }) => date >= days.from && date <= days.until)
    .toSorted((a, b) => (`${a.date} ${a.name} ${a.id}` < `${b.date} ${b.name} ${b.id}` ? -1 : 1));
}

/** One holiday, or undefined. */
export async function findHoliday(db: Queryable, id: string): Promise<Holiday | undefined> {
  const [stored] = await rows<Holiday>(db, 'SELECT * FROM holiday WHERE id = :id', { id });
  if (stored) return stored;
  const computed = computeHoliday(id, { first: yearOf(FIRST_DAY), last: yearOf(LAST_DAY) });
  return computed && !isSeeded(yearOf(computed.date)) ? asHoliday(computed) : undefined;
}

/** The calendar of these days (YYYY-MM-DD, both included). One statement. */
export async function loadCalendar(db: Queryable, fromDay: string, untilDay: string): Promise<Calendar> {
  const days = { from: fromDay, until: untilDay };
  const closed = (await listHolidays(db, days)).filter(({ kind, active }) => active && kind === 'closed');
  return calendarOf(
    days,
    closed.map(({ date, name, confirmed }) => ({ date, name, provisional: !confirmed })),
  );
}

/** {@link settlementDates} by the current holidays. One statement. */
export async function readSettlementDates(db: Queryable, requestedAt: Date): Promise<SettlementDates> {
  const day = addisDay(requestedAt);
  return settlementDates(await loadCalendar(db, day, addDays(day, SETTLEMENT_HORIZON_DAYS)), requestedAt);
}

const yearOf = (day: string): number => Number(day.slice(0, 4));
const isSeeded = (year: number): boolean => year >= SEEDED_YEARS.first && year <= SEEDED_YEARS.last;

function unseededYears({ from, until }: Days): number[] {
  const years = Array.from({ length: yearOf(until) - yearOf(from) + 1 }, (_, index) => yearOf(from) + index);
  return years.filter((year) => !isSeeded(year));
}

/** A computed holiday is provisional until an operator confirms it. */
function asHoliday({ id, date, name, nameAm, kind }: ComputedHoliday): Holiday {
  const unsaved = { source: 'computed', createdAt: null, updatedAt: null } as const;
  return { id, date, name, nameAm, kind, confirmed: false, active: true, ...unsaved };
}
