import { toBirr } from '../lib/money.ts';
import { FORMATS } from './formats/formats.ts';
import { fileNameOf } from './formats/rendering.ts';
import type { ReportRow } from './model.ts';
import { ZONE } from './sources/columns.ts';

/** The public report. What only a file has is null until there is one; after its 30 days the link goes. */
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
    fileName: row.sha256 === null ? null : fileNameOf(row, FORMATS[row.format].extension),
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

/** `data` of a report's event. */
export function reportSnapshot(row: ReportRow, baseUrl: string) {
  const { environment, ...fields } = presentReport(row, baseUrl);
  return { object: 'report', environment, merchantId: row.merchantId, version: row.version, ...fields };
}
