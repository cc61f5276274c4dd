import {
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
  type WorkflowInfo,
} from '@temporalio/workflow';

import type { PaymentActivities, PaymentInput } from '../activities/payments.ts';
import { publishEnd, rereadOn } from './visibility.ts';

const FIRST_POLL_MS = 2_000;
const POLL_MAX_MS = 60_000;
/** After the session's end an unknown outcome is polled ever more rarely, for 24 h. */
const UNKNOWN_POLL_MAX_MS = 30 * 60_000;
/** About 40 polls; then the workflow continues as new with a short history. */
const HISTORY_EVENTS_MAX = 500;

/** The attempt was updated by the API process, after a callback or a hook. */
export const attemptUpdated = defineSignal('attemptUpdated');

const { checkAttempt, expireAttempt } = proxyActivities<PaymentActivities>({
  startToCloseTimeout: '15 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

/** The progress of polling: the next interval, and whether the session's time is over. */
type Progress = { pollMs: number; isOver: boolean };

/**
 * Polls one payment attempt from 2 s after its start: queries the provider after 2, 4, 8 … 60 s until the attempt is over
 * (an order that was never sent is sent), queries a last time when the session ends, and continues for up to 24 h while the
 * outcome is unknown.
 * @param continued the progress of the previous run, whose history had grown long.
 */
export async function payment(input: PaymentInput, continued?: Progress): Promise<string> {
  const wait = rereadOn([attemptUpdated, 'The attempt was updated by a callback or another query: it is read again']);
  setCurrentDetails('querying the provider');
  let { pollMs, isOver }: Progress = continued ?? { pollMs: 2 * FIRST_POLL_MS, isOver: false };
  for (;;) {
    if (!isOver && Date.now() >= input.expiresAtMs) [pollMs, isOver] = [FIRST_POLL_MS, true];
    const request = { attemptId: input.attemptId, atMs: Date.now() };
    const report = await (isOver ? expireAttempt(request) : checkAttempt(request));
    if (report.final) {
      publishEnd(report.attemptStatus);
      return report.attemptStatus;
    }
    if (isOver) {
      await wait(pollMs, 'until the next query: the session is over and the outcome unknown');
    } else {
      const untilEndMs = Math.max(input.expiresAtMs - Date.now(), 1);
      await wait(Math.min(pollMs, untilEndMs), 'until the next query: the customer may be confirming');
    }
    pollMs = Math.min(pollMs * 2, isOver ? UNKNOWN_POLL_MAX_MS : POLL_MAX_MS);
    if (isLong(workflowInfo())) await continueAsNew<typeof payment>(input, { pollMs, isOver });
  }
}

function isLong({ historyLength, continueAsNewSuggested }: WorkflowInfo): boolean {
  return continueAsNewSuggested || historyLength > HISTORY_EVENTS_MAX;
}
