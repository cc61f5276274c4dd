import { formatBirr, type Santim } from '../../lib/money.ts';
import { ethiopianDate } from '../../settlements/calendar/ethiopian-date.ts';
import type { ReportRow } from '../queries.ts';
import { ZONE, type Cell, type ColumnHead } from '../sources/columns.ts';
import type { Sums } from '../sources/source.ts';
import type { Statement } from '../sources/statement.ts';

/** The content of a file. */
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
    startDate: report.startDate,
    endDate: report.endDate,
    startDateEthiopian: ethiopianDate(report.startDate),
    endDateEthiopian: ethiopianDate(report.endDate),
    timeZone: `${ZONE} (UTC+3)`,
    status: report.statuses?.join(',') ?? 'ALL',
    channel: report.channel ?? 'ALL',
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
