import { ethiopianDate } from '../../settlements/calendar/holidays.ts';
import { timeText, ZONE } from '../sources/columns.ts';
import type { ReportKind } from '../states.ts';
import { createPages, INK, LEFT, RIGHT, type PdfPage } from './pdf-page.ts';
import { writeStatements } from './pdf-statement.ts';
import { writeTable } from './pdf-table.ts';
import { narrowingText, type Rendering } from './rendering.ts';

const TITLES: Readonly<Record<ReportKind, string>> = {
  payments: 'Payments',
  refunds: 'Refunds',
  withdrawals: 'Withdrawals',
  settlements: 'Settlement statement',
  balance: 'Movements of the balance',
};

/** Statements of settlements, or a table of other rows, in Latin and Ethiopic letters. */
export async function* renderPdf(rendering: Rendering): AsyncGenerator<Uint8Array> {
  const { report } = rendering;
  // Loading takes half a second: only processes that write a PDF load it.
  const { default: PDFDocument } = await import('pdfkit');
  const info = { Title: `${TITLES[report.kind]} ${report.startDate} to ${report.endDate}`, Subject: report.id };
  const document = new PDFDocument({ size: 'A4', margin: 0, autoFirstPage: false, info });
  let subject = '';
  const page: PdfPage = createPages(document, {
    header: () => writeHeader(page, rendering, subject),
    footer: (number) => writeFooter(page, rendering, number),
  });
  const written =
    report.kind === 'settlements'
      ? writeStatements(page, rendering, (text) => (subject = text))
      : writeTable(page, rendering);
  for await (const _ of written) {
    // A page stays in memory only until the next one starts.
    const chunk = document.read() as Buffer | null;
    if (chunk) yield chunk;
  }
  document.end();
  yield* document as AsyncIterable<Buffer>;
}

function writeHeader(page: PdfPage, { report, merchantName }: Rendering, subject: string): void {
  const { startDate, endDate, environment } = report;
  page.write(TITLES[report.kind], LEFT, { size: 15, isBold: true });
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
  const { statuses, channel, narrowing } = report;
  const filters = `Status ${statuses?.join(', ') ?? 'ALL'}${channel ? `; channel ${channel}` : ''}${narrowingText(narrowing)}`;
  const asOf = `as of ${timeText(report.snapshotAt)} UTC  ·  times are those of ${ZONE} (UTC+3)`;
  const about = `${asOf}  ·  amounts in ETB  ·  ${report.id}`;
  page.write(about, LEFT, style);
  page.write(`Page ${number}`, RIGHT, { ...style, isRight: true });
  page.y -= 10;
  page.write(page.wrap(filters, RIGHT - LEFT)[0] ?? '', LEFT, style);
}
