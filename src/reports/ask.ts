import type { Clock } from '../lib/clock.ts';
import { rows, type Knex } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Change } from '../lib/outbox.ts';
import { ownerOf, type Owner } from '../lib/owner.ts';
import type { Channel } from '../providers/provider.ts';
import { FORMATS } from './formats.ts';
import { SOURCES } from './kinds.ts';
import { findReport, type ReportRow } from './model.ts';
import { readPeriod, type WantedPeriod } from './period.ts';
import { refuseTooMany } from './rows-max.ts';
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
export async function askForReport(
  { change, clock }: { change: Change; clock: Clock },
  owner: Owner,
  wanted: NewReport,
): Promise<ReportRow> {
  const now = clock();
  const range = readPeriod(wanted, now);
  const { kind, format, statuses, channel } = wanted;
  refuseOpen(await countOpen(change.trx, owner));
  const filter = { ...ownerOf(owner), range, statuses, channel };
  const count = await SOURCES[kind].count(change.trx, filter, FORMATS[format].rowsMax + 1);
  refuseTooMany(format, count);
  const [row] = await rows<ReportRow>(
    change.trx,
    `INSERT INTO report (id, merchant_id, environment, kind, format, period, start_date, end_date, statuses, channel,
                         status, rows_total, requested_by, requested_at)
     VALUES (:id, :merchantId, :environment, :kind, :format, :period, :startDate, :endDate, :statuses, :channel,
             'QUEUED', :count, :requestedBy, :now) RETURNING *`,
    {
      id: newId('rpt', now.getTime()),
      ...ownerOf(owner),
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
  if (!isSmall(row)) await change.tell([reportMessage({ reportId: row.id, ...ownerOf(row) })]);
  return row;
}

/** Whether it is made at once. */
export function isSmall({ format, rowsTotal }: Pick<ReportRow, 'format' | 'rowsTotal'>): boolean {
  return rowsTotal <= FORMATS[format].atOnceRowsMax;
}

async function countOpen(trx: Knex.Transaction, owner: Owner): Promise<number> {
  const [open] = await rows<{ count: number }>(
    trx,
    `SELECT count(*)::int AS count FROM report
     WHERE merchant_id = :merchantId AND environment = :environment AND status IN ('QUEUED', 'RUNNING')`,
    ownerOf(owner),
  );
  return open?.count ?? 0;
}

function refuseOpen(count: number): void {
  if (count < OPEN_MAX) return;
  throw new AppError('INVALID_STATE', `${count} reports are being made: wait for one to end, or cancel it.`);
}

/** Takes a report back that is not there yet. Throws NOT_FOUND, and INVALID_STATE once it is over. */
export async function cancelReport(
  { change, clock }: { change: Change; clock: Clock },
  owner: Owner,
  id: string,
): Promise<ReportRow> {
  const [cancelled] = await rows<ReportRow>(
    change.trx,
    `UPDATE report SET status = 'CANCELLED', completed_at = :now, version = version + 1
     WHERE id = :id AND merchant_id = :merchantId AND environment = :environment AND status IN ('QUEUED', 'RUNNING')
     RETURNING *`,
    { id, ...ownerOf(owner), now: clock() },
  );
  const row = cancelled ?? (await findReport(change.trx, owner, id));
  if (row.status === 'CANCELLED') return row;
  throw new AppError('INVALID_STATE', `The report is ${row.status}: there is nothing to cancel.`);
}
