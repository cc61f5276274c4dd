export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;

/** Addis Ababa has kept UTC+3 without daylight saving since 1942: a day there is a fixed span of UTC. */
const ADDIS_OFFSET_MS = 3 * HOUR_MS;

/** A date whose UTC fields are calendar and clock of Addis Ababa at the instant: for formatting only. */
export function inAddis(instant: Date): Date {
  return new Date(instant.getTime() + ADDIS_OFFSET_MS);
}

/** The day in Addis Ababa as YYYY-MM-DD. */
export function addisDay(instant: Date): string {
  return inAddis(instant).toISOString().slice(0, 10);
}

/** The first instant of an Addis day (YYYY-MM-DD). */
export function startOfAddisDay(day: string): Date {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) - ADDIS_OFFSET_MS);
}

/** The first instant after an Addis day (YYYY-MM-DD). */
export function endOfAddisDay(day: string): Date {
  return new Date(startOfAddisDay(day).getTime() + DAY_MS);
}

/**
 * The first and the last day that queries accept. Before year 1 PostgreSQL writes timestamps in another form, and a day in
 * Addis Ababa begins on the day before in UTC.
 */
export const DAYS = { first: '1900-01-01', last: '2199-12-31' } as const;

/** Whether the text is a real calendar day written YYYY-MM-DD, from {@link DAYS}. */
export function isDay(text: string): boolean {
  return isCalendarDay(text) && text >= DAYS.first && text <= DAYS.last;
}

/** Whether the text is a real calendar day written YYYY-MM-DD, of whatever year. */
export function isCalendarDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00.000Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Whole days from one day to another (both YYYY-MM-DD), both ends included. */
export function daysInRange(startDay: string, endDay: string): number {
  return Math.round((Date.parse(endDay) - Date.parse(startDay)) / DAY_MS) + 1;
}

/** The day that is `count` days later; earlier when negative. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

/** How far the two days of a list may be apart. */
export const RANGE_DAYS_APART_MAX = 93;

/** Every day from one to another, both included. */
export function daysFrom(startDay: string, endDay: string): string[] {
  const days: string[] = [];
  for (let day = startDay; day <= endDay; day = addDays(day, 1)) days.push(day);
  return days;
}
