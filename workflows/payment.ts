import { defineSearchAttributeKey } from '@temporalio/common';
import {
  condition,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';

import type { PaymentActivities, PaymentInput } from '../activities/payments.ts';

const BUSINESS_STATUS = defineSearchAttributeKey('BusinessStatus', 'KEYWORD');

const FIRST_POLL_MS = 2_000;
const POLL_MAX_MS = 60_000;
/** After the end, doubt is asked about ever more rarely, until the operation gives up after 24 h. */
const DOUBT_POLL_MAX_MS = 30 * 60_000;

/** The attempt was settled elsewhere: by a callback or a hook in the API process. */
export const settled = defineSignal('settled');

const { checkAttempt, expireAttempt } = proxyActivities<PaymentActivities>({
  startToCloseTimeout: '15 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

/**
 * Owns one payment attempt's clock: initiates it, polls the provider while nobody calls back (2, 4, 8 … 60 s), asks a
 * last time when the session ends, and while the answer is unknown goes on asking for up to 24 h.
 */
export async function payment(input: PaymentInput): Promise<string> {
  let told = false;
  setHandler(
    settled,
    () => {
      told = true;
    },
    { description: 'The attempt was settled by a callback or a check elsewhere: read it again' },
  );
  const wait = async (ms: number, summary: string): Promise<void> => {
    setCurrentDetails(`${summary}, ${new Date(Date.now() + ms).toISOString()}`);
    await condition(() => told, ms, { summary });
    told = false;
  };

  setCurrentDetails('sending the order to the provider');
  let pollMs = FIRST_POLL_MS;
  while (Date.now() < input.expiresAtMs) {
    const report = await checkAttempt({ attemptId: input.attemptId, atMs: Date.now() });
    if (report.final) return ended(report.attemptStatus);
    await wait(
      Math.max(Math.min(pollMs, input.expiresAtMs - Date.now()), 1),
      'wait for the customer, then ask the provider',
    );
    pollMs = Math.min(pollMs * 2, POLL_MAX_MS);
  }

  pollMs = FIRST_POLL_MS;
  for (;;) {
    const report = await expireAttempt({ attemptId: input.attemptId, atMs: Date.now() });
    if (report.final) return ended(report.attemptStatus);
    await wait(pollMs, 'session over, the provider has not said unpaid: ask again');
    pollMs = Math.min(pollMs * 2, DOUBT_POLL_MAX_MS);
  }
}

/** What operators see of it in the Temporal UI. */
function ended(attemptStatus: string): string {
  upsertSearchAttributes([{ key: BUSINESS_STATUS, value: attemptStatus }]);
  setCurrentDetails(`${attemptStatus}: nothing is waited for any more`);
  return attemptStatus;
}
