import { ApplicationFailure, CancellationScope, condition, isCancellation } from '@temporalio/workflow';

import type { BusyAttempt, DeliveryInput, FinishedAttempt } from '../activities/webhooks.ts';
import { askInRow, isAskedBeforeTheEnd, listen, type Progress } from './delivery/asking.ts';
import { createAttempt, deliveryActivities } from './delivery/attempt.ts';
import { busyPauseMs } from './delivery/busy.ts';
import { showEnd, showProgress } from './delivery/showing.ts';

const PARKED_FOR = '30 days';

/**
 * Carries one event to one subscription: an attempt at once, then the schedule's retries, each after the end of the
 * failure before it; then parked, waiting for somebody to resend it (docs/operations/finding-a-failed-delivery.md).
 */
export async function webhookDelivery(input: DeliveryInput): Promise<string> {
  const progress: Progress = { asked: null, sending: false, resends: 0, finished: 0, last: null };
  listen(input, progress);
  try {
    return await deliver(input, progress);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const at = Date.now();
    const status = await CancellationScope.nonCancellable(async () =>
      deliveryActivities.giveUpDelivery({ deliveryId: input.deliveryId, atMs: at }),
    );
    // In runs of before, this step answered nothing.
    showEnd(status ?? 'FAILED', 'its workflow was cancelled');
    throw error;
  }
}

async function deliver(input: DeliveryInput, progress: Progress): Promise<string> {
  const attempt = createAttempt(input);
  let dueAtMs = input.nextAttemptAtMs ?? 0;
  let retry = input.attemptsMade;
  let busyInARow = 0;
  for (;;) {
    await untilDue(dueAtMs, progress, `retry ${retry} of ${input.retryDelaysSeconds.length}`);
    const report = await tryOnce(input, progress, attempt);
    busyInARow = report.kind === 'busy' ? busyInARow + 1 : 0;
    if (report.kind === 'busy') {
      dueAtMs = Date.now() + Math.max(report.retryAfterMs, busyPauseMs(busyInARow, Math.random()));
    } else if (report.kind === 'failed' && report.nextAttemptAtMs !== null) {
      dueAtMs = report.nextAttemptAtMs;
      retry = report.rungsUsed;
    } else if (isParked(report, progress)) {
      await untilResendAsked(progress);
      dueAtMs = 0;
    } else if (await isAskedBeforeTheEnd(progress)) {
      dueAtMs = 0;
    } else {
      return report.kind === 'delivered' ? 'DELIVERED' : report.status;
    }
  }
}

async function untilDue(dueAtMs: number, progress: Progress, summary: string): Promise<void> {
  const waitMs = dueAtMs - Date.now();
  if (waitMs > 0) await condition(() => progress.asked !== null, waitMs, { summary });
}

type Report = FinishedAttempt | BusyAttempt;

async function tryOnce(input: DeliveryInput, progress: Progress, attempt: () => Promise<Report>): Promise<Report> {
  const { asked } = progress;
  progress.asked = null;
  progress.sending = true;
  let report = await attempt();
  const isUnsent = report.kind === 'over' || report.kind === 'busy';
  if (asked === 'by signal' && isUnsent && (await askInRow(input))) report = await attempt();
  progress.sending = false;
  if (report.kind !== 'busy') {
    progress.last = report;
    progress.finished += 1;
    showProgress(report);
  }
  return report;
}

/** FAILED waits here to be resent; only a run that found nothing to do from the start ends instead. */
function isParked(report: FinishedAttempt, progress: Progress): boolean {
  return (
    report.kind !== 'delivered' && report.status === 'FAILED' && !(report.kind === 'over' && progress.finished === 1)
  );
}

async function untilResendAsked(progress: Progress): Promise<void> {
  const summary = 'parked: FAILED, waiting for a resend';
  if (await condition(() => progress.asked !== null, PARKED_FOR, { summary })) return;
  if (await isAskedBeforeTheEnd(progress)) return;
  throw ApplicationFailure.nonRetryable(
    'Every attempt failed and nobody asked for a resend in 30 days',
    'DeliveryExhausted',
  );
}
