import { z } from 'zod';

import { scopeOf } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { snapshotFields } from '../webhooks/events/catalogue.ts';
import { recordEvents } from '../webhooks/events/record.ts';
import { presentReport } from './present.ts';
import type { ReportRow } from './queries.ts';
import { readyReport } from './schema.ts';

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

/** A report in its event. */
const ReportData = z.strictObject({ object: z.literal('report'), ...snapshotFields, ...readyReport });

const ready: z.output<typeof ReportData> = {
  object: 'report',
  environment: 'sandbox',
  merchantId: 'mrc_01JD8Q4T5V6W7X8Y9Z0A1B2C3D',
  version: 3,
  reportId: 'rpt_01JHMW8T5V6W7X8Y9Z0A1B2C3H',
  kind: 'payments',
  format: 'CSV',
  period: 'month',
  startDate: '2024-12-01',
  endDate: '2024-12-31',
  timeZone: 'Africa/Addis_Ababa',
  filters: { status: 'SUCCESS', channel: 'ALL' },
  status: 'READY',
  rowsDone: 12_406,
  rowsTotal: 12_406,
  totals: {
    amount: 5_214_880.5,
    receivedAmount: 5_214_880.5,
    fee: 130_372.01,
    feeTax: 19_555.8,
    netAmount: 5_064_952.69,
  },
  snapshotAt: '2025-01-15T09:30:00.412Z',
  fileName: 'payments-sandbox-2024-12-01-to-2024-12-31-SUCCESS-as-of-20250115T093000Z.csv',
  fileSize: 4_311_206,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  fileUrl: 'https://pay.example.et/api/checkout/reports/rpt_01JHMW8T5V6W7X8Y9Z0A1B2C3H/file',
  expiresAt: '2025-02-14T09:30:02.000Z',
  requestedAt: '2025-01-15T09:30:00.000Z',
  completedAt: '2025-01-15T09:30:02.000Z',
};

/** Every event of a report: its meaning, the schema of its `data` and an example. */
export const REPORT_EVENTS = {
  'report.ready': {
    description: 'The file of a report is ready: download it from fileUrl within 30 days.',
    data: ReportData,
    example: ready,
  },
} as const;
