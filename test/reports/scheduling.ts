import { createUser, setMembership } from '../../src/access/users/users.ts';
import type { MemberRole } from '../../src/http/people.ts';
import { first, rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { ReportRow } from '../../src/reports/queries.ts';
import { createSchedule, requestDueReports, type NewSchedule, type ScheduleRow } from '../../src/reports/schedules.ts';
import { useReports, type ReportsOfTest } from '../support/reports.ts';

export type ScheduleParts = ReportsOfTest & { owner: string };

/** Gives the parts anew before each test. The clock begins on 2 March 2026, a Monday: 23 Yekatit 2018. */
export function useSchedules(give: (parts: ScheduleParts) => void) {
  let parts = {} as ScheduleParts;
  useReports((given) => (parts = { ...given, owner: '' }));

  const addMember = (role: MemberRole): Promise<string> =>
    parts.database.db.transaction(async (trx) => {
      const email = `${newId('usr')}@people.example`;
      const { id: userId } = await createUser(trx, { email, name: `The ${role}`, password: 'correct horse battery' });
      await setMembership(trx, { userId, merchantId: parts.scope.merchantId, role });
      return userId;
    });

  beforeEach(async () => {
    parts.owner = await addMember('owner');
    give(parts);
    await rows(parts.database.db, 'UPDATE report_schedule SET due_at = NULL');
    await rows(parts.database.db, 'DELETE FROM mail');
  });

  const schedule = (wanted: Partial<NewSchedule> = {}): Promise<ScheduleRow> => {
    const { database, fixture, scope, owner } = parts;
    const usual = { kind: 'payments', format: 'CSV', period: 'day' } as const;
    const given = { ...usual, recipients: [owner], createdBy: owner };
    return database.db.transaction((trx) => createSchedule(trx, scope, { ...given, ...wanted, at: fixture.clock() }));
  };
  const read = async (id: string): Promise<ScheduleRow> => {
    const sql = 'SELECT * FROM report_schedule WHERE id = :id';
    return (await first<ScheduleRow>(parts.database.db, sql, { id })) as ScheduleRow;
  };
  const requested = (id: string): Promise<ReportRow[]> => {
    const sql = 'SELECT * FROM report WHERE schedule_id = :id ORDER BY start_date, end_date';
    return rows<ReportRow>(parts.database.db, sql, { id });
  };
  const daysOf = async (id: string) => (await requested(id)).map(({ startDate, endDate }) => [startDate, endDate]);

  /** Moves the clock to a day (YYYY-MM-DD) at a time in Addis Ababa. */
  const moveTo = (day: string, time = '06:00'): void =>
    parts.fixture.pass(Date.parse(`${day}T${time}:00+03:00`) - parts.fixture.clock().getTime());

  /** Requests what is due, and generates it, until nothing is due. */
  async function runAll(): Promise<void> {
    const { database, fixture, reports, scope } = parts;
    while ((await requestDueReports(fixture)) > 0) {
      const queued = await rows<{ id: string }>(
        database.db,
        `SELECT id FROM report WHERE merchant_id = :merchantId AND status = 'QUEUED'`,
        { merchantId: scope.merchantId },
      );
      for (const { id } of queued) await reports.generator()(id);
    }
  }

  return { addMember, schedule, read, requested, daysOf, moveTo, runAll };
}
