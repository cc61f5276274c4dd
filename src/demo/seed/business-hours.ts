import { addisDay, HOUR_MS, inAddis } from '../../lib/dates.ts';
import type { Random } from './random.ts';

/** How busy a coffee shop is in each hour of an Addis day: mornings, the lunch hour above all, early evenings. */
const HOUR_WEIGHTS = [0, 0, 0, 0, 0, 1, 4, 9, 10, 7, 6, 9, 18, 15, 8, 6, 6, 9, 10, 8, 5, 3, 1, 0] as const;

/** From Sunday to Saturday. */
const WEEKDAY_WEIGHTS = [0.35, 1, 1, 1.05, 1.05, 1.2, 0.75] as const;

const HOLIDAY_WEIGHT = 0.15;

/** Genna, Timkat, Adwa, Labour Day, Patriots' Day, New Year and Meskel, as month and day: near enough for a quiet day. */
const HOLIDAYS: ReadonlySet<string> = new Set(['01-07', '01-19', '03-02', '05-01', '05-05', '09-11', '09-27']);

/** How many payments an hour attracts, relative to others. */
function weightAt(instant: Date): number {
  const addis = inAddis(instant);
  const ofDay = HOLIDAYS.has(addisDay(instant).slice(5)) ? HOLIDAY_WEIGHT : (WEEKDAY_WEIGHTS[addis.getUTCDay()] ?? 1);
  return ofDay * (HOUR_WEIGHTS[addis.getUTCHours()] ?? 0);
}

type Hour = { startMs: number; lengthMs: number; weight: number };

/** Instants between two others, spread as customers come, the earliest first. */
export function drawInstants(random: Random, span: { from: Date; until: Date; count: number }): Date[] {
  const hours = hoursOf(span);
  const total = hours.reduce((sum, { weight }) => sum + weight, 0);
  const places = Array.from({ length: span.count }, () => random.fraction() * total).toSorted((a, b) => a - b);
  const instants: Date[] = [];
  let passed = 0;
  for (const { startMs, lengthMs, weight } of hours) {
    for (let place = places[instants.length]; place !== undefined && place < passed + weight;) {
      instants.push(new Date(startMs + Math.floor(((place - passed) / weight) * lengthMs)));
      place = places[instants.length];
    }
    passed += weight;
  }
  return instants;
}

/** The hours of a span, the first and the last perhaps not whole. */
function hoursOf({ from, until }: { from: Date; until: Date }): Hour[] {
  const hours: Hour[] = [];
  for (let startMs = from.getTime(); startMs < until.getTime();) {
    const endMs = Math.min(Math.floor(startMs / HOUR_MS + 1) * HOUR_MS, until.getTime());
    const lengthMs = endMs - startMs;
    hours.push({ startMs, lengthMs, weight: (weightAt(new Date(startMs)) * lengthMs) / HOUR_MS });
    startMs = endMs;
  }
  return hours;
}
