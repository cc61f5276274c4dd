import { stringify } from 'csv-stringify/sync';

import { toBirr } from '../../lib/money.ts';
import { timeText, ZONE, type Cell } from '../sources/columns.ts';
import { aboutOf, birrText, escapeFormula, type Rendering } from './rendering.ts';

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

/** One object: `about`, `totals` and `rows`. Unknown values are null, amounts are numbers of birr. */
export async function* renderJson(rendering: Rendering): AsyncGenerator<string> {
  const { sums, columns, pages } = rendering;
  const totals = Object.fromEntries(Object.entries(sums.totals).map(([name, santim]) => [name, toBirr(santim)]));
  const rowText = (row: Cell[]): string =>
    JSON.stringify(Object.fromEntries(columns.map(({ key }, index) => [key, jsonValue(row[index] ?? null)])));
  yield `{"about":${JSON.stringify(aboutOf(rendering))},\n"totals":${JSON.stringify(totals)},\n"rows":[`;
  let separator = '\n';
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    yield separator + rows.map(rowText).join(',\n');
    separator = ',\n';
  }
  yield '\n]}\n';
}

function jsonValue(cell: Cell): string | number | null {
  return typeof cell === 'bigint' ? toBirr(cell) : cell;
}
