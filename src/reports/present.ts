import { toBirr } from '../lib/money.ts';
import { FORMATS } from './formats/formats.ts';
import type { ReportRow } from './queries.ts';
import { ZONE } from './sources/columns.ts';

/** The public report. Fields of the file are null until it is complete; the link is removed with the file. */
export function presentReport(row: ReportRow, baseUrl: string) {
  const { totals } = row;
  return {
    reportId: row.id,
    kind: row.kind,
    format: row.format,
    period: row.period,
    startDate: row.startDate,
    endDate: row.endDate,
    timeZone: ZONE,
    filters: { status: row.statuses?.join(',') ?? 'ALL', channel: row.channel ?? 'ALL' },
    status: row.status,
    rowsDone: row.processedRows,
    rowsTotal: row.totalRows,
    totals:
      totals && Object.fromEntries(Object.entries(totals).map(([name, santim]) => [name, toBirr(BigInt(santim))])),
    snapshotAt: row.snapshotAt?.toISOString() ?? null,
    fileName: row.sha256 === null ? null : fileNameOf(row),
    fileSize: row.fileBytes === null ? null : Number(row.fileBytes),
    sha256: row.sha256,
    fileUrl: row.status === 'READY' ? `${baseUrl}/api/checkout/reports/${row.id}/file` : null,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    ...(row.failure === null ? {} : { failure: row.failure }),
    environment: row.environment,
    requestedAt: row.requestedAt.toISOString(),
    ...(row.completedAt === null ? {} : { completedAt: row.completedAt.toISOString() }),
  };
}

/** "payments-sandbox-2026-11-01-to-2026-11-30-SUCCESS-TELEBIRR-as-of-20261201T060000Z.csv" */
export function fileNameOf(report: ReportRow): string {
  const { kind, environment, startDate, endDate, statuses, channel, snapshotAt } = report;
  const days = startDate === endDate ? startDate : `${startDate}-to-${endDate}`;
  const asOf = (snapshotAt ?? report.requestedAt).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const parts = [kind, environment, days, ...(statuses ?? []), ...(channel ? [channel] : []), 'as-of', `${asOf}Z`];
  return `${parts.join('-')}.${FORMATS[report.format].extension}`;
}
