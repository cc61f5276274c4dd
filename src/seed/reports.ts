import { systemClock } from '../lib/clock.ts';
import { rows, type Knex } from '../lib/db.ts';
import type { RunChange } from '../lib/outbox.ts';
import { askForReport } from '../reports/ask.ts';
import type { ReportFiles } from '../reports/files.ts';
import { createMakeReport } from '../reports/make.ts';
import { readPeriod } from '../reports/period.ts';
import { ABYSSINIA, NEW_SHOP, type DemoMerchant } from './demo.ts';

export type DemoReportDeps = { db: Knex; runChange: RunChange; files: ReportFiles; baseUrl: string };

const WANTED = [
  { kind: 'payments', format: 'CSV' },
  { kind: 'balance', format: 'XLSX' },
] as const;

/**
 * Makes two reports of each merchant over the last week that was over at an instant, by the operations that make
 * today's: files of what is there as it is now. What an earlier run has begun is finished.
 */
export async function makeDemoReports(deps: DemoReportDeps, until: Date): Promise<void> {
  for (const merchant of [ABYSSINIA, NEW_SHOP]) await makeReports(deps, merchant, until);
}

async function makeReports(deps: DemoReportDeps, { owner }: DemoMerchant, until: Date): Promise<void> {
  const make = createMakeReport({ ...deps, clock: systemClock });
  const begun = await rows<{ id: string; kind: string }>(
    deps.db,
    'SELECT id, kind FROM report WHERE merchant_id = :merchantId AND environment = :environment',
    owner,
  );
  const { startDate } = readPeriod({ period: 'week' }, until);
  for (const wanted of WANTED) {
    const asked = { ...wanted, period: 'week', date: startDate, statuses: null, channel: null } as const;
    const { id } =
      begun.find(({ kind }) => kind === wanted.kind) ??
      (await deps.runChange((change) =>
        askForReport({ change, clock: systemClock }, owner, { ...asked, requestedBy: 'key_demo' }),
      ));
    await make(id);
  }
}
