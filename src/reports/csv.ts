import { clockText, harmless, type Cell } from './columns.ts';
import { birrText, filterText, type Rendering } from './rendering.ts';

const BYTE_ORDER_MARK = '\uFEFF';
const LINE_END = '\r\n';

/**
 * CSV for spreadsheets (RFC 4180). Texts are quoted, so that readers which look at quotes keep ids and phones as text;
 * amounts are not. What the file is stands in two last columns of every line: lines before the heading would break
 * filters and every reader that takes the first line for the heading, and a line after the last would be added up. The
 * file's name says it too, and the report has the totals.
 */
export async function* renderCsv(rendering: Rendering): AsyncGenerator<string> {
  const { report, snapshotAt, columns, pages } = rendering;
  const headings = [...columns.map(({ heading }) => heading), 'Report Filters', 'Report as of (UTC)'];
  const about = lineOf([filterText(report), clockText(snapshotAt)]) + LINE_END;
  yield BYTE_ORDER_MARK + lineOf(headings) + LINE_END;
  for await (const rows of pages) yield rows.map((row) => `${lineOf(row)},${about}`).join('');
}

function lineOf(cells: readonly Cell[]): string {
  return cells.map(cellText).join(',');
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'bigint') return birrText(cell);
  return typeof cell === 'number' ? String(cell) : `"${harmless(cell).replaceAll('"', '""')}"`;
}
