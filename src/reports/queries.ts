import type { z } from 'zod';

import { first, rows, type Database, type Queryable, type Trx } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { TransactionNarrowing } from '../payments/transaction-schema.ts';
import type { Period } from './period.ts';
import type { ReportFormat, ReportKind, ReportStatus } from './states.ts';

export type ReportRow = MerchantScope & {
  id: string;
  kind: ReportKind;
  format: ReportFormat;
  period: Period;
  /** YYYY-MM-DD in Addis Ababa, both included. */
  startDate: string;
  endDate: string;
  statuses: string[] | null;
  channel: Channel | null;
  narrowing: z.output<typeof TransactionNarrowing> | null;
  status: ReportStatus;
  /** The run that generates the file; only this run may complete the report. */
  runId: string | null;
  processedRows: number;
  totalRows: number;
  /** When rows were last read; null before the first ten pages. */
  progressedAt: Date | null;
  snapshotAt: Date | null;
  /** Santim as text, by column. */
  totals: Record<string, string> | null;
  storageKey: string | null;
  fileBytes: bigint | null;
  sha256: string | null;
  failure: { code: string; message: string } | null;
  requestedBy: string;
  /** The schedule that requested it, which may have been deleted since; null: none. */
  scheduleId: string | null;
  version: number;
  requestedAt: Date;
  completedAt: Date | null;
  expiresAt: Date | null;
};

/** One report of any merchant, for its workflow. Throws NOT_FOUND. */
export async function readReport(db: Queryable, id: string): Promise<ReportRow> {
  return found(await first<ReportRow>(db, 'SELECT * FROM report WHERE id = :id', { id }), 'report');
}

/** One report of the merchant. Throws NOT_FOUND. */
export async function findReport(db: Queryable, scope: MerchantScope, id: string): Promise<ReportRow> {
  const sql = 'SELECT * FROM report WHERE id = :id AND merchant_id = :merchantId AND environment = :environment';
  return found(await first<ReportRow>(db, sql, { ...scopeOf(scope), id }), 'report');
}

/** The merchant's reports, newest first. */
export async function listReports(
  db: Queryable,
  { statuses, kinds, ...scope }: MerchantScope & { statuses: ReportStatus[] | null; kinds: readonly ReportKind[] },
  page: Page,
) {
  const where = `merchant_id = :merchantId AND environment = :environment AND kind = ANY (:kinds) ${statuses ? 'AND status = ANY (:statuses)' : ''}`;
  const values = { ...scopeOf(scope), statuses, kinds };
  return paginateNewest<ReportRow>(db, { columns: '*', table: 'report', time: 'requested_at', where, values }, page);
}

/** Changes a report that is QUEUED or RUNNING. Returns undefined where no such report matches. */
export async function updatePending(
  db: Queryable,
  match: Partial<Pick<ReportRow, 'id' | 'runId' | 'merchantId' | 'environment'>>,
  changes: Partial<ReportRow>,
): Promise<ReportRow | undefined> {
  const knex = db.knex();
  const [row] = await knex<ReportRow>('report')
    .where(match)
    .whereIn('status', ['QUEUED', 'RUNNING'])
    .update({ ...changes, version: knex.raw('version + 1') })
    .returning('*');
  return row;
}

/** Runs `work` in a read-only transaction that sees the state of one instant, `snapshotAt`. */
export async function inSnapshot<T>(db: Database, work: (trx: Trx, snapshotAt: Date) => Promise<T>): Promise<T> {
  return db.transaction(async (trx) => {
    await rows(trx, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    // The first query takes the snapshot, just after the instant that it returns.
    const { at } = (await first<{ at: Date }>(trx, 'SELECT statement_timestamp() AS at')) as { at: Date };
    return work(trx, at);
  });
}
