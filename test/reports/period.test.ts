import fc from 'fast-check';

import { addisDay, DAY_MS } from '../../src/lib/dates.ts';
import { inParts, rangeOf, readPeriod, type Period, type RequestedPeriod } from '../../src/reports/period.ts';
import { before } from '../../src/reports/sources/source.ts';

/** Saturday 21 November 2026, noon in Addis Ababa. */
const NOW = new Date('2026-11-21T09:00:00.000Z');
const days = (requested: RequestedPeriod, now = NOW): string[] => {
  const { startDate, endDate } = readPeriod(requested, now);
  return [startDate, endDate];
};

test.each<[Period, string, [string, string]]>([
  ['day', '2026-03-02', ['2026-03-02', '2026-03-02']],
  ['week', '2026-03-02', ['2026-03-02', '2026-03-08']],
  ['week', '2026-03-08', ['2026-03-02', '2026-03-08']],
  ['week', '2026-03-09', ['2026-03-09', '2026-03-15']],
  ['week', '2027-01-01', ['2026-12-28', '2027-01-03']],
  ['month', '2028-02-10', ['2028-02-01', '2028-02-29']],
  ['month', '2026-12-31', ['2026-12-01', '2026-12-31']],
  ['quarter', '2026-01-01', ['2026-01-01', '2026-03-31']],
  ['quarter', '2026-03-31', ['2026-01-01', '2026-03-31']],
  ['quarter', '2026-04-01', ['2026-04-01', '2026-06-30']],
  ['quarter', '2026-12-31', ['2026-10-01', '2026-12-31']],
])('the %s of %s starts and ends on its first and last day', (period, date, expected) => {
  expect(days({ period, date })).toEqual(expected);
});

test.each<[Period, [string, string]]>([
  ['day', ['2026-11-20', '2026-11-20']],
  ['week', ['2026-11-09', '2026-11-15']],
  ['month', ['2026-10-01', '2026-10-31']],
  ['quarter', ['2026-07-01', '2026-09-30']],
])('a %s without a date is the last complete one', (period, expected) => {
  expect(days({ period })).toEqual(expected);
});

test('a day without a date is yesterday in Addis Ababa, from 21:00 to 21:00 in UTC', () => {
  const lastMoment = readPeriod({ period: 'day' }, new Date('2026-11-20T20:59:59.999Z'));
  expect(lastMoment).toMatchObject({ startDate: '2026-11-19', until: new Date('2026-11-19T21:00:00.000Z') });
  const firstMoment = readPeriod({ period: 'day' }, new Date('2026-11-20T21:00:00.000Z'));
  expect(firstMoment).toEqual({
    startDate: '2026-11-20',
    endDate: '2026-11-20',
    from: new Date('2026-11-19T21:00:00.000Z'),
    until: new Date('2026-11-20T21:00:00.000Z'),
  });
});

test('every day is in exactly one week, month and quarter, and consecutive periods leave no gap', () => {
  const day = fc.integer({ min: 0, max: 25_000 }).map((n) => new Date(Date.UTC(2020, 0, 10) + n * 86_400_000));
  fc.assert(
    fc.property(day, fc.constantFrom<Exclude<Period, 'custom'>[]>('day', 'week', 'month', 'quarter'), (at, period) => {
      const date = at.toISOString().slice(0, 10);
      const range = readPeriod({ period, date }, NOW);
      expect(range.startDate <= date && date <= range.endDate).toBe(true);
      expect(days({ period, date: range.startDate })).toEqual(days({ period, date: range.endDate }));
      const following = readPeriod({ period, date: addisDay(range.until) }, NOW);
      expect(following.from).toEqual(range.until);
    }),
  );
});

test('a custom period has the requested days, at most 366', () => {
  expect(days({ period: 'custom', startDate: '2027-03-01', endDate: '2028-02-29' })).toEqual([
    '2027-03-01',
    '2028-02-29',
  ]);
  const wider = { period: 'custom', startDate: '2027-03-01', endDate: '2028-03-01' } as const;
  expect(() => readPeriod(wider, NOW)).toThrow(/at most 366 days, got 2027-03-01 and 2028-03-01 \(367 days\)/);
});

test.each<[RequestedPeriod, string]>([
  [{ period: 'custom' }, 'startDate is required for period custom'],
  [{ period: 'custom', startDate: '2026-01-01' }, 'endDate is required for period custom'],
  [{ period: 'custom', date: '2026-01-01' }, 'date is for the other periods'],
  [{ period: 'custom', startDate: '2026-01-02', endDate: '2026-01-01' }, 'startDate must not be after endDate'],
  [{ period: 'week', startDate: '2026-01-01' }, 'startDate is for period custom; for a week send date'],
  [{ period: 'day', endDate: '2026-01-01' }, 'endDate is for period custom'],
  [{ period: 'day', date: '0001-01-01' }, 'date must be a day from 2020-01-01 to 2100-12-31, got 0001-01-01'],
  [{ period: 'custom', startDate: '2026-01-02', endDate: '9999-12-31' }, 'endDate must be a day from'],
])('the period %j is rejected: %s', (requested, message) => {
  expect(() => readPeriod(requested, NOW)).toThrow(message);
});

test('the parts of a range cover it without gaps, each within the maximum of days', () => {
  const day = fc.integer({ min: 0, max: 800 }).map((number) => addisDay(new Date(NOW.getTime() + number * DAY_MS)));
  fc.assert(
    fc.property(day, day, fc.integer({ min: 1, max: 40 }), (one, other, daysMax) => {
      const [startDate, endDate] = one < other ? [one, other] : [other, one];
      const range = rangeOf({ startDate, endDate });
      const parts = inParts(range, daysMax);
      expect([parts[0]?.from, parts.at(-1)?.until]).toEqual([range.from, range.until]);
      for (const [index, { from, until }] of parts.entries()) {
        expect(until.getTime() - from.getTime()).toBeLessThanOrEqual(daysMax * DAY_MS);
        if (index > 0) expect(from).toEqual(parts[index - 1]?.until);
      }
    }),
  );
});

const FILTER = {
  merchantId: 'mrc_1',
  environment: 'sandbox',
  range: rangeOf({ startDate: '2026-03-02', endDate: '2026-03-03' }),
  statuses: null,
  channel: null,
} as const;

const endAfter = (at: string): string => before(FILTER, { at, id: 'txn_1' }).range.until.toISOString();

test('the range of a page ends within a second after the position of the page before', () => {
  expect(endAfter('2026-03-02 09:00:00.123456+00')).toBe('2026-03-02T09:00:01.000Z');
  expect(endAfter('2026-03-02 09:00:00+00')).toBe('2026-03-02T09:00:01.000Z');
});

test('the range of a page never ends after the range of the report, and the first page has all of it', () => {
  expect(endAfter('2026-03-03 20:59:59.999999+00')).toBe('2026-03-03T21:00:00.000Z');
  expect(endAfter('2026-03-03 21:00:00+00')).toBe('2026-03-03T21:00:00.000Z');
  expect(before(FILTER, null)).toBe(FILTER);
});
