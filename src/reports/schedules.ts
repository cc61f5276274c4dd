import { rolesWith } from '../access/users/roles.ts';
import { listMembers, type Member } from '../access/users/team.ts';
import type { MemberRole } from '../http/people.ts';
import type { Clock } from '../lib/clock.ts';
import { addDays, addisDay, HOUR_MS, startOfAddisDay } from '../lib/dates.ts';
import { first, insertRow, rows, updateRow, type Queryable, type Trx } from '../lib/db.ts';
import { found, invalid, invalidState } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { lock } from '../lib/lock.ts';
import type { Logger } from '../lib/log.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { workOff } from '../outbox/work-off.ts';
import { intervalOf, type Interval } from './period.ts';
import type { ReportRow } from './queries.ts';
import { requestScheduledReport } from './request.ts';
import type { ReportKind } from './states.ts';

export type ScheduleRow = MerchantScope &
  Pick<ReportRow, 'id' | 'kind' | 'format'> & {
    period: Interval;
    /** usr_… */
    recipients: string[];
    /** When the next report is requested, on the day after its period; null: paused. */
    dueAt: Date | null;
    createdBy: string;
    createdAt: Date;
  };

/** Of a merchant in one environment. */
const SCHEDULES_MAX = 20;
/** In Addis Ababa: payments of the last evening are complete by then. */
const DUE_HOUR = 6;

const OF_MERCHANT = 'merchant_id = :merchantId AND environment = :environment';

/** The roles that may read reports of a kind and download their files. */
export function readersOf(kind: ReportKind): MemberRole[] {
  const mayRead = rolesWith(kind === 'payments' ? 'phones:read' : 'reports:money');
  return rolesWith('reports:read').filter((role) => mayRead.includes(role));
}

/** The members of the merchant who may read reports of a kind, by name. */
export async function listReaders(db: Queryable, merchantId: string, kind: ReportKind): Promise<Member[]> {
  const readers = readersOf(kind);
  return (await listMembers(db, merchantId)).filter(({ role }) => readers.includes(role));
}

/** The merchant's schedules of these kinds, oldest first. */
export async function listSchedules(db: Queryable, scope: MerchantScope, kinds: readonly ReportKind[]) {
  const sql = `SELECT * FROM report_schedule WHERE ${OF_MERCHANT} AND kind = ANY (:kinds) ORDER BY created_at, id`;
  return rows<ScheduleRow>(db, sql, { ...scopeOf(scope), kinds });
}

/** One of these schedules, locked. Throws NOT_FOUND. */
export async function lockSchedule(
  trx: Trx,
  scope: MerchantScope,
  { id, kinds }: { id: string; kinds: readonly ReportKind[] },
): Promise<ScheduleRow> {
  const sql = `SELECT * FROM report_schedule WHERE ${OF_MERCHANT} AND kind = ANY (:kinds) AND id = :id FOR UPDATE`;
  return found(await first<ScheduleRow>(trx, sql, { ...scopeOf(scope), kinds, id }), 'schedule');
}

export type NewSchedule = Pick<ScheduleRow, 'kind' | 'format' | 'period' | 'recipients' | 'createdBy'>;

/**
 * Creates a schedule; the present period is its first one. Throws VALIDATION_ERROR for a recipient who is no member or may
 * not read such reports, and INVALID_STATE when there are 20 schedules.
 */
export async function createSchedule(
  trx: Trx,
  scope: MerchantScope,
  { at, ...schedule }: NewSchedule & { at: Date },
): Promise<ScheduleRow> {
  const { kind, period, recipients } = schedule;
  await ensureReaders(trx, { merchantId: scope.merchantId, kind }, recipients);
  await lock(trx, 'report_schedules', `${scope.merchantId} ${scope.environment}`);
  const count = `SELECT count(*)::int AS count FROM report_schedule WHERE ${OF_MERCHANT}`;
  if (((await first<{ count: number }>(trx, count, scopeOf(scope)))?.count ?? 0) >= SCHEDULES_MAX) {
    throw invalidState(`There are ${SCHEDULES_MAX} schedules, which is the limit. Delete one.`);
  }
  const id = newId('rsc', at.getTime());
  const dueAt = dueAfter(period, at);
  const row = { id, ...scopeOf(scope), ...schedule, dueAt, createdAt: at, updatedAt: at };
  return insertRow<ScheduleRow>(trx, 'report_schedule', row);
}

async function ensureReaders(
  trx: Trx,
  { merchantId, kind }: Pick<ScheduleRow, 'merchantId' | 'kind'>,
  recipients: readonly string[],
): Promise<void> {
  const readers = new Set((await listReaders(trx, merchantId, kind)).map(({ userId }) => userId));
  const other = recipients.find((userId) => !readers.has(userId));
  if (other === undefined) return;
  const issue = `must be members of the merchant who may read reports of ${kind}; ${other} is none`;
  throw invalid('recipients', { issue, code: 'not_a_reader' });
}

/** What is not given stays. */
export type ScheduleChanges = {
  [Field in 'format' | 'period' | 'recipients']?: ScheduleRow[Field] | undefined;
} & { active?: boolean | undefined };

/** A schedule that is resumed, or gets another period, begins with the present one. Throws as {@link createSchedule}. */
export async function changeSchedule(
  trx: Trx,
  schedule: ScheduleRow,
  { at, active: wanted, ...given }: ScheduleChanges & { at: Date },
): Promise<ScheduleRow> {
  if (given.recipients) await ensureReaders(trx, schedule, given.recipients);
  const { period = schedule.period } = given;
  const [wasActive, active] = [schedule.dueAt !== null, wanted ?? schedule.dueAt !== null];
  const isSame = active === wasActive && period === schedule.period;
  const dueAt = isSame ? schedule.dueAt : active ? dueAfter(period, at) : null;
  const changes = { ...given, dueAt, updatedAt: at };
  return (await updateRow<ScheduleRow>(trx, { table: 'report_schedule', id: schedule.id }, changes)) ?? schedule;
}

/** Deletes a schedule. Its reports stay; one that is pending is mailed to nobody. */
export async function deleteSchedule(trx: Trx, { id }: ScheduleRow): Promise<void> {
  await rows(trx, 'DELETE FROM report_schedule WHERE id = :id', { id });
}

/** The recipients of a schedule who are still members and may still read its reports. */
export async function readRecipients(trx: Trx, id: string): Promise<string[]> {
  const schedule = await first<ScheduleRow>(trx, 'SELECT * FROM report_schedule WHERE id = :id', { id });
  if (!schedule) return [];
  const readers = await listReaders(trx, schedule.merchantId, schedule.kind);
  return readers.map(({ userId }) => userId).filter((userId) => schedule.recipients.includes(userId));
}

/** When the next report after an instant is requested. Until 06:00 of the day after a period that is the period's own. */
function dueAfter(period: Interval, instant: Date): Date {
  const { endDate } = intervalOf(period, addisDay(new Date(instant.getTime() - DUE_HOUR * HOUR_MS)));
  return new Date(startOfAddisDay(addDays(endDate, 1)).getTime() + DUE_HOUR * HOUR_MS);
}

type DueDeps = { runInTransaction: RunInTransaction; log: Logger; clock: Clock };

/**
 * Requests the reports of schedules that are due, one transaction each. After an outage or a suspension
 * of the merchant every missed period is requested once, the next one when the report before it is complete.
 */
export async function requestDueReports({ clock, ...deps }: DueDeps, stopping?: AbortSignal): Promise<number> {
  return workOff(deps, {
    next: ({ trx }, failed) => first<DueSchedule>(trx, NEXT, { at: clock(), failed }),
    work: (tx, schedule) => requestDue(tx, schedule, clock()),
    stopping,
  });
}

type DueSchedule = ScheduleRow & { dueAt: Date };

const NEXT = `
  SELECT s.* FROM report_schedule s JOIN merchant m ON m.id = s.merchant_id AND m.status = 'ACTIVE'
  WHERE s.due_at <= :at AND NOT (s.id = ANY (:failed))
    AND NOT EXISTS (SELECT FROM report r WHERE r.schedule_id = s.id AND r.status IN ('QUEUED', 'RUNNING'))
  ORDER BY s.due_at, s.id LIMIT 1 FOR UPDATE OF s SKIP LOCKED`;

/** Requests the report of a due schedule, unless no recipient may read it, and sets when it is due again. */
async function requestDue(tx: UnitOfWork, schedule: DueSchedule, at: Date): Promise<void> {
  const { id: scheduleId, kind, format, period, createdBy: requestedBy, dueAt } = schedule;
  const days = intervalOf(period, addDays(addisDay(dueAt), -1));
  const options = { kind, format, period: period === 'ethiopianMonth' ? ('custom' as const) : period, ...days };
  if ((await readRecipients(tx.trx, scheduleId)).length > 0) {
    await requestScheduledReport(tx, schedule, { scheduleId, ...options, requestedBy, requestedAt: at });
  }
  const changes = { dueAt: dueAfter(period, dueAt), updatedAt: at };
  await updateRow(tx.trx, { table: 'report_schedule', id: scheduleId }, changes);
}
