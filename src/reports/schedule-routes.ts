import { z } from 'zod';

import { listMembers, type Member } from '../access/users/team.ts';
import { changedFields } from '../http/audit.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { Database } from '../lib/db.ts';
import { instant } from '../lib/fields.ts';
import { ruleOf } from '../lib/issues.ts';
import { scopeOf } from '../lib/scope.ts';
import { ensureKind, kindsOf } from './routes.ts';
import * as schedules from './schedules.ts';
import { FORMAT_DESCRIPTION, interval } from './schema.ts';
import { REPORT_FORMATS, REPORT_KINDS } from './states.ts';

const RECIPIENTS_MAX = 20;

const READ = { tag: 'Portal', auth: { by: 'member', permission: 'reports:read' } } as const;
const WRITE = { tag: 'Portal', auth: { by: 'member', permission: 'reports:write' } } as const;

const Kind = z.enum(REPORT_KINDS);
const userId = z.string().min(1).max(64);

const chosen = {
  period: interval,
  format: z.enum(REPORT_FORMATS).describe(FORMAT_DESCRIPTION),
  recipients: z
    .array(userId)
    .min(1)
    .max(RECIPIENTS_MAX)
    .refine((ids) => new Set(ids).size === ids.length, {
      error: 'must not contain a person twice',
      params: ruleOf('given_twice'),
    })
    .describe('userIds of listReportRecipients'),
};
const NewSchedule = z.strictObject({ kind: Kind, ...chosen, format: chosen.format.default('CSV') });
const ScheduleChange = z
  .strictObject({ ...chosen, active: z.boolean().describe('false pauses; true resumes with the present period') })
  .partial();
const ScheduleParams = z.strictObject({ scheduleId: z.string().min(1).max(64) });

const Recipient = z.object({ userId: z.string(), name: z.string() });

/** `GET /api/portal/report-recipients`. */
export const Recipients = z.array(Recipient);

/** A report that is requested at the end of each period. */
export const ReportSchedule = z.object({
  scheduleId: z.string(),
  ...NewSchedule.shape,
  format: z.enum(REPORT_FORMATS),
  recipients: z
    .array(Recipient.extend({ mayRead: z.boolean().describe('false: the role does not include it any more: no mail') }))
    .describe('Those who are still members'),
  active: z.boolean(),
  nextAt: instant
    .nullable()
    .describe(
      'When the next report is requested: at 06:00 after its period; null: paused, or no recipient may read it',
    ),
  createdAt: instant,
});

/** Reports that members of a merchant are mailed about at the end of each period. */
export function reportScheduleRoutes({ db }: { db: Database }): Route[] {
  return [...readingRoutes(db), ...changingRoutes()];
}

function readingRoutes(db: Database): Route[] {
  return [
    readRoute('GET /api/portal/report-schedules', {
      ...READ,
      operationId: 'listReportSchedules',
      summary: 'The scheduled reports of your merchant that your role may see, oldest first',
      responses: { 200: z.array(ReportSchedule) },
      handle: async ({ caller }) => {
        const found = await schedules.listSchedules(db, scopeOf(caller), kindsOf(caller));
        const members = await listMembers(db, caller.merchantId);
        return { message: 'Schedules retrieved', data: found.map((row) => presentSchedule(row, members)) };
      },
    }),
    readRoute('GET /api/portal/report-recipients', {
      ...WRITE,
      operationId: 'listReportRecipients',
      summary: 'The members who may read reports of a kind, by name',
      query: z.strictObject({ kind: Kind.default('payments') }),
      responses: { 200: Recipients },
      handle: async ({ caller, query: { kind } }) => {
        ensureKind(caller, kind);
        return { message: 'Recipients retrieved', data: await schedules.listReaders(db, caller.merchantId, kind) };
      },
    }),
  ];
}

function changingRoutes(): Route[] {
  const one = { ...WRITE, params: ScheduleParams };
  return [
    writeRoute('POST /api/portal/report-schedules', {
      ...WRITE,
      operationId: 'createReportSchedule',
      audit: 'report-schedule.create',
      summary: 'Request a report at the end of each period, and mail its link to members',
      description:
        'At 06:00 in Addis Ababa on the day after each period: the present one first, or before 06:00 the one that has just ended. A period that was missed, also while the merchant was suspended, is caught up. While no recipient may read it, none is generated. Recipients get a mail when the report is READY, never its file; one who was removed, or may no longer read it, gets none.',
      body: NewSchedule,
      responses: { 201: ReportSchedule },
      errors: ['INVALID_STATE'],
      handle: async ({ tx: { trx }, caller, body, at }) => {
        ensureKind(caller, body.kind);
        const row = await schedules.createSchedule(trx, scopeOf(caller), { ...body, createdBy: caller.userId, at });
        const data = presentSchedule(row, await listMembers(trx, caller.merchantId));
        return { status: 201, message: 'Report scheduled', data, audit: { resourceId: row.id, after: body } };
      },
    }),
    writeRoute('PATCH /api/portal/report-schedules/:scheduleId', {
      ...one,
      operationId: 'changeReportSchedule',
      audit: 'report-schedule.change',
      summary: 'Change the period, format or recipients of a scheduled report, pause or resume it',
      description: 'With another period, or resumed, it begins with the present period.',
      body: ScheduleChange,
      responses: { 200: ReportSchedule },
      handle: async ({ tx: { trx }, caller, params: { scheduleId: id }, body, at }) => {
        const before = await schedules.lockSchedule(trx, scopeOf(caller), { id, kinds: kindsOf(caller) });
        const after = await schedules.changeSchedule(trx, before, { ...body, at });
        const data = presentSchedule(after, await listMembers(trx, caller.merchantId));
        return { message: 'Schedule changed', data, audit: changedFields(auditedOf(before), auditedOf(after)) };
      },
    }),
    writeRoute('DELETE /api/portal/report-schedules/:scheduleId', {
      ...one,
      operationId: 'deleteReportSchedule',
      audit: 'report-schedule.delete',
      summary: 'Delete a scheduled report; the reports that it has requested stay',
      responses: { 200: z.null() },
      handle: async ({ tx: { trx }, caller, params: { scheduleId: id } }) => {
        const row = await schedules.lockSchedule(trx, scopeOf(caller), { id, kinds: kindsOf(caller) });
        await schedules.deleteSchedule(trx, row);
        const { kind, period, format, recipients } = row;
        return { message: 'Schedule deleted', data: null, audit: { before: { kind, period, format, recipients } } };
      },
    }),
  ];
}

function auditedOf({ period, format, recipients, dueAt }: schedules.ScheduleRow) {
  return { period, format, recipients, active: dueAt !== null };
}

function presentSchedule(row: schedules.ScheduleRow, members: readonly Member[]) {
  const { id: scheduleId, dueAt } = row;
  const readers = schedules.readersOf(row.kind);
  const recipients = members
    .filter(({ userId }) => row.recipients.includes(userId))
    .map((member) => ({ ...member, mayRead: readers.includes(member.role) }));
  const isRead = recipients.some(({ mayRead }) => mayRead);
  return { ...row, scheduleId, recipients, active: dueAt !== null, nextAt: isRead ? dueAt : null };
}
