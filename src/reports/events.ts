import { z } from 'zod';

import { scopeOf } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { snapshotFields } from '../webhooks/events/catalogue.ts';
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

/** A report in its event. */
export const ReportData = z.strictObject({
  object: z.literal('report'),
  ...snapshotFields,
  reportId: z.string(),
  kind: z.enum(['payments', 'withdrawals', 'settlements', 'balance']),
  format: z.enum(['CSV', 'XLSX', 'JSON', 'PDF']),
  period: z.enum(['day', 'week', 'month', 'quarter', 'custom']),
  startDate: z.iso.date(),
  endDate: z.iso.date(),
  timeZone: z.string().meta({ description: 'Of the days and local times' }),
  filters: z.strictObject({ status: z.string(), channel: z.string() }),
  status: z.literal('READY'),
  rowsDone: z.int(),
  rowsTotal: z.int(),
  totals: z.record(z.string(), z.number()).meta({ description: 'ETB by column: the sum of its cells' }),
  snapshotAt: z.iso.datetime().meta({ description: 'All rows are of this instant' }),
  fileName: z.string(),
  fileSize: z.int().meta({ description: 'Bytes' }),
  sha256: z.string().meta({ description: "Of the file's bytes, in hex" }),
  fileUrl: z.string().meta({ description: 'Needs an API key with reports:read' }),
  expiresAt: z.iso.datetime().meta({ description: 'When the file is removed' }),
  requestedAt: z.iso.datetime(),
  completedAt: z.iso.datetime(),
});
export type ReportData = z.output<typeof ReportData>;

const ready: ReportData = {
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
