import { addDays, addisDay } from '../../src/lib/dates.ts';

/** Two days written YYYY-MM-DD, both included. */
export type Days = { startDate: string; endDate: string };

/** The days from so many days ago to so many days ago, in Addis Ababa. */
export function daysAgo(from: number, until: number): Days {
  const today = addisDay(new Date());
  return { startDate: addDays(today, -from), endDate: addDays(today, -until) };
}

/** How long ago the Monday of this week in Addis Ababa was, in days. */
export const daysSinceMonday = (): number => (new Date(addisDay(new Date())).getUTCDay() + 6) % 7;

/** The last days up to today. */
export const lastDays = (count: number): Days => daysAgo(count - 1, 0);
