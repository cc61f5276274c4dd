import { setMembership } from '../../src/access/users/users.ts';
import { DAY_MS } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { giveUpReport } from '../../src/reports/generate.ts';
import { requestReport } from '../../src/reports/request.ts';
import { deleteSchedule, requestDueReports, changeSchedule } from '../../src/reports/schedules.ts';
import { buildSession, type Fixture } from '../support/build.ts';
import { REPORTS_DAY } from '../support/reports.ts';
import { useSchedules, type ScheduleParts } from './scheduling.ts';

let { database, fixture, reports, scope, owner } = {} as ScheduleParts;
const { addMember, schedule, read, requested, daysOf, moveTo, runAll } = useSchedules(
  (parts) => ({ database, fixture, reports, scope, owner } = parts),
);

test.each([
  ['day', '2026-03-02', '2026-03-02', '2026-03-03', '2026-03-03'],
  ['week', '2026-03-02', '2026-03-08', '2026-03-09', '2026-03-15'],
  ['month', '2026-03-01', '2026-03-31', '2026-04-01', '2026-04-30'],
  // Yekatit and Megabit 2018.
  ['ethiopianMonth', '2026-02-08', '2026-03-09', '2026-03-10', '2026-04-08'],
] as const)(
  'a report of each %s is requested at 06:00 after its last day',
  async (period, ...[from, until = '', nextFrom, nextUntil = '']) => {
    const { id } = await schedule({ period });
    const dueDay = (day: string) => new Date(Date.parse(`${day}T06:00:00+03:00`) + DAY_MS);
    expect((await read(id)).dueAt).toEqual(dueDay(until));
    fixture.pass(dueDay(until).getTime() - fixture.clock().getTime() - 1);
    await runAll();
    expect(await daysOf(id)).toEqual([]);
    fixture.pass(1);
    await runAll();
    expect(await daysOf(id)).toEqual([[from, until]]);
    expect((await read(id)).dueAt).toEqual(dueDay(nextUntil));
    fixture.pass(dueDay(nextUntil).getTime() - fixture.clock().getTime());
    await runAll();
    expect(await daysOf(id)).toEqual([
      [from, until],
      [nextFrom, nextUntil],
    ]);
  },
);

test('Nehase is reported together with Pagumen', async () => {
  moveTo('2026-08-20');
  const { id } = await schedule({ period: 'ethiopianMonth' });
  moveTo('2026-09-11');
  await runAll();
  expect(await daysOf(id)).toEqual([['2026-08-07', '2026-09-10']]);
});

test('each missed period is caught up once, the next one when the report before it is complete', async () => {
  const { id } = await schedule();
  moveTo('2026-03-05', '09:00');
  expect(await requestDueReports(fixture)).toBe(1);
  expect(await requestDueReports(fixture)).toBe(0);
  const [report] = await requested(id);
  await reports.generator()(report?.id ?? '');
  await runAll();
  expect(await daysOf(id)).toEqual([
    ['2026-03-02', '2026-03-02'],
    ['2026-03-03', '2026-03-03'],
    ['2026-03-04', '2026-03-04'],
  ]);
});

test('nothing is requested while the merchant is suspended', async () => {
  const { id } = await schedule();
  const setStatus = (status: string) =>
    rows(database.db, 'UPDATE merchant SET status = :status WHERE id = :merchantId', { ...scope, status });
  await setStatus('SUSPENDED');
  moveTo('2026-03-03');
  await runAll();
  expect(await daysOf(id)).toEqual([]);
  await setStatus('ACTIVE');
  await runAll();
  expect(await daysOf(id)).toEqual([['2026-03-02', '2026-03-02']]);
});

test('several workers at once request one report of a schedule and period', async () => {
  const schedules = await Promise.all([schedule(), schedule({ period: 'day', format: 'XLSX' })]);
  moveTo('2026-03-03');
  const counts = await Promise.all(Array.from({ length: 8 }, () => requestDueReports(fixture)));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2);
  for (const { id } of schedules) expect(await requested(id)).toHaveLength(1);
});

test('a request that fails halfway leaves neither a report nor its message, and the next one succeeds', async () => {
  const { id } = await schedule();
  moveTo('2026-03-03');
  const failing: Fixture['runInTransaction'] = (work) =>
    fixture.runInTransaction(async (tx) => {
      await work(tx);
      throw new Error('killed');
    });
  await expect(requestDueReports({ ...fixture, runInTransaction: failing })).rejects.toThrow('killed');
  expect(await requested(id)).toEqual([]);
  expect(await requestDueReports(fixture)).toBe(1);
  const [report] = await requested(id);
  expect(fixture.enqueued.map(({ workflowId }) => workflowId)).toEqual([`report-${report?.id}`]);
});

test('a paused schedule requests nothing, and a resumed one begins with the present period', async () => {
  const created = await schedule();
  const set = (active: boolean) =>
    database.db.transaction(async (trx) =>
      changeSchedule(trx, await read(created.id), { active, at: fixture.clock() }),
    );
  await set(false);
  moveTo('2026-03-05', '12:00');
  await runAll();
  await set(true);
  await runAll();
  expect(await daysOf(created.id)).toEqual([]);
  moveTo('2026-03-06');
  await runAll();
  expect(await daysOf(created.id)).toEqual([['2026-03-05', '2026-03-05']]);
});

test('a schedule that is paused and resumed before 06:00 still reports the day before', async () => {
  const created = await schedule();
  moveTo('2026-03-03', '05:59');
  for (const active of [false, true]) {
    await database.db.transaction(async (trx) =>
      changeSchedule(trx, await read(created.id), { active, at: fixture.clock() }),
    );
  }
  moveTo('2026-03-03');
  await runAll();
  expect(await daysOf(created.id)).toEqual([['2026-03-02', '2026-03-02']]);
});

test('a report that has failed does not stop its schedule', async () => {
  const { id } = await schedule();
  moveTo('2026-03-03');
  await requestDueReports(fixture);
  await rows(database.db, `UPDATE report SET status = 'FAILED', failure = '{}' WHERE schedule_id = :id`, { id });
  moveTo('2026-03-04');
  await runAll();
  expect((await requested(id)).map(({ status }) => status)).toEqual(['FAILED', 'READY']);
});

test('pending reports of schedules take no place of those that a person requests', async () => {
  for (let count = 0; count < 12; count += 1) await schedule();
  moveTo('2026-03-03');
  expect(await requestDueReports(fixture)).toBe(12);
  const unfiltered = { format: 'CSV', statuses: null, channel: null, requestedBy: owner } as const;
  const report = await fixture.runInTransaction((tx) =>
    requestReport({ ...fixture, tx }, scope, { ...REPORTS_DAY, ...unfiltered }),
  );
  expect(report.status).toBe('QUEUED');
});

describe('the mail of a scheduled report', () => {
  const mailed = async (): Promise<string[]> => {
    const sql = `SELECT u.id FROM mail m JOIN user_account u ON u.email = m.recipient ORDER BY u.id`;
    return (await rows<{ id: string }>(database.db, sql)).map(({ id }) => id);
  };
  const runDay = async (): Promise<void> => {
    moveTo('2026-03-03');
    await runAll();
  };

  test('goes to each recipient once the report is READY, however soon that is', async () => {
    const finance = await addMember('finance');
    await buildSession(fixture, scope);
    const { id } = await schedule({ recipients: [owner, finance] });
    moveTo('2026-03-03');
    await requestDueReports(fixture);
    expect(await mailed()).toEqual([]);
    await runAll();
    const [report] = await requested(id);
    await reports.generator()(report?.id ?? '');
    expect(await mailed()).toEqual([owner, finance].toSorted());
    const [mail] = await rows<{ notice: object }>(database.db, 'SELECT notice FROM mail');
    const facts = { kind: 'report.ready', of: 'payments', isScheduled: true, startDate: '2026-03-02', rows: 1 };
    expect(mail?.notice).toMatchObject(facts);
  });

  test('goes to each recipient when the report has failed', async () => {
    const { id } = await schedule();
    moveTo('2026-03-03');
    await requestDueReports(fixture);
    const [report] = await requested(id);
    expect(await giveUpReport(fixture, report?.id ?? '')).toBe('FAILED');
    const [mail] = await rows<{ notice: object }>(database.db, 'SELECT notice FROM mail');
    expect(mail?.notice).toMatchObject({ kind: 'report.failed', of: 'payments', startDate: '2026-03-02' });
    expect(await mailed()).toEqual([owner]);
  });

  test('does not go to a recipient who was removed, or whose role may not read the report any more', async () => {
    const [removed, demoted] = [await addMember('finance'), await addMember('admin')];
    await schedule({ kind: 'withdrawals', recipients: [owner, removed, demoted] });
    const of = { merchantId: scope.merchantId };
    await rows(database.db, 'UPDATE membership SET removed_at = now() WHERE user_id = :removed', { removed });
    await database.db.transaction((trx) => setMembership(trx, { ...of, userId: demoted, role: 'support' }));
    await runDay();
    expect(await mailed()).toEqual([owner]);
  });

  test('does not go out for a schedule that was deleted while its report was generated', async () => {
    const created = await schedule();
    moveTo('2026-03-03');
    await requestDueReports(fixture);
    const [report] = await requested(created.id);
    await database.db.transaction((trx) => deleteSchedule(trx, created));
    fixture.pass(60_000);
    expect(await reports.generator()(report?.id ?? '')).toBe('READY');
    expect(await mailed()).toEqual([]);
  });
});

test('recipients are members who may read reports of the kind, and a merchant has at most 20 schedules', async () => {
  const [viewer, support] = [await addMember('viewer'), await addMember('support')];
  const refused = { code: 'VALIDATION_ERROR', message: expect.stringContaining('members of the merchant') };
  // Files of payments have phone numbers, which viewers do not see; those of withdrawals are no matter of support.
  await expect(schedule({ recipients: [owner, viewer] })).rejects.toMatchObject(refused);
  await expect(schedule({ kind: 'withdrawals', recipients: [support] })).rejects.toMatchObject(refused);
  await expect(schedule({ recipients: [newId('usr')] })).rejects.toMatchObject(refused);
  await schedule({ recipients: [support] });
  await schedule({ kind: 'withdrawals', recipients: [viewer] });
  for (let count = 2; count < 19; count += 1) await schedule();
  const last = await Promise.allSettled([schedule(), schedule()]);
  expect(last.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(last.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'INVALID_STATE' } });
});
