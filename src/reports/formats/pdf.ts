import { invalid } from '../../lib/errors.ts';
import { ethiopianDate } from '../../settlements/calendar/ethiopian-date.ts';
import { timeText, ZONE } from '../sources/columns.ts';
import type { Statement } from '../sources/statement.ts';
import { createPages, INK, LEFT, RIGHT, type PdfPage } from './pdf-page.ts';
import { writeStatement } from './pdf-statement.ts';
import type { Rendering } from './rendering.ts';

/** Settlements in one file. */
export const PDF_ROWS_MAX = 500;
/** Movements in one file: a thousand pages, written in 15 seconds. */
export const PDF_MOVEMENTS_MAX = 50_000;

/** Statements of settlements, each starting on a new page, in Latin and Ethiopic letters. */
export async function* renderPdf(rendering: Rendering): AsyncGenerator<Uint8Array> {
  const { report, sums, pages, statementOf } = rendering;
  // Loading takes half a second: only processes that write a PDF load it.
  const { default: PDFDocument } = await import('pdfkit');
  const info = { Title: `Settlement statements ${report.startDate} to ${report.endDate}`, Subject: report.id };
  const document = new PDFDocument({ size: 'A4', margin: 0, autoFirstPage: false, info });
  let subject = '';
  const page = createPages(document, {
    header: (sheet) => writeHeader(sheet, rendering, subject),
    footer: (sheet, number) => writeFooter(sheet, rendering, number),
  });
  let count = 0;
  let movements = 0;
  for await (const rows of pages) {
    for (const cells of rows) {
      const statement = await statementOf(cells);
      count += 1;
      movements += movementCount(statement);
      ensureMovementsBelowMax(movements);
      subject = `Settlement ${count} of ${sums.count}`;
      page.turn();
      for await (const _ of writeStatement(page, statement)) yield* writtenChunks(document);
    }
  }
  if (count === 0) {
    page.turn();
    page.write('There are no settlements of these days and status.', LEFT, { size: 10 });
  }
  document.end();
  yield* document as AsyncIterable<Buffer>;
}

/** The chunk since the last call: a page stays in memory only until the next one starts. */
function writtenChunks(document: PDFKit.PDFDocument): Buffer[] {
  const chunk = document.read() as Buffer | null;
  return chunk ? [chunk] : [];
}

function movementCount({ account }: Statement): number {
  return account?.totals.reduce((sum, { count }) => sum + count, 0) ?? 0;
}

function ensureMovementsBelowMax(count: number): void {
  if (count <= PDF_MOVEMENTS_MAX) return;
  const issue = `PDF lists at most ${PDF_MOVEMENTS_MAX} movements, and these settlements have more: request fewer days, or kind balance as CSV or XLSX, which lists the same movements`;
  throw invalid('format', issue);
}

function writeHeader(page: PdfPage, { report, merchantName }: Rendering, subject: string): void {
  const { startDate, endDate, environment } = report;
  page.write('Settlement statement', LEFT, { size: 15, isBold: true });
  page.write(merchantName, RIGHT, { size: 10, isBold: true, isRight: true });
  page.y += 20;
  const days = `${startDate} to ${endDate} (${ethiopianDate(startDate)} to ${ethiopianDate(endDate)})`;
  page.write(subject === '' ? days : `${subject}  ·  ${days}`, LEFT, { color: INK.quiet });
  page.write(`${report.merchantId}  ·  ${environment}`, RIGHT, { color: INK.quiet, isRight: true });
  page.y += 14;
  page.rule();
  page.y += 10;
}

function writeFooter(page: PdfPage, { report }: Rendering, number: number): void {
  const style = { size: 6.5, color: INK.quiet };
  const asOf = `as of ${timeText(report.snapshotAt)} UTC  ·  times are those of ${ZONE} (UTC+3)`;
  const about = `Status ${report.statuses?.join(', ') ?? 'ALL'}  ·  ${asOf}  ·  amounts in ETB  ·  ${report.id}`;
  page.write(about, LEFT, style);
  page.write(`Page ${number}`, RIGHT, { ...style, isRight: true });
}
