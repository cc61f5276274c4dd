import { randomUUID } from 'node:crypto';

import type { Clock } from '../lib/clock.ts';
import { DAY_MS } from '../lib/dates.ts';
import { rows, type Knex } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Position } from '../lib/pagination.ts';
import { findMerchant } from '../merchants/operations.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { recordReady } from './events.ts';
import type { StoredFile, ReportFiles } from './files.ts';
import { FORMATS } from './formats/formats.ts';
import type { Rendering } from './formats/rendering.ts';
import { filterOf, readReport, type ReportRow } from './model.ts';
import { ensureBelowLimit } from './row-limit.ts';
import { inSnapshot } from './snapshot.ts';
import type { Cell } from './sources/columns.ts';
import type { Source, SourcePage, Sums } from './sources/source.ts';
import { SOURCES } from './sources/sources.ts';
import { readStatement } from './sources/statement.ts';
import type { ReportStatus } from './states.ts';

export type GenerateReportDeps = {
  db: Knex;
  runInTransaction: RunInTransaction;
  files: ReportFiles;
  clock: Clock;
  /** Where the file is fetched from, without a slash at the end. */
  baseUrl: string;
  /** How many rows are read at once; fewer in tests. */
  pageRows?: number;
};

/** `onProgress` is called after each page; what it throws stops the run. */
export type MakeReport = (reportId: string, onProgress?: (rowsDone: number) => void) => Promise<ReportStatus>;

/** How long a file is kept. */
export const KEPT_MS = 30 * DAY_MS;

/** Some 1 MB. */
const PAGE_ROWS = 1_000;
/** Of a statement's movements; writing them holds everything else up for a tenth of a second. */
const STATEMENT_PAGE_ROWS = 250;
/** Pages between two looks at whether anybody still wants it. */
const LOOK_PAGES = 10;

/**
 * The one operation that makes a report, from its start to its end: claims the row, reads all rows at one instant, page
 * by page, writes the file, and tells that it is there. Made again, it begins anew, and whoever was at it gives up: only
 * the run that the row names can end it. A caller's mistake ends it as FAILED; any other failure is thrown.
 */
export function createGenerateReport(deps: GenerateReportDeps): MakeReport {
  return async (reportId, onProgress = () => {}) => {
    const row = await claim(deps, reportId);
    if (row === null) return (await readReport(deps.db, reportId)).status;
    try {
      const made = await writeFile(deps, row, onProgress);
      await finish(deps, row, made);
    } catch (error) {
      if (error instanceof AppError) await failReport(deps, row, error);
      else if (!(error instanceof GivenUp)) throw error;
    }
    return (await readReport(deps.db, reportId)).status;
  };
}

type Claimed = ReportRow & { run: string };

/** null when it is over. */
async function claim({ db }: GenerateReportDeps, id: string): Promise<Claimed | null> {
  const [row] = await rows<Claimed>(
    db,
    `UPDATE report SET status = 'RUNNING', run_id = :run, processed_rows = 0, version = version + 1
     WHERE id = :id AND status IN ('QUEUED', 'RUNNING') RETURNING *`,
    { id, run: randomUUID() },
  );
  return row ?? null;
}

/** It was cancelled, or another run has taken over: nobody wants this one's file. */
class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

type Made = { file: StoredFile; sums: Sums; snapshotAt: Date };

async function writeFile(
  deps: GenerateReportDeps,
  row: Claimed,
  onProgress: (rowsDone: number) => void,
): Promise<Made> {
  const { columns, sum } = SOURCES[row.kind];
  return inSnapshot(deps.db, async (trx, snapshotAt) => {
    const sums = await sum(trx, filterOf(row));
    ensureBelowLimit(row.format, sums.count);
    const report = { ...row, snapshotAt };
    const merchantName = (await findMerchant(trx, row.merchantId))?.name ?? row.merchantId;
    const reading = {
      trx,
      row,
      totalRows: sums.count,
      pageRows: deps.pageRows ?? PAGE_ROWS,
      noteRead: progressReporter(deps, row, { totalRows: sums.count, onProgress }),
    };
    const pages = readPages(reading);
    const statementOf = statementsOf(reading, columns);
    const rendering = { report, merchantName, snapshotAt, sums, columns, pages, statementOf };
    const file = await deps.files.write(FORMATS[row.format].render(rendering));
    return { file, sums, snapshotAt };
  });
}

type Reading = {
  trx: Knex.Transaction;
  row: Claimed;
  totalRows: number;
  pageRows: number;
  /** After each page of rows, or of a statement's movements. */
  noteRead: (rowsDone: number) => Promise<void>;
};

/** All rows, and no question for more when the last is there. */
async function* readPages({ trx, row, totalRows, pageRows, noteRead }: Reading): AsyncGenerator<Cell[][]> {
  const { page } = SOURCES[row.kind];
  const filter = filterOf(row);
  let after: Position | null = null;
  let rowsDone = 0;
  do {
    const read: SourcePage = await page(trx, filter, { after, limit: Math.min(pageRows, totalRows - rowsDone) });
    yield read.rows;
    after = read.next;
    rowsDone += read.rows.length;
    await noteRead(rowsDone);
  } while (after && rowsDone < totalRows);
}

/** Statements in the order of their rows. */
function statementsOf({ trx, row, pageRows, noteRead }: Reading, columns: Source['columns']): Rendering['statementOf'] {
  let begun = 0;
  return async (cells) => {
    const rowsDone = begun;
    begun += 1;
    const onRead = async (): Promise<void> => noteRead(rowsDone);
    return readStatement(trx, row, { columns, cells, pageRows: Math.min(pageRows, STATEMENT_PAGE_ROWS), onRead });
  };
}

/** Tells how far it is, and now and then looks whether anybody still wants it. */
function progressReporter(
  deps: GenerateReportDeps,
  row: Claimed,
  { totalRows, onProgress }: { totalRows: number; onProgress: (rowsDone: number) => void },
): Reading['noteRead'] {
  let pages = 0;
  return async (rowsDone) => {
    onProgress(rowsDone);
    pages += 1;
    if (pages % LOOK_PAGES === 0) await noteProgress(deps, row, { rowsDone, totalRows });
  };
}

async function noteProgress(
  { db, clock }: GenerateReportDeps,
  { id, runId }: Claimed,
  progress: { rowsDone: number; totalRows: number },
) {
  const [wanted] = await rows(
    db,
    `UPDATE report SET processed_rows = :rowsDone, total_rows = :totalRows, progressed_at = :now
     WHERE id = :id AND run_id = :run AND status = 'RUNNING' RETURNING 1`,
    { id, run: runId, now: clock(), ...progress },
  );
  if (!wanted) throw new GivenUp();
}

/** The row and its event in one change; a file that nobody wants any more is removed. */
async function finish(
  deps: GenerateReportDeps,
  { id, runId }: Claimed,
  { file, sums, snapshotAt }: Made,
): Promise<void> {
  const now = deps.clock();
  const totals = Object.fromEntries(Object.entries(sums.totals).map(([name, santim]) => [name, String(santim)]));
  const row = await deps.runInTransaction(async (tx) => {
    const [ready] = await rows<ReportRow>(
      tx.trx,
      `UPDATE report SET status = 'READY', processed_rows = :count, total_rows = :count, totals = CAST(:totals AS jsonb),
         snapshot_at = :snapshotAt, storage_key = :storageKey, file_bytes = :bytes, sha256 = :sha256,
         completed_at = :now, expires_at = :expiresAt, version = version + 1
       WHERE id = :id AND run_id = :run AND status = 'RUNNING' RETURNING *`,
      {
        id,
        run: runId,
        now,
        snapshotAt,
        count: sums.count,
        totals: JSON.stringify(totals),
        expiresAt: new Date(now.getTime() + KEPT_MS),
        ...file,
      },
    );
    if (ready) await recordReady(tx, ready, deps.baseUrl);
    return ready;
  });
  if (!row) await deps.files.remove(file.storageKey);
}

/** Ends a report that was tried often enough, whichever run is at it. Returns where it stands. */
export async function giveUpReport(
  deps: Pick<GenerateReportDeps, 'db' | 'clock'>,
  reportId: string,
): Promise<ReportStatus> {
  const message =
    'The file could not be made, a fault of ours. Ask for the report again; if it fails again, tell us its id.';
  await failReport(deps, { id: reportId, runId: null }, { code: 'INTERNAL_ERROR', message });
  return (await readReport(deps.db, reportId)).status;
}

/** Ends a report that cannot be made, and says why. Nothing changes when it is over, or another run is at it. */
async function failReport(
  { db, clock }: Pick<GenerateReportDeps, 'db' | 'clock'>,
  { id, runId }: Pick<ReportRow, 'id' | 'runId'>,
  { code, message }: { code: string; message: string },
): Promise<void> {
  await rows(
    db,
    `UPDATE report SET status = 'FAILED', failure = CAST(:failure AS jsonb), completed_at = :now, version = version + 1
     WHERE id = :id AND status IN ('QUEUED', 'RUNNING') AND (CAST(:run AS text) IS NULL OR run_id = :run)`,
    { id, run: runId, failure: JSON.stringify({ code, message }), now: clock() },
  );
}
