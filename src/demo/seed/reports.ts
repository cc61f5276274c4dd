import { systemClock } from '../../lib/clock.ts';
import { type Database, rows } from '../../lib/db.ts';
import type { RunInTransaction } from '../../outbox/record.ts';
import type { ReportFiles } from '../../reports/files.ts';
import { createGenerateReport } from '../../reports/generate.ts';
import { readPeriod } from '../../reports/period.ts';
import { requestReport } from '../../reports/request.ts';
import { ABYSSINIA, NEW_SHOP } from './demo.ts';

type DemoReportDeps = { db: Database; runInTransaction: RunInTransaction; files: ReportFiles; baseUrl: string };

const REPORTS = [
  { kind: 'payments', format: 'CSV' },
  { kind: 'balance', format: 'XLSX' },
] as const;

/** Generates two reports of each merchant over the last full week before an instant. Completes an interrupted run. */
export async function seedReports(deps: DemoReportDeps, until: Date): Promise<void> {
  const generate = createGenerateReport({ ...deps, clock: systemClock });
  const { startDate } = readPeriod({ period: 'week' }, until);
  for (const { scope } of [ABYSSINIA, NEW_SHOP]) {
    const existing = await rows<{ id: string; kind: string }>(
      deps.db,
      'SELECT id, kind FROM report WHERE merchant_id = :merchantId AND environment = :environment',
      scope,
    );
    for (const wanted of REPORTS) {
      const request = { ...wanted, period: 'week', date: startDate, statuses: null, channel: null } as const;
      const { id } =
        existing.find(({ kind }) => kind === wanted.kind) ??
        (await deps.runInTransaction((tx) =>
          requestReport({ tx, clock: systemClock }, scope, { ...request, requestedBy: 'key_demo' }),
        ));
      await generate(id);
    }
  }
}
