import { formatBirr, type Santim } from '../../lib/money.ts';
import { ethiopianDate } from '../../settlements/calendar/ethiopian-date.ts';
import type { ReportRow } from '../model.ts';
import { ZONE, type Cell, type ColumnHead } from '../sources/columns.ts';
import type { Sums } from '../sources/source.ts';
import type { Statement } from '../sources/statement.ts';

/** All that a file is made of. */
export type Rendering = {
  report: ReportRow;
  merchantName: string;
  snapshotAt: Date;
  sums: Sums;
  columns: readonly ColumnHead[];
  /** Rows as they are read: cells in the columns' order. */
  pages: AsyncIterable<Cell[][]>;
  /** The statement of a row, where rows are settlements. */
  statementOf: (cells: Cell[]) => Promise<Statement>;
};

/** What a file says about itself: where its rows come from, and how they were chosen. */
export function aboutOf({ report, merchantName, snapshotAt, sums }: Rendering): Record<string, string | number> {
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
    snapshotAt: snapshotAt.toISOString(),
    rows: sums.count,
  };
}

/** The days, zone and filters in a few words: they stand on every line of a CSV. */
export function filterText({ startDate, endDate, statuses, channel }: ReportRow): string {
  return `${startDate} to ${endDate} ${ZONE}; status ${statuses?.join(' ') ?? 'ALL'}; channel ${channel ?? 'ALL'}`;
}

/** "payments-sandbox-2026-11-01-to-2026-11-30-SUCCESS-TELEBIRR-as-of-20261201T060000Z" */
export function fileNameOf(report: ReportRow, extension: string): string {
  const { kind, environment, startDate, endDate, statuses, channel, snapshotAt } = report;
  const days = startDate === endDate ? startDate : `${startDate}-to-${endDate}`;
  const asOf = (snapshotAt ?? report.requestedAt).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const parts = [kind, environment, days, ...(statuses ?? []), ...(channel ? [channel] : []), 'as-of', `${asOf}Z`];
  return `${parts.join('-')}.${extension}`;
}

/** An amount as tables write it: "-12.50". */
export function birrText(santim: Santim): string {
  return santim < 0n ? `-${formatBirr(-santim)}` : formatBirr(santim);
}
