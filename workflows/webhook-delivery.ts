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
import { createAttempt, deliveryActivities, describe, showProgress } from './delivery-steps.ts';

const PARKED_FOR = '30 days';
const RESENDS_MAX = 20;

/** May be left out in the Temporal UI. */
type ResendRequest = { reason?: string; force?: boolean } | null | undefined;

/** Asks for one attempt at once: brings the next retry forward, or sends a failed delivery again. */
export const resend = defineUpdate<string, [ResendRequest]>('resend');
/** The same without an answer, for resends by the API, whose rows are changed already. */
export const resendAsked = defineSignal('resend');
/** Makes sure that a run exists; tells an existing one nothing new. */
export const wake = defineSignal('wake');

type Progress = { asked: boolean; sending: boolean; resends: number; finished: number; last: FinishedAttempt | null };

/**
 * Carries one event to one subscription: an attempt at once, then the schedule's retries, each after the end of the
 * failure before it; then parked, waiting for somebody to resend it (webhooks.md 4–6).
 */
export async function webhookDelivery(input: DeliveryInput): Promise<string> {
  const progress: Progress = { asked: false, sending: false, resends: 0, finished: 0, last: null };
  listen(input, progress);
  try {
    const end = await deliver(input, progress);
    await condition(allHandlersFinished);
    return end;
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const at = Date.now();
    await CancellationScope.nonCancellable(async () =>
      deliveryActivities.giveUpDelivery({ deliveryId: input.deliveryId, atMs: at }),
    );
    throw error;
  }
}

async function deliver(input: DeliveryInput, progress: Progress): Promise<string> {
  const attempt = createAttempt(input);
  let dueAtMs = input.nextAttemptAtMs ?? 0;
  let fast = input.lane === 'fast' && input.attemptsMade === 0;
  let retry = input.attemptsMade;
  for (;;) {
    await untilDue(dueAtMs, progress, `retry ${retry} of ${input.retryDelaysSeconds.length}`);
    const report = await tryOnce(() => attempt(fast), progress);
    fast = false;
    if (report.kind === 'busy') {
      dueAtMs = Date.now() + report.retryAfterMs;
    } else if (report.kind === 'failed' && report.nextAttemptAtMs !== null) {
      dueAtMs = report.nextAttemptAtMs;
      retry = report.rungsUsed;
    } else if (isParked(report, progress)) {
      await untilResendAsked(progress);
      dueAtMs = 0;
    } else {
      return report.kind === 'delivered' ? 'DELIVERED' : report.status;
    }
  }
}

async function tryOnce(
  attempt: () => Promise<FinishedAttempt | BusyAttempt>,
  progress: Progress,
): Promise<FinishedAttempt | BusyAttempt> {
  progress.asked = false;
  progress.sending = true;
  const report = await attempt();
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

async function untilDue(dueAtMs: number, progress: Progress, summary: string): Promise<void> {
  const waitMs = dueAtMs - Date.now();
  if (waitMs > 0) await condition(() => progress.asked, waitMs, { summary });
}

async function untilResendAsked(progress: Progress): Promise<void> {
  if (await condition(() => progress.asked, PARKED_FOR, { summary: 'parked: FAILED, waiting for a resend' })) return;
  await condition(allHandlersFinished);
  throw ApplicationFailure.nonRetryable(
    'Every attempt failed and nobody asked for a resend in 30 days',
    'DeliveryExhausted',
  );
}

function listen(input: DeliveryInput, progress: Progress): void {
  const ask = (): void => {
    progress.asked = true;
  };
  setHandler(resendAsked, ask, {
    description: 'Send the event once more now (used by the API; prefer the update of this name)',
  });
  setHandler(wake, () => {}, { description: 'Makes sure that this delivery has a running workflow; changes nothing' });
  const resendNow = async (request: ResendRequest): Promise<string> => {
    progress.resends += 1;
    await deliveryActivities.requestResend({ deliveryId: input.deliveryId, force: request?.force === true });
    const before = progress.finished;
    ask();
    await condition(() => progress.finished > before);
    const last = progress.last;
    if (last?.kind === 'delivered') return describe(last);
    throw ApplicationFailure.nonRetryable(last ? describe(last) : 'nothing was sent', 'ResendFailed');
  };
  setHandler(resend, resendNow, {
    description: 'Send the event once more now and say what the receiver answered. Input: { "reason"?: "…" }',
    validator: (_request: ResendRequest) => {
      if (progress.sending || progress.asked)
        throw new Error('An attempt is being sent; wait for its outcome, then resend.');
      if (progress.resends >= RESENDS_MAX)
        throw new Error(`At most ${RESENDS_MAX} resends in one run; use the API for more.`);
    },
  });
}
