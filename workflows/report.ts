import { ActivityFailure, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

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
const { giveUpReport } = proxyActivities<ReportActivities>({
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
