import { harmless, type Cell } from './columns.ts';
import { aboutOf, birrText, type Rendering } from './rendering.ts';
import { CONTENT_TYPES, RELATIONS, STYLE, STYLES, WORKBOOK, WORKBOOK_RELATIONS } from './xlsx-parts.ts';
import { zipped } from './zip.ts';

/** What a sheet holds, less its heading. */
export const XLSX_ROWS_MAX = 1_048_575;

const SHEET =
  '<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">';
const HEADING_STAYS =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';

/**
 * A workbook of two sheets: the rows, in which amounts are numbers and all else is text; and what the file is, with its
 * totals. It is written row by row: a library that takes all cells at once needs a gigabyte for what fits a sheet.
 */
export function renderXlsx(rendering: Rendering): AsyncIterable<Uint8Array> {
  return zipped([
    { name: '[Content_Types].xml', chunks: [CONTENT_TYPES] },
    { name: '_rels/.rels', chunks: [RELATIONS] },
    { name: 'xl/workbook.xml', chunks: [WORKBOOK] },
    { name: 'xl/_rels/workbook.xml.rels', chunks: [WORKBOOK_RELATIONS] },
    { name: 'xl/styles.xml', chunks: [STYLES] },
    { name: 'xl/worksheets/sheet1.xml', chunks: rowsSheet(rendering) },
    { name: 'xl/worksheets/sheet2.xml', chunks: [aboutSheet(rendering)] },
  ]);
}

async function* rowsSheet(rendering: Rendering): AsyncGenerator<string> {
  const letters = rendering.columns.map((_, index) => columnName(index));
  yield `${SHEET}${HEADING_STAYS}${widths(letters.length, 20)}<sheetData>${rowText(headingCells(rendering), letters, 1)}`;
  let number = 2;
  for await (const rows of rendering.pages) {
    const first = number;
    yield rows.map((row, index) => rowText(row.map(cellText), letters, first + index)).join('');
    number += rows.length;
  }
  yield `</sheetData><autoFilter ref="A1:${letters.at(-1)}${number - 1}"/></worksheet>`;
}

const widths = (columns: number, characters: number): string =>
  `<cols><col min="1" max="${columns}" width="${characters}" customWidth="1"/></cols>`;

const headingCells = ({ columns }: Rendering): string[] =>
  columns.map(({ heading }) => textCell(heading, STYLE.heading));

function aboutSheet(rendering: Rendering): string {
  const about = Object.entries(aboutOf(rendering));
  const totals = Object.entries(rendering.sums.totals).map(([name, santim]) => [`total ${name}`, santim] as const);
  const lines = [...about, ...totals].map(([name, value], index) =>
    rowText([textCell(name, STYLE.heading), cellText(value)], ['A', 'B'], index + 1),
  );
  return `${SHEET}${widths(2, 30)}<sheetData>${lines.join('')}</sheetData></worksheet>`;
}

/** Cells as XML, each beginning with `<c`, given their places: A1, B1 … */
function rowText(cells: string[], letters: string[], number: number): string {
  const placed = cells.map((cell, index) => cell && `<c r="${letters[index]}${number}"${cell.slice(2)}`);
  return `<row r="${number}">${placed.join('')}</row>`;
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'bigint') return `<c s="${STYLE.amount}"><v>${birrText(cell)}</v></c>`;
  return typeof cell === 'number' ? `<c><v>${cell}</v></c>` : textCell(harmless(cell), STYLE.text);
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
