import type { Clock } from '../lib/clock.ts';
import { rows, type Knex } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { FORMATS } from './formats/formats.ts';
import { findReport, type ReportRow } from './model.ts';
import { readPeriod, type WantedPeriod } from './period.ts';
import { ensureBelowLimit } from './row-limit.ts';
import { SOURCES } from './sources/sources.ts';
import type { ReportFormat, ReportKind } from './states.ts';
import { reportMessage } from './workflow-input.ts';

export type NewReport = WantedPeriod & {
  kind: ReportKind;
  format: ReportFormat;
  /** null: all. */
  statuses: string[] | null;
  channel: Channel | null;
  requestedBy: string;
};

/** So many of a merchant's may be waited for at once in an environment. */
const OPEN_MAX = 10;

/**
 * Asks for a report, QUEUED: a large one is handed to its workflow, a small one is the caller's to make after the
 * commit. Throws VALIDATION_ERROR (also for more rows than the format takes), INVALID_DATE_RANGE, DATE_RANGE_TOO_WIDE,
 * and INVALID_STATE when ten are open already.
 */
export async function requestReport(
  { tx, clock }: { tx: UnitOfWork; clock: Clock },
  scope: MerchantScope,
  wanted: NewReport,
): Promise<ReportRow> {
  const now = clock();
  const range = readPeriod(wanted, now);
  const { kind, format, statuses, channel } = wanted;
  rejectOpenPeriod(await countOpen(tx.trx, scope));
  const filter = { ...scopeOf(scope), range, statuses, channel };
  const count = await SOURCES[kind].count(tx.trx, filter, FORMATS[format].rowsMax + 1);
  ensureBelowLimit(format, count);
  const [row] = await rows<ReportRow>(
    tx.trx,
    `INSERT INTO report (id, merchant_id, environment, kind, format, period, start_date, end_date, statuses, channel,
                         status, total_rows, requested_by, requested_at)
     VALUES (:id, :merchantId, :environment, :kind, :format, :period, :startDate, :endDate, :statuses, :channel,
             'QUEUED', :count, :requestedBy, :now) RETURNING *`,
    {
      id: newId('rpt', now.getTime()),
      ...scopeOf(scope),
      kind,
      format,
      period: wanted.period,
      startDate: range.startDate,
      endDate: range.endDate,
      statuses,
      channel,
      count,
      requestedBy: wanted.requestedBy,
      now,
    },
  );
  if (!row) throw new Error('an insert answers with its row');
  if (!isSmall({ format: row.format, rowsTotal: row.totalRows }))
    await tx.enqueue([reportMessage({ reportId: row.id, ...scopeOf(row) })]);
  return row;
}

/** Whether it is made at once. */
export function isSmall({ format, rowsTotal }: { format: ReportRow['format']; rowsTotal: number }): boolean {
  return rowsTotal <= FORMATS[format].atOnceRowsMax;
}

async function countOpen(trx: Knex.Transaction, scope: MerchantScope): Promise<number> {
  const [open] = await rows<{ count: number }>(
    trx,
    `SELECT count(*)::int AS count FROM report
     WHERE merchant_id = :merchantId AND environment = :environment AND status IN ('QUEUED', 'RUNNING')`,
    scopeOf(scope),
  );
  return open?.count ?? 0;
}

function rejectOpenPeriod(count: number): void {
  if (count < OPEN_MAX) return;
  throw new AppError('INVALID_STATE', `${count} reports are being made: wait for one to end, or cancel it.`);
}

/** Takes a report back that is not there yet. Throws NOT_FOUND, and INVALID_STATE once it is over. */
export async function cancelReport(
  { tx, clock }: { tx: UnitOfWork; clock: Clock },
  scope: MerchantScope,
  id: string,
): Promise<ReportRow> {
  const [cancelled] = await rows<ReportRow>(
    tx.trx,
    `UPDATE report SET status = 'CANCELLED', completed_at = :now, version = version + 1
     WHERE id = :id AND merchant_id = :merchantId AND environment = :environment AND status IN ('QUEUED', 'RUNNING')
     RETURNING *`,
    { id, ...scopeOf(scope), now: clock() },
  );
  const row = cancelled ?? (await findReport(tx.trx, scope, id));
  if (row.status === 'CANCELLED') return row;
  throw new AppError('INVALID_STATE', `The report is ${row.status}: there is nothing to cancel.`);
}
