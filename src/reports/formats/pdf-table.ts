import { headingOf, type Cell, type ColumnHead } from '../sources/columns.ts';
import type { ReportKind } from '../states.ts';
import { amountText, INK, LEFT, LINE_HEIGHT, RIGHT, typeText, type PdfPage } from './pdf-page.ts';
import type { Rendering } from './rendering.ts';

/** The columns that fit a page, and their widths in points: 511 together. The other formats have all columns. */
const COLUMNS: Readonly<Record<Exclude<ReportKind, 'settlements'>, Readonly<Record<string, number>>>> = {
  payments: {
    createdAtAddis: 81,
    checkoutOrderNo: 68,
    transactionThrough: 47,
    status: 55,
    amount: 54,
    fee: 44,
    netAmount: 54,
    refundedAmount: 54,
    netAfterRefunds: 54,
  },
  refunds: {
    requestedAtAddis: 81,
    reference: 94,
    channel: 56,
    status: 54,
    amount: 56,
    paidAmount: 56,
    feeReturned: 56,
    totalDebit: 58,
  },
  withdrawals: {
    requestedAtAddis: 84,
    requestId: 117,
    channel: 56,
    status: 66,
    amount: 66,
    fee: 54,
    totalDebit: 68,
  },
  balance: { createdAtAddis: 84, type: 97, resourceId: 180, amount: 72, balanceAfter: 78 },
};
const GAP = 6;
const SUMS_PER_LINE = 7;

type TableColumn = { key: string; heading: string; index: number; x: number; width: number; isAmount: boolean };

/** A table of the report's rows below their sums. Yields after each page of rows that was read. */
export async function* writeTable(page: PdfPage, rendering: Rendering): AsyncGenerator<void> {
  const { report, columns, pages, sums } = rendering;
  if (report.kind === 'settlements') throw new Error('settlements are written as statements');
  const table = layOut(columns, COLUMNS[report.kind], sums.totals);
  page.turn();
  writeSums(page, rendering);
  if (sums.count === 0) return page.write('There are none of these days and filters.', LEFT, { size: 10 });
  writeHeadings(page, table);
  for await (const rows of pages) {
    for (const cells of rows) writeRow(page, table, cells);
    yield;
  }
}

function layOut(
  columns: readonly ColumnHead[],
  widths: Readonly<Record<string, number>>,
  totals: Rendering['sums']['totals'],
): TableColumn[] {
  let x = LEFT;
  return Object.entries(widths).map(([key, width]) => {
    const index = columns.findIndex((column) => column.key === key);
    const found = columns[index];
    if (!found) throw new Error(`the report has no column ${key}`);
    const heading = found.heading.replace(' (Addis Ababa, UTC+3)', '');
    const isAmount = key in totals || key === 'balanceAfter';
    const column = { key, heading, index, x, width: width - GAP, isAmount };
    x += width;
    return column;
  });
}

/** The number of rows and the sum of each column, also of those that are not listed. */
function writeSums(page: PdfPage, { sums, columns }: Rendering): void {
  const facts = Object.entries(sums.totals).map(([key, santim]) => {
    const heading = columns.find((column) => column.key === key)?.heading ?? headingOf(key);
    return [heading, amountText(santim)] as const;
  });
  const all = [['Rows', sums.count.toLocaleString('en')] as const, ...facts];
  const width = (RIGHT - LEFT) / SUMS_PER_LINE;
  for (let start = 0; start < all.length; start += SUMS_PER_LINE) {
    const line = [...all.slice(start, start + SUMS_PER_LINE).entries()];
    page.band(36);
    page.y += 7;
    for (const [index, [label]] of line) page.write(label, LEFT + 6 + index * width, { size: 7, color: INK.quiet });
    page.y += 12;
    for (const [index, [, value]] of line) page.write(value, LEFT + 6 + index * width, { isBold: true });
    page.y += 17;
  }
  page.y += 10;
}

function writeHeadings(page: PdfPage, table: readonly TableColumn[]): void {
  page.band(2 * LINE_HEIGHT - 2);
  page.y += 3;
  // In two lines: the second one has the last word.
  for (const line of [0, 1]) {
    for (const column of table) {
      const parts = /^(.*?) ?(\S+)$/.exec(column.heading)?.slice(1) ?? [];
      page.write(parts[line] ?? '', placeOf(column), { size: 7, isBold: true, isRight: column.isAmount });
    }
    page.y += LINE_HEIGHT - 2;
  }
}

function writeRow(page: PdfPage, table: readonly TableColumn[], cells: readonly Cell[]): void {
  const texts = table.map(({ key, index, width }) => {
    const text = textOf(cells[index] ?? null);
    return page.wrap(key === 'type' ? typeText(text) : text, width);
  });
  const lines = Math.max(...texts.map(({ length }) => length));
  if (page.needs(lines * LINE_HEIGHT)) writeHeadings(page, table);
  for (let line = 0; line < lines; line += 1) {
    for (const [position, column] of table.entries()) {
      page.write(texts[position]?.[line] ?? '', placeOf(column), { size: 7.5, isRight: column.isAmount });
    }
    if (line < lines - 1) page.y += LINE_HEIGHT - 3;
  }
  page.endLine();
}

/** Amounts end at the right of their column. */
const placeOf = ({ x, width, isAmount }: TableColumn) => (isAmount ? x + width : x);

const textOf = (cell: Cell): string => (typeof cell === 'bigint' ? amountText(cell) : String(cell ?? ''));
