import { stringify } from 'csv-stringify/sync';

import { formatBirr, toBirr, type Santim } from '../../lib/money.ts';
import { presentDays } from '../period.ts';
import type { ReportRow } from '../queries.ts';
import { timeText, ZONE, type Cell, type ColumnHead } from '../sources/columns.ts';
import type { Sums } from '../sources/source.ts';
import type { Statement } from '../sources/statement.ts';

export type Rendering = {
  report: ReportRow & { snapshotAt: Date };
  merchantName: string;
  sums: Sums;
  columns: readonly ColumnHead[];
  /** Rows as they are read: cells in the columns' order. */
  pages: AsyncIterable<Cell[][]>;
  /** The statement of a row of settlements. */
  statementOf: (cells: Cell[]) => Promise<Statement>;
};

/** The description of a file: the merchant, period, filters and snapshot of its rows. */
export function aboutOf({ report, merchantName, sums }: Rendering): Record<string, string | number> {
  return {
    reportId: report.id,
    kind: report.kind,
    environment: report.environment,
    merchantId: report.merchantId,
    merchantName,
    period: report.period,
    ...presentDays(report),
    timeZone: `${ZONE} (UTC+3)`,
    status: report.statuses?.join(',') ?? 'ALL',
    channel: report.channel ?? 'ALL',
    ...(report.narrowing && { filters: narrowingText(report.narrowing).replace('; ', '') }),
    currency: 'ETB',
    snapshotAt: report.snapshotAt.toISOString(),
    rows: sums.count,
  };
}

/** An amount as tables contain it: "-12.50". */
export function birrText(santim: Santim): string {
  return santim < 0n ? `-${formatBirr(-santim)}` : formatBirr(santim);
}

/** Characters that make spreadsheets read a text as a formula, also in full width. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** A text for a cell of a spreadsheet, prefixed with an apostrophe where it would be read as a formula. */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

const BYTE_ORDER_MARK = '\uFEFF';

/** The further filters of a report: "; type API; search Abebe". */
export function narrowingText(narrowing: ReportRow['narrowing']): string {
  const parts = Object.entries(narrowing ?? {}).map(([name, value]) => `; ${name} ${[value].flat().join(' ')}`);
  return parts.join('');
}

export function renderCsv({ report, columns, pages }: Rendering): AsyncIterable<string> {
  const { startDate, endDate, statuses, channel, narrowing, snapshotAt } = report;
  const filters = `${startDate} to ${endDate} ${ZONE}; status ${statuses?.join(' ') ?? 'ALL'}; channel ${channel ?? 'ALL'}${narrowingText(narrowing)}`;
  return renderTable({ columns, pages }, { filters, asOf: snapshotAt });
}

/**
 * CSV for spreadsheets (RFC 4180). Texts are quoted, so that readers which look at quotes keep ids and phones as text;
 * amounts are not. The filters and the snapshot are two last columns of every line: lines before the heading would
 * break filters and readers that take the first line for the heading, and a line after the last would be summed up. The
 * file's name contains them too, and the report has the totals.
 */
export async function* renderTable(
  { columns, pages }: Pick<Rendering, 'columns' | 'pages'>,
  { filters, asOf }: { filters: string; asOf: Date },
): AsyncGenerator<string> {
  const headings = [...columns.map(({ heading }) => heading), 'Report Filters', 'Report as of (UTC)'];
  const about = [escapeFormula(filters), timeText(asOf)];
  yield BYTE_ORDER_MARK + csvLines([headings]);
  const escaped = (cell: Cell): Cell => (typeof cell === 'string' ? escapeFormula(cell) : cell);
  for await (const rows of pages) yield csvLines(rows.map((row) => [...row.map(escaped), ...about]));
}

function csvLines(lines: Cell[][]): string {
  return stringify(lines, { quoted_string: true, record_delimiter: 'windows', cast: { bigint: birrText } });
}

/** One object: `about`, `totals` and `rows`. Unknown values are null, amounts are numbers of birr. */
export async function* renderJson(rendering: Rendering): AsyncGenerator<string> {
  const { sums, columns, pages } = rendering;
  const totals = Object.fromEntries(Object.entries(sums.totals).map(([name, santim]) => [name, toBirr(santim)]));
  const valueOf = (cell: Cell = null) => (typeof cell === 'bigint' ? toBirr(cell) : cell);
  const rowText = (row: Cell[]): string =>
    JSON.stringify(Object.fromEntries(columns.map(({ key }, index) => [key, valueOf(row[index])])));
  yield `{"about":${JSON.stringify(aboutOf(rendering))},\n"totals":${JSON.stringify(totals)},\n"rows":[`;
  let separator = '\n';
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    yield separator + rows.map(rowText).join(',\n');
    separator = ',\n';
  }
  yield '\n]}\n';
}
