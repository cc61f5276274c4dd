import { ApplicationFailure, Context } from '@temporalio/activity';

import { AppError } from '../src/lib/errors.ts';
import type { ReportStatus } from '../src/reports/states.ts';

export type { ReportInput } from '../src/reports/workflow-input.ts';

export type ReportDeps = {
  /** Makes it, from its beginning; tells how far it is. */
  make: (reportId: string, onProgress: (rowsDone: number) => void) => Promise<ReportStatus>;
  /** Ends it as FAILED. */
  giveUp: (reportId: string) => Promise<ReportStatus>;
};

export type ReportActivities = ReturnType<typeof createReportActivities>;

export function createReportActivities(deps: ReportDeps) {
  return {
    async makeReport({ reportId }: { reportId: string }): Promise<ReportStatus> {
      return refusedForGood(() => deps.make(reportId, (rowsDone) => Context.current().heartbeat(rowsDone)));
    },

    async giveUpReport({ reportId }: { reportId: string }): Promise<ReportStatus> {
      return refusedForGood(() => deps.giveUp(reportId));
    },
  };
}

/** What is wrong with the input stays wrong, so it is not retried; all else is. */
async function refusedForGood<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  }
}
