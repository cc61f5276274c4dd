import { Context } from '@temporalio/activity';

import type { ReportStatus } from '../src/reports/states.ts';
import { asNonRetryable } from './non-retryable.ts';

export type { ReportInput } from '../src/reports/workflow-input.ts';

export type ReportDeps = {
  /** Makes it, from its beginning; tells how far it is to whom may stop it by throwing. */
  generate: (reportId: string, onProgress: (rowsDone: number) => void) => Promise<ReportStatus>;
  /** Ends it as FAILED. */
  giveUp: (reportId: string) => Promise<ReportStatus>;
};

export type ReportActivities = ReturnType<typeof createReportActivities>;

export function createReportActivities(deps: ReportDeps) {
  return {
    async generateReport({ reportId }: { reportId: string }): Promise<ReportStatus> {
      const { heartbeat, cancellationSignal } = Context.current();
      return asNonRetryable(() =>
        deps.generate(reportId, (rowsDone) => {
          heartbeat(rowsDone);
          // A worker that is shut down does not wait for a million rows: another one begins anew.
          cancellationSignal.throwIfAborted();
        }),
      );
    },

    async giveUpReport({ reportId }: { reportId: string }): Promise<ReportStatus> {
      return asNonRetryable(() => deps.giveUp(reportId));
    },
  };
}
