import { z } from 'zod';

import { scopeOf } from '../lib/scope.ts';
import { notifyMembers } from '../outbox/mail.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { eventTypes, snapshotFields } from '../webhooks/events/catalogue.ts';
import { recordEvents } from '../webhooks/events/record.ts';
import type { ReportRow } from './queries.ts';
import { readRecipients } from './schedules.ts';
import { presentReport, readyReport } from './schema.ts';

/** A report that is ready sooner needs no mail: its page is still open. */
const WAITED_FOR_MS = 10_000;

/** Records `report.ready`, and a mail to the recipients of the schedule or to the person who has requested it. */
export async function recordReady(tx: UnitOfWork, row: ReportRow, baseUrl: string): Promise<void> {
  const about = { ...scopeOf(row), resourceType: 'report', resourceId: row.id };
  const data = ReportData.strip().parse({ ...presentReport(row, baseUrl), object: 'report' });
  await recordEvents(tx, [{ event: 'report.ready', ...about, data, createdAt: row.completedAt ?? row.requestedAt }]);
  const { kind: of, startDate, endDate, totalRows, scheduleId } = row;
  const userIds = scheduleId === null ? requesterWhoWaits(row) : await readRecipients(tx.trx, scheduleId);
  if (userIds.length === 0) return;
  const facts = { of, isScheduled: scheduleId !== null, startDate, endDate, rows: totalRows };
  await notifyMembers(tx, row, { kind: 'report.ready', userIds, ...facts });
}

/** Mails the recipients of a schedule, who wait for its report, that it failed. */
export async function notifyOfFailure(tx: UnitOfWork, row: ReportRow): Promise<void> {
  const { kind: of, startDate, endDate, scheduleId } = row;
  const userIds = scheduleId === null ? [] : await readRecipients(tx.trx, scheduleId);
  if (userIds.length > 0) await notifyMembers(tx, row, { kind: 'report.failed', userIds, of, startDate, endDate });
}

function requesterWhoWaits({ requestedBy, requestedAt, completedAt }: ReportRow): string[] {
  const isSoon = completedAt === null || completedAt.getTime() - requestedAt.getTime() < WAITED_FOR_MS;
  return isSoon ? [] : [requestedBy];
}

const ReportData = z.strictObject({ object: z.literal('report'), ...snapshotFields, ...readyReport });

export const REPORT_EVENTS = eventTypes(ReportData, {
  'report.ready': 'The file of a report is ready: download it from fileUrl within 30 days.',
});
