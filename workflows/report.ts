import { ActivityFailure, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

import type { ReportActivities, ReportInput } from '../activities/reports.ts';
import type { ReportStatus } from '../src/reports/states.ts';
import { publish, publishEnd } from './visibility.ts';

/** Somebody waits for it: what starts the workflow, and does nothing to one that runs. */
export const ensureRunning = defineSignal('ensureRunning');

const { generateReport } = proxyActivities<ReportActivities>({
  startToCloseTimeout: '2 hours',
  // A worker that was killed is noticed by its silence: another begins anew.
  heartbeatTimeout: '30 s',
  retry: { initialInterval: '2 s', maximumInterval: '5 min', maximumAttempts: 10 },
});
const { giveUpReport } = proxyActivities<ReportActivities>({
  startToCloseTimeout: '30 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

/** Owns one report until its file is there, it was cancelled, or it cannot be made however often it is tried. */
export async function report({ reportId }: ReportInput): Promise<ReportStatus> {
  setHandler(ensureRunning, () => {}, { description: 'Somebody waits for it: nothing to be done, it is being made' });
  publish('RUNNING', 'RUNNING: the file is being written');
  const status = await generateReport({ reportId }).catch((error: unknown) => {
    if (!(error instanceof ActivityFailure)) throw error;
    return giveUpReport({ reportId });
  });
  publishEnd(status);
  return status;
}
