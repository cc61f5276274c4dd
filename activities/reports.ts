import { Context } from '@temporalio/activity';

import type { ReportStatus } from '../src/reports/states.ts';
import { refusedForGood } from './refused-for-good.ts';

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
