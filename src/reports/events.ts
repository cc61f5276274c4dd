import { scopeOf } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { recordEvents } from '../webhooks/events/record.ts';
import type { ReportRow } from './model.ts';
import { reportSnapshot } from './present.ts';

/** Records that a report's file is there, in the change that made it so. */
export async function recordReady(tx: UnitOfWork, row: ReportRow, baseUrl: string): Promise<void> {
  await recordEvents(tx, [
    {
      event: 'report.ready',
      ...scopeOf(row),
      resourceType: 'report',
      resourceId: row.id,
      data: reportSnapshot(row, baseUrl),
      createdAt: row.completedAt ?? row.requestedAt,
    },
  ]);
}
