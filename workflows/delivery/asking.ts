import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  defineSignal,
  defineUpdate,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';

import type { DeliveryInput, FinishedAttempt } from '../../activities/webhooks.ts';
import { deliveryActivities } from './attempt.ts';
import { describe } from './showing.ts';

const RESENDS_MAX = 20;

/** May be left out in the Temporal UI. */
type ResendRequest = { reason?: string; force?: boolean } | null | undefined;

/** Asks for one attempt at once: brings the next retry forward, or sends a failed delivery again. */
export const resend = defineUpdate<string, [ResendRequest]>('resend');
/** The same without an answer. The API changes the row before it signals; for a bare signal the row is changed here. */
export const resendAsked = defineSignal('resend');
/** Makes sure that a run exists and looks at its row. */
export const wake = defineSignal('wake');

/** Who asked for an attempt before its time: somebody by signal, or whoever changed the row already. */
type Asked = 'by signal' | 'in the row';
export type Progress = {
  asked: Asked | null;
  sending: boolean;
  resends: number;
  finished: number;
  last: FinishedAttempt | null;
};

/** Hears everybody who asks: by update, by signal, by waking. */
export function listen(input: DeliveryInput, progress: Progress): void {
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

/** A bare signal: what the API writes before it signals is written here. False when it is refused: an attempt is under way, say. */
export async function askInRow(input: DeliveryInput): Promise<boolean> {
  try {
    await deliveryActivities.requestResend({ deliveryId: input.deliveryId, force: false });
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return false;
  }
}

/** A resend under way when the end comes is not left waiting: either it asks for another round, or it has its answer. */
export async function isAskedBeforeTheEnd(progress: Progress): Promise<boolean> {
  await condition(() => progress.asked !== null || allHandlersFinished());
  return progress.asked !== null;
}
