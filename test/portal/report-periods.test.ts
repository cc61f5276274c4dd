import fc from 'fast-check';

import { periodOf } from '../../portal/merchant/reports/period.ts';
import { addDays, daysFrom } from '../../src/lib/dates.ts';
import { toEthiopian } from '../../src/settlements/calendar/holidays.ts';

const day = fc.integer({ min: 0, max: 7_300 }).map((days) => addDays('2020-01-01', days));
const wanted = fc.record({
  period: fc.constantFrom('day', 'week', 'month', 'quarter'),
  calendar: fc.constantFrom('gregorian', 'ethiopian'),
});

test('every day is in its period, all days of which have the same one, and the next begins the day after', () => {
  fc.assert(
    fc.property(day, wanted, (one, kind) => {
      const period = periodOf(one, kind);
      const { startDate, endDate } = period;
      expect(startDate <= one && one <= endDate).toBe(true);
      for (const other of daysFrom(startDate, endDate)) expect(periodOf(other, kind)).toEqual(period);
      expect(periodOf(addDays(endDate, 1), kind).startDate).toBe(addDays(endDate, 1));
    }),
    { numRuns: 200, seed: 20_260_301 },
  );
});

test('an Ethiopian month begins on its first day, Nehase has Pagumen, and the fiscal quarters begin in Hamle', () => {
  const month = periodOf('2026-09-07', { period: 'month', calendar: 'ethiopian' });
  expect([toEthiopian(month.startDate), toEthiopian(month.endDate)]).toMatchObject([
    { month: 12, day: 1 },
    { month: 13, day: 5 },
  ]);
  expect(periodOf('2027-09-11', { period: 'month', calendar: 'ethiopian' }).endDate).toBe('2027-09-11');
  const quarters = ['2026-07-08', '2026-10-11', '2027-01-09', '2027-04-09'];
  for (const start of quarters) {
    expect(periodOf(addDays(start, 40), { period: 'quarter', calendar: 'ethiopian' }).startDate).toBe(start);
  }
});
