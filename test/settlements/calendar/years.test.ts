import { calendarDay } from '../../../src/settlements/calendar/business-days.ts';
import { computeHolidays } from '../../../src/settlements/calendar/holidays.ts';
import {
  addHoliday,
  changeHoliday,
  findHoliday,
  listHolidays,
  loadCalendar,
} from '../../../src/settlements/calendar/operations.ts';
import { useUndoneChange } from './undone.ts';

const { tx } = useUndoneChange();

const list = (from: string, until = from) => listHolidays(tx().trx, { from, until });
const open = async (day: string): Promise<boolean> =>
  calendarDay(await loadCalendar(tx().trx, day, day), day).businessDay;

describe('the years until 2032', () => {
  test('have all holidays, computed, active and confirmed but for the Islamic ones', async () => {
    const listed = await list('2026-01-01', '2026-12-31');
    expect(listed.map(({ id }) => id)).toEqual(computeHolidays(2026).map(({ id }) => id));
    expect(listed.every(({ active, source }) => active && source === 'computed')).toBe(true);
    expect(listed.filter(({ confirmed }) => !confirmed).map(({ name }) => name)).toEqual([
      'Eid al-Fitr',
      'Arafa',
      'Mawlid',
    ]);
    expect(listed.find(({ id }) => id === 'hol_HIDAR2026')).toEqual({
      id: 'hol_HIDAR2026',
      date: '2026-12-08',
      name: "Hidar 29 Nations, Nationalities and Peoples' Day",
      nameAm: 'ኅዳር 29 የብሔር ብሔረሰቦችና ሕዝቦች ቀን',
      kind: 'memorial',
      confirmed: true,
      active: true,
      source: 'computed',
      createdAt: null,
      updatedAt: null,
    });
    expect(await open('2026-12-08')).toBe(true);
  });
});

describe('a later year', () => {
  test('is computed on request, with all holidays provisional', async () => {
    const listed = await list('2033-01-01', '2034-12-31');
    expect(listed.map(({ id }) => id).toSorted()).toEqual(
      [2033, 2034]
        .flatMap(computeHolidays)
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(listed.every(({ confirmed, active, createdAt }) => !confirmed && active && createdAt === null)).toBe(true);
    expect((await loadCalendar(tx().trx, '2033-01-07', '2033-01-07')).closed.get('2033-01-07')).toEqual({
      name: 'Genna',
      provisional: true,
    });
    expect(listed.filter(({ name }) => name === 'Eid al-Fitr').map(({ date }) => date)).toEqual([
      '2033-01-03',
      '2033-12-23',
      '2034-12-12',
    ]);
  });

  test('stores an edit of one of two holidays of a name, and computes the rest as before', async () => {
    const [stays, moved] = ['hol_EIDALFITR1454', 'hol_EIDALFITR1455'] as const;
    const edited = await changeHoliday(tx(), moved, { date: '2033-12-22' });
    expect(edited).toMatchObject({ id: moved, date: '2033-12-22', confirmed: true, createdAt: expect.any(Date) });
    const feasts = (await list('2033-01-01', '2033-12-31')).filter(({ name }) => name === 'Eid al-Fitr');
    expect(feasts.map(({ id, date, confirmed }) => [id, date, confirmed])).toEqual([
      [stays, '2033-01-03', false],
      [moved, '2033-12-22', true],
    ]);
    expect([await open('2033-12-22'), await open('2033-12-23')]).toEqual([false, true]);
    expect(await findHoliday(tx().trx, moved)).toEqual(edited);
  });

  test('retains an edit that rescheduled a holiday out of the requested days', async () => {
    await changeHoliday(tx(), 'hol_EIDALFITR1454', { date: '2032-12-31' });
    expect(await list('2033-01-03')).toEqual([]);
    expect(await list('2032-12-31')).toMatchObject([{ id: 'hol_EIDALFITR1454' }]);
    await changeHoliday(tx(), 'hol_GENNA2035', { active: false });
    expect(await open('2035-01-08')).toBe(true);
    expect((await loadCalendar(tx().trx, '2035-01-07', '2035-01-07')).closed.size).toBe(0);
  });

  test('rejects a name that is computed for the day', async () => {
    const again = { date: '2033-01-07', name: 'genna', kind: 'closed' } as const;
    await expect(addHoliday(tx(), again)).rejects.toMatchObject({
      code: 'DUPLICATE_REFERENCE',
      existing: { holidayId: 'hol_GENNA2033' },
    });
  });

  test.each(['hol_GENNA2019', 'hol_GENNA2101', 'hol_GENNA2027X', 'hol_nobody', ''])(
    'holds no holiday with the id %j',
    async (id) => {
      await expect(changeHoliday(tx(), id, { active: false })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    },
  );
});
