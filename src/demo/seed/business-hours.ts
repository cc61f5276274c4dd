import { addisDay, inAddis } from '../../lib/dates.ts';
import type { Random } from './random.ts';

/** How busy a coffee shop is in each hour of an Addis day: mornings, lunch above all, early evenings. */
const HOUR_WEIGHTS = [0, 0, 0, 0, 0, 1, 4, 9, 10, 7, 6, 9, 18, 15, 8, 6, 6, 9, 10, 8, 5, 3, 1, 0] as const;

/** From Sunday to Saturday. */
const WEEKDAY_WEIGHTS = [0.35, 1, 1, 1.05, 1.05, 1.2, 0.75] as const;

const HOLIDAY_WEIGHT = 0.15;
const WEIGHT_MAX = Math.max(...HOUR_WEIGHTS) * Math.max(...WEEKDAY_WEIGHTS);

/** Genna, Timkat, Adwa, Labour Day, Patriots' Day, New Year and Meskel, as month and day: close enough for a quiet day. */
const HOLIDAYS: ReadonlySet<string> = new Set(['01-07', '01-19', '03-02', '05-01', '05-05', '09-11', '09-27']);

/** How likely a payment is at this time, relative to other times. */
function weightAt(instant: Date): number {
  const addis = inAddis(instant);
  const ofDay = HOLIDAYS.has(addisDay(instant).slice(5)) ? HOLIDAY_WEIGHT : (WEEKDAY_WEIGHTS[addis.getUTCDay()] ?? 1);
  return ofDay * (HOUR_WEIGHTS[addis.getUTCHours()] ?? 0);
}

/** Instants between two others, distributed by business hours, the earliest first. */
export function drawInstants(random: Random, span: { from: Date; until: Date; count: number }): Date[] {
  const fromMs = span.from.getTime();
  const lengthMs = span.until.getTime() - fromMs;
  const instants: Date[] = [];
  while (instants.length < span.count) {
    const instant = new Date(fromMs + random.below(lengthMs));
    if (random.chance(weightAt(instant) / WEIGHT_MAX)) instants.push(instant);
  }
  return instants.toSorted((a, b) => a.getTime() - b.getTime());
}
