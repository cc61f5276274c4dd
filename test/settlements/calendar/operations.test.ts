import type { z } from 'zod';

import { createValidator } from '../../../src/http/validate.ts';
import { calendarDay, dayInWords } from '../../../src/settlements/calendar/business-days.ts';
import type { Holiday } from '../../../src/settlements/calendar/holidays.ts';
import {
  addHoliday,
  changeHoliday,
  HolidayChanges,
  NewHoliday,
  removeHoliday,
  findHoliday,
  listHolidays,
  loadCalendar,
  readSettlementDates,
} from '../../../src/settlements/calendar/operations.ts';
import { useUndoneChange } from './undone.ts';

const { tx, runInTransaction } = useUndoneChange();

const add = (input: Partial<NewHoliday> = {}): Promise<Holiday> =>
  addHoliday(tx(), { date: '2026-11-24', name: 'National mourning', kind: 'closed', ...input });
const list = (from: string, until = from) => listHolidays(tx().trx, { from, until });
const open = async (day: string): Promise<boolean> =>
  calendarDay(await loadCalendar(tx().trx, day, day), day).businessDay;

describe('a closure of one day', () => {
  test('closes its day with its name as the reason, until it is removed', async () => {
    expect(await open('2026-11-24')).toBe(true);
    const added = await add({ nameAm: 'ብሔራዊ የሐዘን ቀን' });
    expect(added).toEqual({
      id: expect.stringMatching(/^hol_[0-9A-Z]{26}$/),
      date: '2026-11-24',
      name: 'National mourning',
      nameAm: 'ብሔራዊ የሐዘን ቀን',
      kind: 'closed',
      confirmed: true,
      active: true,
      source: 'operator',
      createdAt: expect.any(Date),
      updatedAt: expect.any(Date),
    });
    expect(await open('2026-11-24')).toBe(false);
    expect(await removeHoliday(tx(), added.id)).toEqual(added);
    expect(await open('2026-11-24')).toBe(true);
    await expect(removeHoliday(tx(), added.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('of kind memorial leaves its day a business day', async () => {
    await add({ kind: 'memorial' });
    expect(await open('2026-11-24')).toBe(true);
  });

  test('may be in a year before any row, and on the first and the last day of the calendar', async () => {
    await add({ date: '2020-01-01' });
    await add({ date: '2100-12-31' });
    expect((await list('2020-01-01')).map(({ name }) => name)).toEqual(['National mourning']);
    expect((await list('2100-12-31')).map(({ name }) => name)).toEqual(['National mourning']);
  });

  test('delays the dates of a settlement requested before it', async () => {
    const at = new Date('2026-11-23T09:00:00+03:00');
    expect(await readSettlementDates(tx().trx, at)).toMatchObject({ expectedUntil: '2026-11-25', skippedDays: [] });
    await add();
    expect(await readSettlementDates(tx().trx, at)).toEqual({
      effectiveDate: '2026-11-23',
      expectedFrom: '2026-11-25',
      expectedUntil: '2026-11-26',
      skippedDays: [
        { date: '2026-11-24', reason: `National mourning, ${dayInWords('2026-11-24')}`, provisional: false },
      ],
    });
  });
});

describe('a provisional holiday', () => {
  test('is confirmed on its day', async () => {
    expect((await loadCalendar(tx().trx, '2027-03-09', '2027-03-09')).closed.get('2027-03-09')).toEqual({
      name: 'Eid al-Fitr',
      provisional: true,
    });
    const before = await findHoliday(tx().trx, 'hol_EIDALFITR1448');
    const confirmed = await changeHoliday(tx(), 'hol_EIDALFITR1448', { confirmed: true });
    expect(confirmed).toEqual({ ...before, confirmed: true, createdAt: expect.any(Date), updatedAt: expect.any(Date) });
    expect((await loadCalendar(tx().trx, '2027-03-09', '2027-03-09')).closed.get('2027-03-09')).toEqual({
      name: 'Eid al-Fitr',
      provisional: false,
    });
  });

  test('rescheduled by a day is confirmed thereby, and its old day is a business day', async () => {
    const moved = await changeHoliday(tx(), 'hol_EIDALFITR1448', { date: '2027-03-10' });
    expect(moved).toMatchObject({ date: '2027-03-10', confirmed: true, source: 'computed' });
    expect([await open('2027-03-09'), await open('2027-03-10')]).toEqual([true, false]);
  });

  test('rescheduled with confirmed: false stays provisional', async () => {
    const moved = await changeHoliday(tx(), 'hol_EIDALFITR1448', { date: '2027-03-10', confirmed: false });
    expect(moved).toMatchObject({ date: '2027-03-10', confirmed: false });
  });
});

describe('a disabled holiday', () => {
  test('leaves its day a business day and itself in the list, and closes the day when enabled again', async () => {
    await changeHoliday(tx(), 'hol_PATRIOTS2027', { active: false });
    expect(await open('2027-05-05')).toBe(true);
    expect(await list('2027-05-05')).toMatchObject([{ id: 'hol_PATRIOTS2027', active: false }]);
    await changeHoliday(tx(), 'hol_PATRIOTS2027', { active: true });
    expect(await open('2027-05-05')).toBe(false);
  });

  test('allows another of its name, and cannot be enabled beside it', async () => {
    await changeHoliday(tx(), 'hol_PATRIOTS2027', { active: false });
    const other = await add({ date: '2027-05-05', name: "Patriots' Day" });
    await expect(changeHoliday(tx(), 'hol_PATRIOTS2027', { active: true })).rejects.toMatchObject({
      code: 'DUPLICATE_REFERENCE',
      existing: { holidayId: other.id },
    });
    await changeHoliday(tx(), 'hol_PATRIOTS2027', { nameAm: 'የድል ቀን' });
    expect(await list('2027-05-05')).toMatchObject([
      { id: other.id, active: true },
      { id: 'hol_PATRIOTS2027', active: false, nameAm: 'የድል ቀን' },
    ]);
  });

  test('is computed: it cannot be removed', async () => {
    await expect(removeHoliday(tx(), 'hol_TIMKAT2027')).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: 'Timkat of 2027-01-19 is computed and cannot be removed: disable it with "active": false.',
    });
  });
});

describe('the input of operators', () => {
  const closure = { date: '2026-11-24', name: 'National mourning', kind: 'closed' };
  const check = (body: z.ZodType, value: unknown) =>
    createValidator({ body }, 'x')({ params: {}, query: {}, body: value }).body;
  const day = 'must be a date as YYYY-MM-DD, got';

  test.each<[string, Record<string, unknown>]>([
    [`date ${day} "2026-02-30"`, { date: '2026-02-30' }],
    [`date ${day} "tomorrow"`, { date: 'tomorrow' }],
    ['date must be from 2020-01-01 to 2100-12-31, got "2019-12-31"', { date: '2019-12-31' }],
    ['date must be from 2020-01-01 to 2100-12-31, got "2101-01-01"', { date: '2101-01-01' }],
    ['name must be at least 1 characters long', { name: '   ' }],
    ['name must not contain control characters', { name: 'a\nb' }],
    ['name must be a string, got a number', { name: 5 }],
    ['name must be at most 100 characters long', { name: 'x'.repeat(101) }],
    ['nameAm must be at least 1 characters long', { nameAm: '' }],
    ['kind must be one of closed, memorial, got "half"', { kind: 'half' }],
    ['confirmed must be true or false, got "yes"', { confirmed: 'yes' }],
    ['active must be true or false, got 1', { active: 1 }],
    [`date ${day} 5; kind must be one of closed, memorial, got null`, { date: 5, kind: null }],
  ])('is rejected with the sentence: %s', (sentence, wrong) => {
    const rejected = expect.objectContaining({ code: 'VALIDATION_ERROR', message: expect.stringContaining(sentence) });
    expect(() => check(NewHoliday, { ...closure, ...wrong })).toThrow(rejected);
    expect(() => check(HolidayChanges, wrong)).toThrow(rejected);
  });

  test('has its names trimmed, with single spaces', () => {
    expect(check(NewHoliday, { ...closure, name: ' National  mourning ' })).toEqual(closure);
  });

  test('a second active holiday of a name on a day is rejected with the id of the first, in any letter case', async () => {
    const first = await add();
    await expect(add({ name: 'national MOURNING' })).rejects.toMatchObject({
      code: 'DUPLICATE_REFERENCE',
      existing: { holidayId: first.id },
      message: `name must differ from that of another holiday on 2026-11-24, got "national MOURNING": change that one (${first.id}), or disable it`,
    });
    const other = await add({ name: 'Election Day' });
    await expect(changeHoliday(tx(), other.id, { name: 'National mourning' })).rejects.toMatchObject({
      code: 'DUPLICATE_REFERENCE',
    });
    const tomorrow = await add({ date: '2026-11-25' });
    await expect(changeHoliday(tx(), tomorrow.id, { date: '2026-11-24' })).rejects.toMatchObject({
      code: 'DUPLICATE_REFERENCE',
    });
    expect(await add({ active: false })).toMatchObject({ active: false });
  });

  test('an empty change of a holiday changes nothing', async () => {
    const timkat = await findHoliday(tx().trx, 'hol_TIMKAT2027');
    expect(await changeHoliday(tx(), 'hol_TIMKAT2027', {})).toMatchObject({
      ...timkat,
      createdAt: expect.any(Date),
      updatedAt: expect.any(Date),
    });
  });
});

test('of ten concurrent additions of the same closure, one succeeds', async () => {
  const closure = { date: '2026-12-01', name: 'Census', kind: 'closed' } as const;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, () => runInTransaction((own) => addHoliday(own, closure))),
  );
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(refused).toEqual(Array.from({ length: 9 }, () => 'DUPLICATE_REFERENCE'));
  const left = await runInTransaction(({ trx }) => listHolidays(trx, { from: '2026-12-01', until: '2026-12-01' }));
  expect(left.map(({ name }) => name)).toEqual(['Census']);
  await runInTransaction((own) => removeHoliday(own, left[0]?.id ?? ''));
});
