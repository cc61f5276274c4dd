import type { Change } from '../lib/outbox.ts';
import { ownerOf } from '../lib/owner.ts';
import { recordEvents } from '../webhooks/record.ts';
import type { ReportRow } from './model.ts';
import { reportSnapshot } from './present.ts';

/** Records that a report's file is there, in the change that made it so. */
export async function recordReady(change: Change, row: ReportRow, baseUrl: string): Promise<void> {
  await recordEvents(change, [
    {
      event: 'report.ready',
      ...ownerOf(row),
      resourceType: 'report',
      resourceId: row.id,
      data: reportSnapshot(row, baseUrl),
      createdAt: row.completedAt ?? row.requestedAt,
    },
  ]);
}
