import { Zip, ZipDeflate } from 'fflate';

import { harmless, type Cell } from './columns.ts';
import { aboutOf, birrText, type Rendering } from './rendering.ts';
import { CONTENT_TYPES, RELATIONS, STYLE, STYLES, WORKBOOK, WORKBOOK_RELATIONS } from './xlsx-parts.ts';

/** What a sheet holds, less its heading. */
export const XLSX_ROWS_MAX = 1_048_575;

const SHEET =
  '<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">';
const HEADING_STAYS =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';
const COMPRESSION = { level: 6 } as const;

/**
 * A workbook of two sheets: the rows, in which amounts are numbers and all else is text; and what the file is, with its
 * totals. It is written row by row, since a library that takes all cells at once needs a gigabyte for what fits a sheet.
 */
export async function* renderXlsx(rendering: Rendering): AsyncGenerator<Uint8Array> {
  const zip = startZip();
  zip.add('[Content_Types].xml', CONTENT_TYPES);
  zip.add('_rels/.rels', RELATIONS);
  zip.add('xl/workbook.xml', WORKBOOK);
  zip.add('xl/_rels/workbook.xml.rels', WORKBOOK_RELATIONS);
  zip.add('xl/styles.xml', STYLES);
  zip.add('xl/worksheets/sheet2.xml', aboutSheet(rendering));
  const write = zip.begin('xl/worksheets/sheet1.xml');
  const letters = rendering.columns.map((_, index) => columnName(index));
  write(
    `${SHEET}${HEADING_STAYS}<cols><col min="1" max="${letters.length}" width="20" customWidth="1"/></cols><sheetData>`,
  );
  write(rowText(headingCells(rendering), letters, 1));
  let number = 2;
  for await (const rows of rendering.pages) {
    write(rows.map((row, index) => rowText(row.map(cellText), letters, number + index)).join(''));
    number += rows.length;
    yield zip.taken();
  }
  write(`</sheetData><autoFilter ref="A1:${letters.at(-1)}${number - 1}"/></worksheet>`, 'last');
  zip.end();
  yield zip.taken();
}

const headingCells = ({ columns }: Rendering): string[] =>
  columns.map(({ heading }) => textCell(heading, STYLE.heading));

function aboutSheet(rendering: Rendering): string {
  const about = Object.entries(aboutOf(rendering));
  const totals = Object.entries(rendering.sums.totals).map(([name, santim]) => [`total ${name}`, santim] as const);
  const lines = [...about, ...totals].map(([name, value], index) =>
    rowText([textCell(name, STYLE.heading), cellText(value)], ['A', 'B'], index + 1),
  );
  return `${SHEET}<cols><col min="1" max="2" width="30" customWidth="1"/></cols><sheetData>${lines.join('')}</sheetData></worksheet>`;
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

/** A zip file that is written while its parts are made. */
function startZip() {
  let made: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    made.push(chunk);
  });
  const begin = (name: string) => {
    const part = new ZipDeflate(name, COMPRESSION);
    zip.add(part);
    return (text: string, last?: 'last') => part.push(Buffer.from(text), last === 'last');
  };
  return {
    begin,
    add: (name: string, text: string): void => begin(name)(text, 'last'),
    end: () => zip.end(),
    /** What was made since the last time. */
    taken: (): Uint8Array => {
      const taken = Buffer.concat(made);
      made = [];
      return taken;
    },
  };
}
