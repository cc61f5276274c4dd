import { setMembership } from '../../src/access/users/users.ts';
import { rows } from '../../src/lib/db.ts';
import { changeSchedule, requestDueReports } from '../../src/reports/schedules.ts';
import type { Fixture } from '../support/build.ts';
import { useSchedules, type ScheduleParts } from './scheduling.ts';

let { database, fixture, scope } = {} as ScheduleParts;
const { addMember, schedule, read, requested, daysOf, moveTo, runAll } = useSchedules(
  (parts) => ({ database, fixture, scope } = parts),
);

test('with another period a schedule begins with the present one, also where a report of the other period begins on that day', async () => {
  moveTo('2026-03-02', '12:00');
  const created = await schedule({ period: 'day' });
  moveTo('2026-03-03');
  await runAll();
  await database.db.transaction(async (trx) =>
    changeSchedule(trx, await read(created.id), { period: 'week', format: 'XLSX', at: fixture.clock() }),
  );
  moveTo('2026-03-09');
  await runAll();
  expect((await requested(created.id)).map(({ startDate, endDate, format }) => [startDate, endDate, format])).toEqual([
    ['2026-03-02', '2026-03-02', 'CSV'],
    ['2026-03-02', '2026-03-08', 'XLSX'],
  ]);
});

test('while no recipient may read it nothing is requested, and the next period is once somebody may', async () => {
  const finance = await addMember('finance');
  const { id } = await schedule({ kind: 'withdrawals', recipients: [finance] });
  const setRole = (role: 'support' | 'finance') =>
    database.db.transaction((trx) => setMembership(trx, { merchantId: scope.merchantId, userId: finance, role }));
  await setRole('support');
  moveTo('2026-03-03');
  await runAll();
  expect([await daysOf(id), (await read(id)).dueAt]).toEqual([[], new Date('2026-03-04T06:00:00+03:00')]);
  await setRole('finance');
  moveTo('2026-03-04');
  await runAll();
  expect(await daysOf(id)).toEqual([['2026-03-03', '2026-03-03']]);
});

test('a schedule that always fails holds up no other, and is logged', async () => {
  const [broken, other] = [await schedule(), await schedule()];
  // Its report exists, which a schedule requests once.
  moveTo('2026-03-03');
  await requestDueReports(fixture);
  await rows(database.db, `UPDATE report SET status = 'FAILED', failure = '{}' WHERE schedule_id = ANY (:ids)`, {
    ids: [broken.id, other.id],
  });
  await rows(database.db, `UPDATE report_schedule SET due_at = due_at - interval '1 day' WHERE id = :id`, broken);
  moveTo('2026-03-04');
  const logged: unknown[] = [];
  const log = { ...fixture.log, error: (...given: unknown[]) => logged.push(given) } as unknown as Fixture['log'];
  expect(await requestDueReports({ ...fixture, log })).toBe(1);
  expect(await daysOf(other.id)).toHaveLength(2);
  expect(logged).toMatchObject([[{ id: broken.id, err: { code: '23505' } }, expect.stringContaining('next run')]]);
});
