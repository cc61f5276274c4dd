import { scopeOf } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { recordEvents } from '../webhooks/events/record.ts';
import { presentReport } from './present.ts';
import type { ReportRow } from './queries.ts';

/** Records `report.ready` in the transaction that completes the report. */
export async function recordReady(tx: UnitOfWork, row: ReportRow, baseUrl: string): Promise<void> {
  const { environment, ...fields } = presentReport(row, baseUrl);
  await recordEvents(tx, [
    {
      event: 'report.ready',
      ...scopeOf(row),
      resourceType: 'report',
      resourceId: row.id,
      data: { object: 'report', environment, merchantId: row.merchantId, version: row.version, ...fields },
      createdAt: row.completedAt ?? row.requestedAt,
    },
  ]);
}
