import { CancellationScope, isCancellation, proxyActivities, setHandler } from '@temporalio/workflow';

import type { ResendJobInput, WebhookActivities } from '../activities/webhooks.ts';
import { ensureRunning } from './report.ts';
import { publish, publishEnd } from './visibility.ts';

/** The list is worked through by one activity. It goes on from the rows when its worker dies, or when a pause of it ends. */
const { runResendJob } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '1 day',
  // A killed worker stops sending heartbeats. A pause is noticed by a heartbeat, too.
  heartbeatTimeout: '10 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});
const { stopResendJob } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '10 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

/**
 * A bulk resend: requests the attempts at the job's pace until all have ended. Cancelling the workflow stops the job; what was
 * requested still completes. Pausing its activity pauses it.
 */
export async function resendJob({ jobId }: ResendJobInput): Promise<string> {
  setHandler(ensureRunning, () => {}, { description: 'Starts the workflow; ignored while it runs' });
  publish('RUNNING', 'RUNNING: Request Cancellation stops it, and pausing the activity pauses it');
  try {
    const status = await runResendJob({ jobId });
    publishEnd(status);
    return status;
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const status = await CancellationScope.nonCancellable(async () => {
      await stopResendJob({ jobId });
      return runResendJob({ jobId });
    });
    publish(status, `${status}: its workflow was cancelled`);
    throw error;
  }
}
