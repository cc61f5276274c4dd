import { randomUUID } from 'node:crypto';

import type { Clock } from '../lib/clock.ts';
import { DAY_MS } from '../lib/dates.ts';
import type { Database, Trx } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Position } from '../lib/pagination.ts';
import { findMerchant } from '../merchants/operations.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { recordReady } from './events.ts';
import type { ReportFiles, StoredFile } from './files.ts';
import { ensureRowsBelowMax, FORMATS } from './formats/formats.ts';
import type { Rendering } from './formats/rendering.ts';
import { filterOf, inSnapshot, readReport, updatePending, type ReportRow } from './queries.ts';
import type { Cell } from './sources/columns.ts';
import type { Sums } from './sources/source.ts';
import { SOURCES } from './sources/sources.ts';
import { readStatement } from './sources/statement.ts';
import type { ReportStatus } from './states.ts';

export type GenerateReportDeps = {
  db: Database;
  runInTransaction: RunInTransaction;
  files: ReportFiles;
  clock: Clock;
  /** The URL that files are downloaded from, without a trailing slash. */
  baseUrl: string;
  /** Rows read by one statement; fewer in tests. */
  pageRows?: number;
};

/** `onProgress` is called after each page; an error that it throws stops the run. */
export type GenerateReport = (reportId: string, onProgress?: (rowsDone: number) => void) => Promise<ReportStatus>;

/** How long a file is retained. */
export const RETENTION_MS = 30 * DAY_MS;

/** About 1 MB. */
const PAGE_ROWS = 1_000;
/** Movements of a statement; writing them to the PDF blocks the event loop for a tenth of a second. */
const STATEMENT_PAGE_ROWS = 250;
/** Pages between two updates of the row's progress, which also detect that the run was superseded. */
const PROGRESS_PAGES = 10;

/**
 * Generates a report: claims its row, reads all rows in one snapshot page by page, writes the file, and records that
 * it is READY. A repeated call starts anew and supersedes the earlier run, which then stops: only the run that the row
 * names can complete it. An AppError ends the report as FAILED; other errors are thrown.
 */
export function createGenerateReport(deps: GenerateReportDeps): GenerateReport {
  return async (reportId, onProgress = () => {}) => {
    const claim = { status: 'RUNNING', runId: randomUUID(), processedRows: 0 } as const;
    const row = await updatePending(deps.db, { id: reportId }, claim);
    try {
      if (row) await complete(deps, row, await writeFile(deps, row, onProgress));
    } catch (error) {
      if (error instanceof AppError) await failReport(deps, { id: reportId, runId: claim.runId }, error);
      else if (!(error instanceof Superseded)) throw error;
    }
    return (await readReport(deps.db, reportId)).status;
  };
}

/** The report was cancelled, or another run has claimed it. */
class Superseded extends Error {
  override readonly name = 'Superseded';
}

type Written = { file: StoredFile; sums: Sums; snapshotAt: Date };

async function writeFile(
  deps: GenerateReportDeps,
  row: ReportRow,
  onProgress: (rowsDone: number) => void,
): Promise<Written> {
  const { columns, sum } = SOURCES[row.kind];
  return inSnapshot(deps.db, async (trx, snapshotAt) => {
    const sums = await sum(trx, filterOf(row));
    ensureRowsBelowMax(row.format, sums.count);
    const report = { ...row, snapshotAt, totalRows: sums.count };
    const merchantName = (await findMerchant(trx, row.merchantId))?.name ?? row.merchantId;
    const onRead = progressReporter(deps, report, onProgress);
    const reading = { trx, report, pageRows: deps.pageRows ?? PAGE_ROWS, onRead };
    const [pages, statementOf] = [readPages(reading), statementReader(reading)];
    const chunks = FORMATS[row.format].render({ report, merchantName, sums, columns, pages, statementOf });
    return { file: await deps.files.write(chunks), sums, snapshotAt };
  });
}

type Reading = {
  trx: Trx;
  report: ReportRow;
  pageRows: number;
  /** Called after each page of rows, or of a statement's movements. */
  onRead: (rowsDone: number) => Promise<void>;
};

/** All rows; no statement is sent after the last one is read. */
async function* readPages({ trx, report, pageRows, onRead }: Reading): AsyncGenerator<Cell[][]> {
  const { page } = SOURCES[report.kind];
  let after: Position | null = null;
  let rowsDone = 0;
  do {
    const limit = Math.min(pageRows, report.totalRows - rowsDone);
    const read: Awaited<ReturnType<typeof page>> = await page(trx, filterOf(report), { after, limit });
    yield read.rows;
    after = read.next;
    rowsDone += read.rows.length;
    await onRead(rowsDone);
  } while (after && rowsDone < report.totalRows);
}

/** Reads the statement of each row, in the order of the rows. */
function statementReader({ trx, report, onRead, ...more }: Reading): Rendering['statementOf'] {
  const { columns } = SOURCES[report.kind];
  const pageRows = Math.min(more.pageRows, STATEMENT_PAGE_ROWS);
  let started = 0;
  return async (cells) => {
    const rowsDone = started;
    started += 1;
    return readStatement(trx, report, { columns, cells, pageRows, onRead: () => onRead(rowsDone) });
  };
}

/** Reports progress to the caller after each page, and every ten pages to the row. Throws {@link Superseded}. */
function progressReporter(
  { db, clock }: GenerateReportDeps,
  { id, runId, totalRows }: ReportRow,
  onProgress: (rowsDone: number) => void,
): Reading['onRead'] {
  let pages = 0;
  return async (rowsDone) => {
    onProgress(rowsDone);
    pages += 1;
    if (pages % PROGRESS_PAGES !== 0) return;
    const updated = await db
      .knex()<ReportRow>('report')
      .where({ id, runId, status: 'RUNNING' })
      .update({ processedRows: rowsDone, totalRows, progressedAt: clock() });
    if (updated === 0) throw new Superseded();
  };
}

/** Marks the report READY and records its event in one transaction. Removes the file when the run was superseded. */
async function complete(
  deps: GenerateReportDeps,
  { id, runId }: ReportRow,
  { file: { storageKey, bytes, sha256 }, sums, snapshotAt }: Written,
): Promise<void> {
  const completedAt = deps.clock();
  const totals = Object.fromEntries(Object.entries(sums.totals).map(([name, santim]) => [name, String(santim)]));
  const changes = {
    status: 'READY',
    processedRows: sums.count,
    totalRows: sums.count,
    totals,
    snapshotAt,
    storageKey,
    fileBytes: BigInt(bytes),
    sha256,
    completedAt,
    expiresAt: new Date(completedAt.getTime() + RETENTION_MS),
  } as const;
  const row = await deps.runInTransaction(async (tx) => {
    const ready = await updatePending(tx.trx, { id, runId }, changes);
    if (ready) await recordReady(tx, ready, deps.baseUrl);
    return ready;
  });
  if (!row) await deps.files.remove(storageKey);
}

type FailDeps = Pick<GenerateReportDeps, 'db' | 'clock'>;

/** Ends a report as FAILED after its last retry, whichever run has claimed it. Returns its status. */
export async function giveUpReport(deps: FailDeps, reportId: string): Promise<ReportStatus> {
  const message =
    'The file could not be generated because of an internal error. Request the report again; if it fails again, contact support with its id.';
  await failReport(deps, { id: reportId }, { code: 'INTERNAL_ERROR', message });
  return (await readReport(deps.db, reportId)).status;
}

/** Ends a report as FAILED with its reason. Changes nothing when it is complete or was claimed by another run. */
async function failReport(
  { db, clock }: FailDeps,
  match: { id: string; runId?: string },
  { code, message }: { code: string; message: string },
): Promise<void> {
  await updatePending(db, match, { status: 'FAILED', failure: { code, message }, completedAt: clock() });
}
