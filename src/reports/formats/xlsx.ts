import { PassThrough, Readable } from 'node:stream';

import { ZipFile } from 'yazl';

import { DAY_MS } from '../../lib/dates.ts';
import { escapeFormula, type Cell, type ColumnHead } from '../sources/columns.ts';
import { aboutOf, birrText, type Rendering } from './rendering.ts';
import { CONTENT_TYPES, RELATIONS, STYLE, STYLES, WORKBOOK, WORKBOOK_RELATIONS } from './xlsx-parts.ts';

const SHEET =
  '<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">';
const HEADING_STAYS =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';

/**
 * A workbook of two sheets: the rows, in which amounts are numbers, days and times are dates as their column's clock
 * shows them, and all else is text; and what the file is, with its totals. The sheets are written here, row by row: what
 * libraries there are keep all cells, a gigabyte for what fits a sheet, or take three times as long for one plain sheet.
 */
export function renderXlsx(rendering: Rendering): AsyncIterable<Uint8Array> {
  return zipped(rendering.snapshotAt, {
    '[Content_Types].xml': [CONTENT_TYPES],
    '_rels/.rels': [RELATIONS],
    'xl/workbook.xml': [WORKBOOK],
    'xl/_rels/workbook.xml.rels': [WORKBOOK_RELATIONS],
    'xl/styles.xml': [STYLES],
    'xl/worksheets/sheet1.xml': rowsSheet(rendering),
    'xl/worksheets/sheet2.xml': [aboutSheet(rendering)],
  });
}

/** A zip file of parts that are packed while they are made, each once the one before is over. */
async function* zipped(
  mtime: Date,
  parts: Record<string, Iterable<string> | AsyncIterable<string>>,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const packed = new PassThrough();
  // The library leaves it to others what becomes of the file when a part fails.
  const fail = (error: Error): void => void packed.destroy(error);
  zip.on('error', fail);
  for (const [name, chunks] of Object.entries(parts)) {
    zip.addReadStream(Readable.from(chunks).on('error', fail), name, { mtime });
  }
  zip.end();
  zip.outputStream.pipe(packed);
  yield* packed as AsyncIterable<Buffer>;
}

async function* rowsSheet(rendering: Rendering): AsyncGenerator<string> {
  const letters = rendering.columns.map((_, index) => columnName(index));
  let number = 1;
  for await (const rows of rendering.pages) {
    if (number === 1) {
      const widths = rendering.columns.map(({ heading }, index) =>
        widthOf(
          heading,
          rows.map((row) => row[index]),
        ),
      );
      yield `${SHEET}${HEADING_STAYS}${colsText(widths)}<sheetData>${rowText(headingCells(rendering), letters, 1)}`;
      number = 2;
    }
    const first = number;
    const textOf = (row: Cell[]): string[] => row.map((cell, index) => cellText(cell, rendering.columns[index]?.as));
    yield rows.map((row, index) => rowText(textOf(row), letters, first + index)).join('');
    number += rows.length;
  }
  yield `</sheetData><autoFilter ref="A1:${letters.at(-1)}${number - 1}"/></worksheet>`;
}

/** In characters, with room for the button of the filter. */
const WIDTH = { min: 10, max: 45, room: 4 } as const;

/** What the first page's cells and the heading's longest word take: headings go on in a second line. */
function widthOf(heading: string, cells: readonly (Cell | undefined)[]): number {
  const shown = cells.map((cell) => (typeof cell === 'bigint' ? birrText(cell) : String(cell ?? '')));
  const longest = Math.max(...[...heading.split(' '), ...shown].map((text) => text.length));
  return Math.min(Math.max(longest + WIDTH.room, WIDTH.min), WIDTH.max);
}

function colsText(widths: readonly number[]): string {
  const columns = widths.map(
    (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  );
  return `<cols>${columns.join('')}</cols>`;
}

const headingCells = ({ columns }: Rendering): string[] =>
  columns.map(({ heading }) => textCell(heading, STYLE.heading));

function aboutSheet(rendering: Rendering): string {
  const about = Object.entries(aboutOf(rendering)).map(([name, value]) => [inWords(name), value] as const);
  const headings = new Map(rendering.columns.map(({ key, heading }) => [key, heading]));
  const totals = Object.entries(rendering.sums.totals).map(([name, santim]) => {
    const heading = headings.get(name);
    return [heading === undefined ? inWords(name) : `Sum of ${heading}`, santim] as const;
  });
  const lines = [...about, ...totals].map(([name, value], index) =>
    rowText([textCell(name, STYLE.heading), cellText(value)], ['A', 'B'], index + 1),
  );
  return `${SHEET}${colsText([30, 40])}<sheetData>${lines.join('')}</sheetData></worksheet>`;
}

/** "merchantId" as a heading: "Merchant ID". */
function inWords(name: string): string {
  return name
    .replace(/^./, (letter) => letter.toUpperCase())
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .replace(/Id$/, 'ID');
}

/** Cells as XML, each beginning with `<c`, given their places: A1, B1 … */
function rowText(cells: string[], letters: string[], number: number): string {
  const placed = cells.map((cell, index) => cell && `<c r="${letters[index]}${number}"${cell.slice(2)}`);
  return `<row r="${number}">${placed.join('')}</row>`;
}

function cellText(cell: Cell, as?: ColumnHead['as']): string {
  if (cell === null) return '';
  if (as && typeof cell === 'string') return `<c s="${STYLE[as]}"><v>${dateNumber(cell)}</v></c>`;
  if (typeof cell === 'bigint') return `<c s="${STYLE.amount}"><v>${birrText(cell)}</v></c>`;
  return typeof cell === 'number' ? `<c><v>${cell}</v></c>` : textCell(escapeFormula(cell), STYLE.text);
}

/** 1 January 1970, as workbooks count days. */
const EPOCH_DAY = 25_569;

/** "2026-03-02" or "2026-03-02 12:30:00" as the number of a workbook's date, which has no zone. */
function dateNumber(text: string): number {
  return EPOCH_DAY + Date.parse(`${text.replace(' ', 'T')}${text.includes(' ') ? 'Z' : ''}`) / DAY_MS;
}

function textCell(text: string, style: number): string {
  return `<c s="${style}" t="inlineStr"><is><t xml:space="preserve">${escape(text)}</t></is></c>`;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** What XML gives a meaning, and what it cannot hold, which is left out. */
const SPECIAL = /[&<>]|[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function escape(text: string): string {
  return text.replaceAll(SPECIAL, (found) => ESCAPES[found] ?? '');
}

/** A, B … Z, AA … */
function columnName(index: number): string {
  const letter = String.fromCodePoint(65 + (index % 26));
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter;
}
