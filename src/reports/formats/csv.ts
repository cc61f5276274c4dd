import { stringify } from 'csv-stringify/sync';

import { timeText, ZONE, type Cell } from '../sources/columns.ts';
import { birrText, escapeFormula, type Rendering } from './rendering.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * CSV for spreadsheets (RFC 4180). Texts are quoted, so that readers which look at quotes keep ids and phones as text;
 * amounts are not. The filters and the snapshot are two last columns of every line: lines before the heading would
 * break filters and readers that take the first line for the heading, and a line after the last would be summed up. The
 * file's name contains them too, and the report has the totals.
 */
export async function* renderCsv({ report, columns, pages }: Rendering): AsyncGenerator<string> {
  const { startDate, endDate, statuses, channel, snapshotAt } = report;
  const headings = [...columns.map(({ heading }) => heading), 'Report Filters', 'Report as of (UTC)'];
  const filters = `${startDate} to ${endDate} ${ZONE}; status ${statuses?.join(' ') ?? 'ALL'}; channel ${channel ?? 'ALL'}`;
  const about = [filters, timeText(snapshotAt)];
  yield BYTE_ORDER_MARK + csvLines([headings]);
  for await (const rows of pages) yield csvLines(rows.map((row) => [...row.map(escapedCell), ...about]));
}

function escapedCell(cell: Cell): Cell {
  return typeof cell === 'string' ? escapeFormula(cell) : cell;
}

function csvLines(lines: Cell[][]): string {
  return stringify(lines, { quoted_string: true, record_delimiter: 'windows', cast: { bigint: birrText } });
}
