import {
  ActivityFailure,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';

import type { ReportActivities } from '../activities/reports.ts';
import type { ReportStatus } from '../src/reports/states.ts';
import type { ReportInput } from '../src/reports/workflow.ts';
import { publish, publishEnd } from './visibility.ts';

/** Starts the workflow; ignored by one that runs. */
export const ensureRunning = defineSignal('ensureRunning');

const { generateReport } = proxyActivities<ReportActivities>({
  startToCloseTimeout: '2 hours',
  // A killed worker stops sending heartbeats; another one then starts from the beginning.
  heartbeatTimeout: '30 s',
  retry: { initialInterval: '2 s', maximumInterval: '5 min', maximumAttempts: 10 },
});
const { giveUpReport, requestDueReports } = proxyActivities<ReportActivities>({
  startToCloseTimeout: '30 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

/** Generates one report: READY, CANCELLED by the merchant, or FAILED after ten attempts. */
export async function report({ reportId }: ReportInput): Promise<ReportStatus> {
  setHandler(ensureRunning, () => {}, { description: 'Starts the workflow; ignored while it runs' });
  publish('RUNNING', 'RUNNING: the file is being written');
  const status = await generateReport({ reportId }).catch((error: unknown) => {
    if (!(error instanceof ActivityFailure)) throw error;
    return giveUpReport({ reportId });
  });
  publishEnd(status);
  return status;
}

/**
 * Started every hour by a Temporal schedule: requests the scheduled reports that are due. After an outage a schedule has
 * several, one after the other, so it asks again while there are any.
 */
export async function dueReports(): Promise<number> {
  let requested = 0;
  for (;;) {
    const found = await requestDueReports({ atMs: Date.now() });
    requested += found;
    setCurrentDetails(`Requested ${requested} reports. Each has its own workflow "report-…".`);
    if (found === 0) return requested;
    await sleep('1 min');
  }
}
