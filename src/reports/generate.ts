import { randomUUID } from 'node:crypto';

import type { Clock } from '../lib/clock.ts';
import { DAY_MS } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import { AppError, invalidState } from '../lib/errors.ts';
import { scopeOf } from '../lib/scope.ts';
import { findMerchant } from '../merchants/operations.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { notifyOfFailure, recordReady } from './events.ts';
import type { ReportFiles, StoredFile } from './files.ts';
import { ensureRowsBelowMax, formatOf } from './formats/formats.ts';
import { rangeOf } from './period.ts';
import { inSnapshot, readReport, updatePending, type ReportRow } from './queries.ts';
import type { Cell } from './sources/columns.ts';
import type { Source } from './sources/source.ts';
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
      if (!(error instanceof AppError)) throw error;
      await failReport(deps, { id: reportId, runId: claim.runId }, error);
    }
    return (await readReport(deps.db, reportId)).status;
  };
}

async function writeFile(deps: GenerateReportDeps, row: ReportRow, onProgress: (rowsDone: number) => void) {
  const { columns, sum, pages }: Source = SOURCES[row.kind];
  const { pageRows, render } = formatOf(row);
  const rowsMax = deps.pageRows ?? Infinity;
  return inSnapshot(deps.db, async (trx, snapshotAt) => {
    const { statuses, channel, narrowing } = row;
    const filter = { ...scopeOf(row), range: rangeOf(row), statuses, channel, narrowing };
    const sums = await sum(trx, filter);
    ensureRowsBelowMax(row, sums.count);
    const report = { ...row, snapshotAt, totalRows: sums.count };
    const merchantName = (await findMerchant(trx, row.merchantId))?.name ?? row.merchantId;
    let rowsDone = 0;
    let pagesRead = 0;
    // After each page of rows, or of a statement's movements.
    const onRead = async (): Promise<void> => {
      onProgress(rowsDone);
      pagesRead += 1;
      if (pagesRead % PROGRESS_PAGES > 0) return;
      const { id, runId, totalRows } = report;
      const progress = { processedRows: rowsDone, totalRows, progressedAt: deps.clock() };
      if (!(await updatePending(deps.db, { id, runId }, progress))) throw invalidState('The run was superseded.');
    };
    const readPages = async function* () {
      for await (const cells of pages(trx, filter, Math.min(pageRows, rowsMax))) {
        yield cells;
        rowsDone += cells.length;
        await onRead();
      }
    };
    const statements = { columns, pageRows: Math.min(STATEMENT_PAGE_ROWS, rowsMax), onRead };
    const statementOf = async (cells: Cell[]) => readStatement(trx, row, { ...statements, cells });
    const chunks = render({ report, merchantName, sums, columns, pages: readPages(), statementOf });
    const file = await deps.files.write(chunks);
    const totals = Object.fromEntries(Object.entries(sums.totals).map(([name, santim]) => [name, String(santim)]));
    return { ...file, snapshotAt, processedRows: sums.count, totalRows: sums.count, totals };
  });
}

/** Marks the report READY and records its event in one transaction. Removes the file when the run was superseded. */
async function complete(
  deps: GenerateReportDeps,
  { id, runId }: ReportRow,
  written: StoredFile & Partial<ReportRow>,
): Promise<void> {
  const completedAt = deps.clock();
  const expiresAt = new Date(completedAt.getTime() + RETENTION_MS);
  const row = await deps.runInTransaction(async (tx) => {
    const changes = { ...written, status: 'READY', completedAt, expiresAt } as const;
    const ready = await updatePending(tx.trx, { id, runId }, changes);
    if (ready) await recordReady(tx, ready, deps.baseUrl);
    return ready;
  });
  if (!row) await deps.files.remove(written.storageKey);
}

type FailDeps = Pick<GenerateReportDeps, 'db' | 'runInTransaction' | 'clock'>;

/** Ends a report as FAILED after its last retry, whichever run has claimed it. Returns its status. */
export async function giveUpReport(deps: FailDeps, id: string): Promise<ReportStatus> {
  const message =
    'The file could not be generated because of an internal error. Request the report again; if it fails again, contact support with its id.';
  await failReport(deps, { id }, { code: 'INTERNAL_ERROR', message });
  return (await readReport(deps.db, id)).status;
}

/** Ends a report as FAILED and mails its schedule's recipients, unless it is complete or another run has claimed it. */
async function failReport(
  { runInTransaction, clock }: FailDeps,
  match: { id: string; runId?: string },
  { code, message }: { code: string; message: string },
): Promise<void> {
  await runInTransaction(async (tx) => {
    const changes = { status: 'FAILED', failure: { code, message }, completedAt: clock() } as const;
    const failed = await updatePending(tx.trx, match, changes);
    if (failed) await notifyOfFailure(tx, failed);
  });
}
