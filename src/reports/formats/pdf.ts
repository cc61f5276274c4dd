import { invalid } from '../../lib/errors.ts';
import { ethiopianDate } from '../../settlements/calendar/ethiopian-date.ts';
import { clockText, ZONE } from '../sources/columns.ts';
import type { Statement } from '../sources/statement.ts';
import { at, createPaper, FOOT_Y, INK, LEFT, RIGHT, type PdfPage } from './pdf-layout.ts';
import { printStatement } from './pdf-statement.ts';
import type { Rendering } from './rendering.ts';

/** Settlements in one file. */
export const PDF_ROWS_MAX = 500;
/** Movements in one file: a thousand pages, and a quarter of a minute. */
export const PDF_MOVEMENTS_MAX = 50_000;

/** Statements of settlements, each beginning on a page of its own. Latin and Ethiopic letters are shown. */
export async function* renderPdf(rendering: Rendering): AsyncGenerator<Uint8Array> {
  const { report, sums, pages, statementOf } = rendering;
  // Half a second of loading, for the few who ask for it.
  const { default: PDFDocument } = await import('pdfkit');
  const info = { Title: `Settlement statements ${report.startDate} to ${report.endDate}`, Subject: report.id };
  const document = new PDFDocument({ size: 'A4', margin: 0, autoFirstPage: false, info });
  let subject = '';
  const paper = createPaper(document, (sheet, page) => writeFrame(sheet, rendering, { subject, page }));
  let count = 0;
  let movements = 0;
  for await (const rows of pages) {
    for (const cells of rows) {
      const statement = await statementOf(cells);
      count += 1;
      movements = countOn(movements, statement);
      subject = `Settlement ${count} of ${sums.count}`;
      paper.turn();
      for await (const _ of printStatement(paper, statement)) yield* written(document);
    }
  }
  if (count === 0) {
    paper.turn();
    paper.write('There are no settlements of these days and status.', LEFT, { size: 10 });
  }
  document.end();
  yield* document as AsyncIterable<Buffer>;
}

/** What has been written since the last time: a page is kept only until the next begins. */
function written(document: PDFKit.PDFDocument): Buffer[] {
  const chunk = document.read() as Buffer | null;
  return chunk ? [chunk] : [];
}

function countOn(before: number, { account }: Statement): number {
  const count = account?.totals.reduce((sum, one) => sum + one.count, before) ?? before;
  if (count <= PDF_MOVEMENTS_MAX) return count;
  const issue = `PDF lists at most ${PDF_MOVEMENTS_MAX} movements, and these settlements have more: ask for fewer days, or for kind balance as CSV or XLSX, which lists the same movements`;
  throw invalid('format', issue);
}

type Frame = { subject: string; page: number };

/** What stands at the head and the foot of each page. */
function writeFrame(paper: PdfPage, { report, merchantName, snapshotAt }: Rendering, { subject, page }: Frame): void {
  const { startDate, endDate, environment, statuses } = report;
  paper.write('Settlement statement', LEFT, { size: 15, isBold: true });
  paper.write(merchantName, RIGHT, { size: 10, isBold: true, isRight: true });
  paper.y += 20;
  const days = `${startDate} to ${endDate} (${ethiopianDate(startDate)} to ${ethiopianDate(endDate)})`;
  paper.write(subject === '' ? days : `${subject}  ·  ${days}`, LEFT, { color: INK.quiet });
  paper.write(`${report.merchantId}  ·  ${environment}`, RIGHT, { color: INK.quiet, isRight: true });
  paper.y += 14;
  paper.rule();
  paper.y += 10;
  at(paper, FOOT_Y, () => {
    const status = statuses?.join(', ') ?? 'ALL';
    const about = `Status ${status}  ·  as of ${clockText(snapshotAt)} UTC  ·  times are those of ${ZONE} (UTC+3)  ·  amounts in ETB  ·  ${report.id}`;
    paper.write(about, LEFT, { size: 6.5, color: INK.quiet });
    paper.write(`Page ${page}`, RIGHT, { size: 6.5, color: INK.quiet, isRight: true });
  });
}
