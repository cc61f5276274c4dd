import { Context } from '@temporalio/activity';

import type { GenerateReport } from '../src/reports/generate.ts';
import type { ReportStatus } from '../src/reports/states.ts';
import { withoutUselessRetries } from './running.ts';

export type ReportDeps = {
  generate: GenerateReport;
  /** Ends the report as FAILED. */
  giveUp: (reportId: string) => Promise<ReportStatus>;
  /** Requests the scheduled reports that are due at this time. Returns how many. */
  requestDue: (at: Date, stopping: AbortSignal) => Promise<number>;
};

export type ReportActivities = ReturnType<typeof createReportActivities>;

export function createReportActivities({ generate, giveUp, requestDue }: ReportDeps) {
  return withoutUselessRetries({
    async generateReport({ reportId }: { reportId: string }): Promise<ReportStatus> {
      const { heartbeat, cancellationSignal } = Context.current();
      return generate(reportId, (rowsDone) => {
        heartbeat(rowsDone);
        // A worker that shuts down does not finish a million rows: another one starts from the beginning.
        cancellationSignal.throwIfAborted();
      });
    },

    async requestDueReports({ atMs }: { atMs: number }): Promise<number> {
      return requestDue(new Date(atMs), Context.current().cancellationSignal);
    },

    async giveUpReport({ reportId }: { reportId: string }): Promise<ReportStatus> {
      return giveUp(reportId);
    },
  });
}
