import { createRequire } from 'node:module';

import { ethiopianDate } from '../calendar/ethiopian-date.ts';
import { clockText, ZONE } from './columns.ts';
import type { Rendering } from './rendering.ts';
import type { Line } from './statement.ts';

/** Pages are kept until the last is there. */
export const PDF_ROWS_MAX = 500;

const require = createRequire(import.meta.url);
/** Under the SIL Open Font License. */
const FONTS = {
  latin: require.resolve('@fontsource/noto-sans-ethiopic/files/noto-sans-ethiopic-latin-400-normal.woff'),
  ethiopic: require.resolve('@fontsource/noto-sans-ethiopic/files/noto-sans-ethiopic-ethiopic-400-normal.woff'),
} as const;

const MARGIN = 50;
const VALUES_AT = 260;
const LINE_HEIGHT = 16;
const LINES_MAX = 44;
/** What fits beside a label. */
const VALUE_CHARACTERS_MAX = 50;
const SIZE = { title: 16, heading: 11, text: 9 } as const;

/** Settlement statements, each on a page of its own. Latin and Ethiopic letters are shown. */
export async function* renderPdf(rendering: Rendering): AsyncGenerator<Uint8Array> {
  const { report, snapshotAt, pages, statementOf } = rendering;
  // Half a second of loading, for the few who ask for it.
  const { default: PDFDocument } = await import('pdfkit');
  const document = new PDFDocument({ size: 'A4', margin: MARGIN, autoFirstPage: false, info: { Title: report.id } });
  for (const [name, file] of Object.entries(FONTS)) document.registerFont(name, file);
  const ethiopianDays = `${ethiopianDate(report.startDate)} to ${ethiopianDate(report.endDate)}`;
  const about: Line[] = [
    { label: 'Merchant', value: `${report.merchantId}, ${report.environment}` },
    { label: `Days in ${ZONE}`, value: `${report.startDate} to ${report.endDate}` },
    { label: 'In the Ethiopian calendar', value: ethiopianDays },
    { label: 'Status', value: report.statuses?.join(', ') ?? 'ALL' },
    { label: 'As of (UTC)', value: clockText(snapshotAt) },
    { label: 'Report', value: report.id },
  ];
  let count = 0;
  for await (const rows of pages) {
    for (const cells of rows) {
      count += 1;
      const heading: Line = { label: `Settlement ${count} of ${rendering.sums.count}, ETB`, isHeading: true };
      writeStatement(document, [...about, heading, ...(await statementOf(cells))]);
    }
  }
  if (count === 0) writeStatement(document, [...about, { label: 'No settlements', isHeading: true }]);
  document.end();
  yield* document as AsyncIterable<Buffer>;
}

function writeStatement(document: PDFKit.PDFDocument, lines: readonly Line[]): void {
  let place = LINES_MAX;
  for (const line of lines) {
    for (const [index, value] of inParts(line.value ?? '').entries()) {
      if (place >= LINES_MAX) {
        document.addPage();
        document.fontSize(SIZE.title);
        writeText(document, 'Settlement statement', { x: MARGIN, y: MARGIN });
        place = 2;
      }
      const y = MARGIN + place * LINE_HEIGHT;
      document.fontSize(line.isHeading ? SIZE.heading : SIZE.text);
      if (index === 0) writeText(document, line.label, { x: MARGIN, y });
      writeText(document, value, { x: VALUES_AT, y });
      place += 1;
    }
  }
}

/** At least one. */
function inParts(text: string): string[] {
  return text.match(new RegExp(`.{1,${VALUE_CHARACTERS_MAX}}`, 'gu')) ?? [''];
}

/** Each run of letters in the font that has them. */
function writeText(document: PDFKit.PDFDocument, text: string, { x, y }: { x: number; y: number }): void {
  for (const [run] of text.matchAll(/\p{Script=Ethiopic}+|\P{Script=Ethiopic}+/gu)) {
    document.font(/^\p{Script=Ethiopic}/u.test(run) ? 'ethiopic' : 'latin').text(run, x, y, { lineBreak: false });
    x += document.widthOfString(run);
  }
}
