import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

import type { AttemptReport, DeliveryInput, WebhookActivities } from '../activities/webhooks.ts';
import { publish } from './visibility.ts';

const PARKED_FOR_MS = 30 * 24 * 60 * 60 * 1_000;
const RESENDS_MAX = 20;
const REASON_CHARACTERS_MAX = 500;

/** Statements only; retried until the database answers. */
const { requestResend, abandonDelivery } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '10 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s', nonRetryableErrorTypes: ['ResendRejected'] },
});

/** May be left out in the Temporal UI; a text is the reason alone. */
type ResendRequest = { reason?: string; force?: boolean } | string | null | undefined;

/** Requests one attempt at once, beside the retry schedule, and returns the receiver's answer. */
export const resend = defineUpdate<string, [ResendRequest]>('resend');
/** The same without an answer, for batches: the row is changed here. The API changes it before it sends `wake`. */
export const resendRequested = defineSignal<[ResendRequest]>('resend');
/** Makes sure that a run exists and looks at its row. */
export const deliveryChanged = defineSignal('deliveryChanged');

type State = {
  /**
   * An attempt was requested before its time. `rowChanged`: the delivery's row says so already. `reason`: an operator's, ''
   * for none; null when no operator did.
   */
  requested: { rowChanged: boolean; reason: string | null } | null;
  inFlight: boolean;
  resends: number;
  /** Attempts of this run. */
  attempts: number;
  last: AttemptReport | null;
};

/**
 * Carries one event to one subscription after its first attempt: the schedule's retries, each after the end of the
 * failure before it; then parked, waiting for a resend (docs/operations/finding-a-failed-delivery.md). A run for a
 * delivery that was made at once only shows it.
 */
export async function webhookDelivery(input: DeliveryInput): Promise<string> {
  const state: State = { requested: null, inFlight: false, resends: 0, attempts: 0, last: firstReport(input) };
  registerHandlers(input, state);
  if (state.last) setCurrentDetails(describe(state.last));
  try {
    return await deliver(input, state);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const request = { deliveryId: input.deliveryId, atMs: Date.now() };
    const status = await CancellationScope.nonCancellable(async () => abandonDelivery(request));
    publish(status, `${status}: its workflow was cancelled`);
    throw error;
  }
}

async function deliver(input: DeliveryInput, state: State): Promise<string> {
  const parkedSinceMs = input.parkedSinceMs ?? Date.now();
  // Without a last outcome it was started to make an attempt.
  if (!state.last) await untilDue(state, input.nextAttemptAtMs, 'next attempt');
  else if ((await untilNextAttempt(input, state, parkedSinceMs)) === 'end') return state.last.status;
  for (;;) {
    const report = await attempt(input, state);
    // A run that was started for an attempt and found none to make does not park.
    const isNothingToSend = report.kind === 'unsent' && !input.lastOutcome && state.attempts === 1;
    if (isNothingToSend && report.status === 'FAILED') return report.status;
    if ((await untilNextAttempt(input, state, Date.now())) === 'end') return report.status;
  }
}

/** Waits until the next attempt is due or requested: parked, for 30 days. */
async function untilNextAttempt(input: DeliveryInput, state: State, parkedSinceMs: number): Promise<'attempt' | 'end'> {
  const { status, attemptsMade, nextAttemptAtMs, httpStatus, code } = state.last as AttemptReport;
  const goesOn = (status === 'RETRYING' && nextAttemptAtMs !== null) || status === 'FAILED';
  if (goesOn && workflowInfo().continueAsNewSuggested && state.requested === null && allHandlersFinished()) {
    const lastOutcome = { ok: false, httpStatus, code };
    const next = { attemptsMade, nextAttemptAtMs, lastOutcome, parkedSinceMs };
    await continueAsNew<typeof webhookDelivery>({ ...input, ...next });
  }
  if (status === 'RETRYING' && nextAttemptAtMs !== null) {
    await untilDue(state, nextAttemptAtMs, `retry ${attemptsMade} of ${input.retryDelaysSeconds.length}`);
    return 'attempt';
  }
  if (status === 'FAILED') {
    const summary = 'parked: FAILED, waiting for a resend';
    const leftMs = Math.max(parkedSinceMs + PARKED_FOR_MS - Date.now(), 0);
    if (await condition(() => state.requested !== null, leftMs, { summary })) return 'attempt';
  }
  // A resend that is under way when the end comes either requests another attempt or has its answer.
  await condition(() => state.requested !== null || allHandlersFinished());
  if (state.requested !== null) return 'attempt';
  if (status !== 'FAILED') return 'end';
  throw ApplicationFailure.nonRetryable('FAILED, and no resend was requested in 30 days', 'DeliveryExhausted');
}

async function untilDue(state: State, dueAtMs: number | null, summary: string): Promise<void> {
  const waitMs = (dueAtMs ?? 0) - Date.now();
  if (waitMs > 0) await condition(() => state.requested !== null, waitMs, { summary });
}

/** One attempt. For a bare signal the delivery's row is changed first. */
async function attempt(input: DeliveryInput, state: State): Promise<AttemptReport> {
  const { requested } = state;
  state.requested = null;
  state.inFlight = true;
  // Where it is rejected, what is due is sent all the same.
  if (requested?.rowChanged === false) {
    await requestResend({ deliveryId: input.deliveryId, force: false }).catch((error: unknown) => {
      if (isCancellation(error)) throw error;
    });
  }
  const report = await send(input, requested?.reason ?? null);
  state.inFlight = false;
  publish(report.status, describe(report), report.httpStatus);
  state.last = report;
  state.attempts += 1;
  return report;
}

/** On slots of its own, so that hanging receivers hold up nothing else. The worker keeps what it sent until it is saved. */
async function send(input: DeliveryInput, reason: string | null): Promise<AttemptReport> {
  const { attemptDelivery } = proxyActivities<WebhookActivities>({
    taskQueue: `${workflowInfo().taskQueue}-slow`,
    startToCloseTimeout: '10 s',
    retry: { initialInterval: '1 s', maximumInterval: '60 s' },
  });
  const { deliveryId, subscriptionId, retryDelaysSeconds } = input;
  const now = { atMs: Date.now(), jitter: Math.random() };
  return attemptDelivery({ deliveryId, subscriptionId, retryDelaysSeconds, reason, ...now });
}

function registerHandlers(input: DeliveryInput, state: State): void {
  // An operator's request takes the place of a wake, not of another one.
  const request = (next: NonNullable<State['requested']>): void => {
    if ((state.requested?.reason ?? null) === null) state.requested = next;
  };
  const resendNow = async (pendingRequests: ResendRequest): Promise<string> => {
    state.resends += 1;
    const before = state.attempts;
    try {
      await requestResend({
        deliveryId: input.deliveryId,
        force: typeof pendingRequests === 'object' && pendingRequests?.force === true,
      });
    } finally {
      // Also when it was rejected: the row may have been changed by a try whose answer was lost.
      request({ rowChanged: true, reason: cleanReason(reasonOf(pendingRequests)) });
    }
    await condition(() => state.attempts > before);
    const last = state.last as AttemptReport;
    if (last.kind === 'delivered') return describe(last);
    throw ApplicationFailure.nonRetryable(describe(last), 'ResendFailed');
  };
  setHandler(resend, resendNow, {
    description:
      'Send the event once more now and return the receiver\'s answer. Input: { "reason"?: "…", "force"?: true }, or the reason alone',
    validator: (pendingRequests: ResendRequest) => {
      if (state.inFlight || state.requested !== null)
        throw new Error('An attempt is being sent; wait for its outcome, then resend.');
      if (state.resends >= RESENDS_MAX)
        throw new Error(`At most ${RESENDS_MAX} resends in one run; use the API for more.`);
      const reason: unknown = reasonOf(pendingRequests) ?? '';
      if (typeof reason !== 'string' || reason.length > REASON_CHARACTERS_MAX)
        throw new Error(`A reason is a text of at most ${REASON_CHARACTERS_MAX} characters.`);
    },
  });
  const requestBySignal = (pendingRequests: ResendRequest): void =>
    request({ rowChanged: false, reason: cleanReason(reasonOf(pendingRequests)) });
  setHandler(resendRequested, requestBySignal, {
    description: 'Send the event once more now; the update of this name also returns the answer',
  });
  setHandler(deliveryChanged, () => request({ rowChanged: true, reason: null }), {
    description: 'Look at the delivery again: sends what is due, changes nothing else',
  });
}

const reasonOf = (pendingRequests: ResendRequest): unknown =>
  typeof pendingRequests === 'string' ? pendingRequests : pendingRequests?.reason;

/** As the database takes it; '' for what is no text. */
function cleanReason(reason: unknown): string {
  return typeof reason === 'string' ? reason.slice(0, REASON_CHARACTERS_MAX).replace(/[\p{Cc}\p{Cs}]/gu, ' ') : '';
}

/** The first attempt, which was made before this run began. */
function firstReport({ lastOutcome, attemptsMade, nextAttemptAtMs }: DeliveryInput): AttemptReport | null {
  if (!lastOutcome) return null;
  const { ok, httpStatus, code } = lastOutcome;
  const status = ok ? 'DELIVERED' : nextAttemptAtMs === null ? 'FAILED' : 'RETRYING';
  return { kind: ok ? 'delivered' : 'failed', status, attemptsMade, nextAttemptAtMs, httpStatus, code };
}

/** One sentence for people. */
function describe({ kind, status, httpStatus, code, nextAttemptAtMs }: AttemptReport): string {
  if (kind === 'delivered') return `DELIVERED: the receiver answered ${httpStatus ?? '2xx'}`;
  if (kind === 'unsent') return `${status}: nothing was sent`;
  const what = code === 'http_status' ? `HTTP ${httpStatus}` : code;
  const next =
    nextAttemptAtMs === null ? 'no automatic retry is left' : `next attempt ${new Date(nextAttemptAtMs).toISOString()}`;
  return `${status}: last failure ${what}; ${next}`;
}
