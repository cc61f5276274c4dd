import { Context } from '@temporalio/activity';

import type { GenerateReport } from '../src/reports/generate.ts';
import type { ReportStatus } from '../src/reports/states.ts';
import { withoutUselessRetries } from './running.ts';

/** `giveUp` ends the report as FAILED. */
export type ReportDeps = { generate: GenerateReport; giveUp: (reportId: string) => Promise<ReportStatus> };

export type ReportActivities = ReturnType<typeof createReportActivities>;

export function createReportActivities({ generate, giveUp }: ReportDeps) {
  return withoutUselessRetries({
    async generateReport({ reportId }: { reportId: string }): Promise<ReportStatus> {
      const { heartbeat, cancellationSignal } = Context.current();
      return generate(reportId, (rowsDone) => {
        heartbeat(rowsDone);
        // A worker that shuts down does not finish a million rows: another one starts from the beginning.
        cancellationSignal.throwIfAborted();
      });
    },

    async giveUpReport({ reportId }: { reportId: string }): Promise<ReportStatus> {
      return giveUp(reportId);
    },
  });
}
