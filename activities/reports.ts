import { Context } from '@temporalio/activity';

import type { ReportStatus } from '../src/reports/states.ts';
import { withoutUselessRetries } from './running.ts';

export type ReportDeps = {
  /** Generates the file from the start; an error that `onProgress` throws stops the run. */
  generate: (reportId: string, onProgress: (rowsDone: number) => void) => Promise<ReportStatus>;
  /** Ends the report as FAILED. */
  giveUp: (reportId: string) => Promise<ReportStatus>;
};

export type ReportActivities = ReturnType<typeof createReportActivities>;

export function createReportActivities(deps: ReportDeps) {
  return withoutUselessRetries({
    async generateReport({ reportId }: { reportId: string }): Promise<ReportStatus> {
      const { heartbeat, cancellationSignal } = Context.current();
      return deps.generate(reportId, (rowsDone) => {
        heartbeat(rowsDone);
        // A worker that shuts down does not finish a million rows: another one starts from the beginning.
        cancellationSignal.throwIfAborted();
      });
    },

    async giveUpReport({ reportId }: { reportId: string }): Promise<ReportStatus> {
      return deps.giveUp(reportId);
    },
  });
}
