import fc from 'fast-check';

import { addDays, daysFrom } from '../../../src/lib/dates.ts';
import {
  calendarDay,
  calendarOf,
  settlementDates,
  type Calendar,
} from '../../../src/settlements/calendar/business-days.ts';
import { computeHolidays } from '../../../src/settlements/calendar/holidays.ts';

const RANGE = { from: '2023-01-01', until: '2033-12-31' };
const closed = Array.from({ length: 11 }, (_, index) => 2023 + index)
  .flatMap(computeHolidays)
  .filter(({ kind }) => kind === 'closed');
const ethiopia = calendarOf(RANGE, closed);

const isBusinessDay = (calendar: Calendar, day: string) => calendarDay(calendar, day).businessDay;
const withClosure = (date: string, name: string): Calendar =>
  calendarOf(RANGE, [...closed, { date, name, confirmed: true }]);

describe('a day of the calendar', () => {
  test.each([
    ['2026-11-20', null],
    ['2026-11-21', 'Saturday 21 November 2026'],
    ['2026-11-22', 'Sunday 22 November 2026'],
    ['2027-01-19', 'Timkat, Tuesday 19 January 2027'],
    ['2024-05-05', "Fasika and Patriots' Day, Sunday 5 May 2024"],
    ['2026-12-08', null],
  ])('%s is a business day, or has the reason why not', (day, reason) => {
    expect(calendarDay(ethiopia, day)).toEqual({
      date: day,
      businessDay: reason === null,
      reason,
      provisional: false,
    });
  });

  test('closed by an Islamic holiday is provisional until it is confirmed', () => {
    const feast = { date: '2027-03-09', name: 'Eid al-Fitr' };
    expect(calendarDay(ethiopia, '2027-03-09')).toMatchObject({ businessDay: false, provisional: true });
    const confirmed = calendarOf(RANGE, [{ ...feast, confirmed: true }]);
    expect(calendarDay(confirmed, '2027-03-09').provisional).toBe(false);
    const both = [
      { ...feast, confirmed: false },
      { date: '2027-03-09', name: 'Mourning', confirmed: true },
    ];
    for (const holidays of [both, both.toReversed()]) {
      expect(calendarDay(calendarOf(RANGE, holidays), '2027-03-09').provisional).toBe(true);
    }
  });

  test.each(['2022-12-31', '2034-01-01'])(
    '%s outside of the loaded range throws instead of counting as open',
    (day) => {
      expect(() => calendarDay(ethiopia, day)).toThrow(
        `${day} is outside of the calendar, which goes from 2023-01-01 to 2033-12-31`,
      );
    },
  );
});

describe('the dates of a settlement', () => {
  const inAddis = (text: string): Date => new Date(`${text}+03:00`);
  const dates = (text: string) => settlementDates(ethiopia, inAddis(text));

  test('requested on a business day before 15:00 are that day, the next and the second', () => {
    expect(dates('2026-11-16T09:00:00')).toEqual({
      effectiveDate: '2026-11-16',
      expectedFrom: '2026-11-17',
      expectedUntil: '2026-11-18',
      skippedDays: [],
    });
  });

  test.each([
    ['2026-11-16T14:59:59.999', '2026-11-16'],
    ['2026-11-16T15:00:00.000', '2026-11-17'],
    ['2026-11-16T23:59:59.999', '2026-11-17'],
    ['2026-11-17T00:00:00.000', '2026-11-17'],
  ])('requested at %s take effect on %s', (at, effectiveDate) => {
    expect(dates(at).effectiveDate).toBe(effectiveDate);
  });

  test('requested after the cut-off before a weekend have the reasons of all skipped days', () => {
    expect(dates('2026-11-20T15:00:00')).toEqual({
      effectiveDate: '2026-11-23',
      expectedFrom: '2026-11-24',
      expectedUntil: '2026-11-25',
      skippedDays: [
        { date: '2026-11-20', reason: 'requested after 15:00, Friday 20 November 2026', provisional: false },
        { date: '2026-11-21', reason: 'Saturday 21 November 2026', provisional: false },
        { date: '2026-11-22', reason: 'Sunday 22 November 2026', provisional: false },
      ],
    });
  });

  test('requested on a holiday take effect on the next business day at any hour', () => {
    for (const at of ['2027-01-19T08:00:00', '2027-01-19T20:00:00']) {
      expect(dates(at)).toEqual({
        effectiveDate: '2027-01-20',
        expectedFrom: '2027-01-21',
        expectedUntil: '2027-01-22',
        skippedDays: [{ date: '2027-01-19', reason: 'Timkat, Tuesday 19 January 2027', provisional: false }],
      });
    }
  });

  test('over Siklet, Labour Day, Fasika and the weekend skip all of them', () => {
    expect(dates('2027-04-29T10:00:00')).toEqual({
      effectiveDate: '2027-04-29',
      expectedFrom: '2027-05-03',
      expectedUntil: '2027-05-04',
      skippedDays: [
        { date: '2027-04-30', reason: 'Siklet, Friday 30 April 2027', provisional: false },
        { date: '2027-05-01', reason: 'Labour Day, Saturday 1 May 2027', provisional: false },
        { date: '2027-05-02', reason: 'Fasika, Sunday 2 May 2027', provisional: false },
      ],
    });
  });

  test('that skip an Islamic holiday mark it as provisional', () => {
    expect(dates('2027-03-08T10:00:00').skippedDays).toEqual([
      { date: '2027-03-09', reason: 'Eid al-Fitr, Tuesday 9 March 2027', provisional: true },
    ]);
  });

  test('are later when a day of mourning is added, and earlier again when it is removed', () => {
    const at = inAddis('2026-11-16T09:00:00');
    const mourning = settlementDates(withClosure('2026-11-17', 'National mourning'), at);
    expect(mourning).toMatchObject({ expectedFrom: '2026-11-18', expectedUntil: '2026-11-19' });
    expect(mourning.skippedDays).toEqual([
      { date: '2026-11-17', reason: 'National mourning, Tuesday 17 November 2026', provisional: false },
    ]);
    expect(settlementDates(ethiopia, at).expectedUntil).toBe('2026-11-18');
  });

  const instant = fc
    .integer({ min: 0, max: 3_600 * 86_400 })
    .map((seconds) => new Date(Date.parse('2023-01-02T00:00:00+03:00') + seconds * 1_000));

  test('over Timkat and a weekend skip both with their reasons', () => {
    expect(dates('2027-01-15T10:00:00')).toMatchObject({
      expectedUntil: '2027-01-20',
      skippedDays: [
        { date: '2027-01-16', reason: 'Saturday 16 January 2027', provisional: false },
        { date: '2027-01-17', reason: 'Sunday 17 January 2027', provisional: false },
        { date: '2027-01-19', reason: 'Timkat, Tuesday 19 January 2027', provisional: false },
      ],
    });
  });

  test('are no earlier with one more closed day', () => {
    fc.assert(
      fc.property(instant, fc.integer({ min: 0, max: 10 }), (at, offset) => {
        const closedDay = addDays(at.toISOString().slice(0, 10), offset);
        const mourning = settlementDates(withClosure(closedDay, 'Day of mourning'), at);
        const before = settlementDates(ethiopia, at);
        for (const name of ['effectiveDate', 'expectedFrom', 'expectedUntil'] as const)
          expect(mourning[name] >= before[name]).toBe(true);
      }),
    );
  });

  test('are no earlier for a later request, and each reason ends in its date', () => {
    fc.assert(
      fc.property(instant, fc.integer({ min: 0, max: 1_000 }), (at, hours) => {
        const { expectedUntil, skippedDays } = settlementDates(ethiopia, at);
        const later = settlementDates(ethiopia, new Date(at.getTime() + hours * 3_600_000));
        expect(later.expectedUntil >= expectedUntil).toBe(true);
        for (const { reason } of skippedDays)
          expect(reason).toMatch(/(^|, )[A-Z][a-z]+day \d{1,2} [A-Z][a-z]+ 20\d\d$/);
      }),
    );
  });

  test('beyond the end of the calendar throw', () => {
    expect(() => dates('2033-12-30T09:00:00')).toThrow(RangeError);
  });

  test('are business days in order, never before the request, with a reason for each skipped day', () => {
    fc.assert(
      fc.property(instant, (at) => {
        const { effectiveDate, expectedFrom, expectedUntil, skippedDays } = settlementDates(ethiopia, at);
        const asked = new Date(at.getTime() + 3 * 3_600_000).toISOString().slice(0, 10);
        expect([asked, effectiveDate].toSorted()).toEqual([asked, effectiveDate]);
        expect(effectiveDate < expectedFrom && expectedFrom < expectedUntil).toBe(true);
        for (const day of [effectiveDate, expectedFrom, expectedUntil]) expect(isBusinessDay(ethiopia, day)).toBe(true);
        const explained = [...skippedDays.map(({ date }) => date), effectiveDate, expectedFrom, expectedUntil];
        expect(explained.toSorted()).toEqual(daysFrom(asked, expectedUntil));
      }),
    );
  });
});
