import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  defineSignal,
  defineUpdate,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';

import type { BusyAttempt, DeliveryInput, FinishedAttempt } from '../activities/webhooks.ts';
import { createAttempt, deliveryActivities, describe, showEnd, showProgress } from './delivery-steps.ts';

const PARKED_FOR = '30 days';
const RESENDS_MAX = 20;
const BUSY_MS = { first: 1_000, max: 30_000 };

/** May be left out in the Temporal UI. */
type ResendRequest = { reason?: string; force?: boolean } | null | undefined;

/** Asks for one attempt at once: brings the next retry forward, or sends a failed delivery again. */
export const resend = defineUpdate<string, [ResendRequest]>('resend');
/** The same without an answer, for resends by the API, whose rows are changed already. */
export const resendAsked = defineSignal('resend');
/** Makes sure that a run exists and looks at its row. */
export const wake = defineSignal('wake');

/** Who asked for an attempt before its time: somebody by signal, or whoever changed the row already. */
type Asked = 'by signal' | 'in the row';
type Progress = {
  asked: Asked | null;
  sending: boolean;
  resends: number;
  finished: number;
  last: FinishedAttempt | null;
};

/**
 * Carries one event to one subscription: an attempt at once, then the schedule's retries, each after the end of the
 * failure before it; then parked, waiting for somebody to resend it.
 */
export async function webhookDelivery(input: DeliveryInput): Promise<string> {
  const progress: Progress = { asked: null, sending: false, resends: 0, finished: 0, last: null };
  listen(input, progress);
  try {
    return await deliver(input, progress);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const at = Date.now();
    await CancellationScope.nonCancellable(async () =>
      deliveryActivities.giveUpDelivery({ deliveryId: input.deliveryId, atMs: at }),
    );
    showEnd('FAILED', 'its workflow was cancelled');
    throw error;
  }
}

async function deliver(input: DeliveryInput, progress: Progress): Promise<string> {
  const attempt = createAttempt(input);
  let dueAtMs = input.nextAttemptAtMs ?? 0;
  let fast = input.lane === 'fast' && input.attemptsMade === 0;
  let retry = input.attemptsMade;
  let busyMs = 0;
  for (;;) {
    await untilDue(dueAtMs, progress, `retry ${retry} of ${input.retryDelaysSeconds.length}`);
    const report = await tryOnce(input, progress, async () => attempt(fast));
    fast = false;
    busyMs = report.kind === 'busy' ? growBusy(busyMs) : 0;
    if (report.kind === 'busy') {
      dueAtMs = Date.now() + Math.max(report.retryAfterMs, busyMs);
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

async function tryOnce(
  input: DeliveryInput,
  progress: Progress,
  attempt: () => Promise<FinishedAttempt | BusyAttempt>,
): Promise<FinishedAttempt | BusyAttempt> {
  const { asked } = progress;
  progress.asked = null;
  progress.sending = true;
  if (asked === 'by signal') await askInRow(input);
  const report = await attempt();
  progress.sending = false;
  if (report.kind !== 'busy') {
    progress.last = report;
    progress.finished += 1;
    showProgress(report);
  }
  return report;
}

/** A bare signal: what the API writes before it signals is written here; refused, because it is so already, is fine. */
async function askInRow(input: DeliveryInput): Promise<void> {
  try {
    await deliveryActivities.requestResend({ deliveryId: input.deliveryId, force: false });
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}

/** Whoever is in the way is asked for ever more rarely, and not by all at the same moment. */
function growBusy(busyMs: number): number {
  return Math.min(busyMs * 2 || BUSY_MS.first, BUSY_MS.max) * (1 + Math.random() / 2);
}

/** FAILED waits here to be resent; only a run that found nothing to do from the start ends instead. */
function isParked(report: FinishedAttempt, progress: Progress): boolean {
  return (
    report.kind !== 'delivered' && report.status === 'FAILED' && !(report.kind === 'over' && progress.finished === 1)
  );
}

async function untilDue(dueAtMs: number, progress: Progress, summary: string): Promise<void> {
  const waitMs = dueAtMs - Date.now();
  if (waitMs > 0) await condition(() => progress.asked !== null, waitMs, { summary });
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

/** A resend under way when the end comes is not left waiting: either it asks for another round, or it has its answer. */
async function isAskedBeforeTheEnd(progress: Progress): Promise<boolean> {
  await condition(() => progress.asked !== null || allHandlersFinished());
  return progress.asked !== null;
}

function listen(input: DeliveryInput, progress: Progress): void {
  const askBySignal = (): void => {
    progress.asked ??= 'by signal';
  };
  const askInTheRow = (): void => {
    progress.asked ??= 'in the row';
  };
  setHandler(resendAsked, askBySignal, {
    description: 'Send the event once more now; the update of this name also answers',
  });
  setHandler(wake, askInTheRow, { description: 'Look at the delivery again: sends what is due, changes nothing else' });
  const resendNow = async (request: ResendRequest): Promise<string> => {
    progress.resends += 1;
    const before = progress.finished;
    try {
      await deliveryActivities.requestResend({ deliveryId: input.deliveryId, force: request?.force === true });
    } finally {
      // Also when it was refused: the row may have been changed by a try whose answer was lost.
      askInTheRow();
    }
    await condition(() => progress.finished > before);
    const last = progress.last;
    if (last?.kind === 'delivered') return describe(last);
    throw ApplicationFailure.nonRetryable(last ? describe(last) : 'nothing was sent', 'ResendFailed');
  };
  setHandler(resend, resendNow, {
    description: 'Send the event once more now and say what the receiver answered. Input: { "reason"?: "…" }',
    validator: (_request: ResendRequest) => {
      if (progress.sending || progress.asked !== null)
        throw new Error('An attempt is being sent; wait for its outcome, then resend.');
      if (progress.resends >= RESENDS_MAX)
        throw new Error(`At most ${RESENDS_MAX} resends in one run; use the API for more.`);
    },
  });
}
