import { stringify } from 'csv-stringify/sync';

import { clockText, escapeFormula, type Cell } from '../sources/columns.ts';
import { birrText, filterText, type Rendering } from './rendering.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * CSV for spreadsheets (RFC 4180). Texts are quoted, so that readers which look at quotes keep ids and phones as text;
 * amounts are not. What the file is stands in two last columns of every line: lines before the heading would break
 * filters and every reader that takes the first line for the heading, and a line after the last would be added up. The
 * file's name says it too, and the report has the totals.
 */
export async function* renderCsv(rendering: Rendering): AsyncGenerator<string> {
  const { report, snapshotAt, columns, pages } = rendering;
  const headings = [...columns.map(({ heading }) => heading), 'Report Filters', 'Report as of (UTC)'];
  const about = [filterText(report), clockText(snapshotAt)];
  yield BYTE_ORDER_MARK + linesOf([headings]);
  for await (const rows of pages) yield linesOf(rows.map((row) => [...row.map(cellOf), ...about]));
}

function cellOf(cell: Cell): Cell {
  return typeof cell === 'string' ? escapeFormula(cell) : cell;
}

function linesOf(lines: Cell[][]): string {
  return stringify(lines, { quoted_string: true, record_delimiter: 'windows', cast: { bigint: birrText } });
}
