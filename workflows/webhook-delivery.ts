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

import type { AttemptReport, DeliveryInput, ListedAttempt, WebhookActivities } from '../activities/webhooks.ts';
import { describeAttempt, describeDelivery, publish } from './visibility.ts';

const PARKED_FOR_MS = 30 * 24 * 60 * 60 * 1_000;
const RESENDS_MAX = 20;
const REASON_CHARACTERS_MAX = 500;
const LISTED_ATTEMPTS_MAX = 3;

/** Database statements only; retried until the database is available. */
const { requestResend, abandonDelivery } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '10 s',
  retry: { initialInterval: '1 s', maximumInterval: '60 s' },
});

/** Optional in the Temporal UI; a text is the reason alone. */
type ResendRequest = { reason?: string; force?: boolean } | string | null | undefined;

/** Requests one attempt now, outside the retry schedule, and returns the receiver's response. */
export const resend = defineUpdate<string, [ResendRequest]>('resend');
/** The same without a response, for batches. The workflow requests the resend in the database itself. */
export const resendRequested = defineSignal<[ResendRequest]>('resend');
/** Expedites the next attempt: the API or recovery has already changed the row. Starts a run where none is open. */
export const deliveryChanged = defineSignal('deliveryChanged');

type State = {
  /** A request for an attempt before its time. `reason`: of a resend that is not in the delivery's row yet, else null. */
  requested: { reason: string | null } | null;
  inFlight: boolean;
  resends: number;
  /** Of this run. */
  attempts: number;
  last: AttemptReport | null;
  /** The last three attempts, of earlier runs too. */
  lastAttempts: ListedAttempt[];
};

/**
 * Delivers one event to one subscription after the first attempt: the retries of the schedule, each counted from the end of
 * the last failure; then parked for a resend (docs/operations/finding-a-failed-delivery.md). For a delivery whose first
 * attempt succeeded the run only makes it visible.
 */
export async function webhookDelivery(input: DeliveryInput): Promise<string> {
  const { lastOutcome } = input;
  const lastAttempts = input.lastAttempts ?? (lastOutcome ? [lastOutcome] : []);
  const state: State = {
    requested: null,
    inFlight: false,
    resends: 0,
    attempts: 0,
    last: firstReport(input),
    lastAttempts,
  };
  registerHandlers(input, state);
  if (state.last) setCurrentDetails(describeDelivery(state.last, { ...state, ...input }));
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
  // Without a last outcome the run was started to make an attempt.
  if (!state.last) await waitUntilDue(state, input.nextAttemptAtMs, 'next attempt');
  else if ((await waitForNextAttempt(input, state, parkedSinceMs)) === 'end') return state.last.status;
  for (;;) {
    const report = await attemptOnce(input, state);
    // A run that was started to make an attempt, and had nothing to send, does not park.
    const isNothingToSend = report.kind === 'unsent' && !input.lastOutcome && state.attempts === 1;
    if (isNothingToSend && report.status === 'FAILED') return report.status;
    if ((await waitForNextAttempt(input, state, Date.now())) === 'end') return report.status;
  }
}

/** Waits until the next attempt is due or requested; parked after the last failure, for at most 30 days. */
async function waitForNextAttempt(input: DeliveryInput, state: State, parkedSinceMs: number) {
  const { status, attemptsMade, nextAttemptAtMs, httpStatus, code } = state.last as AttemptReport;
  const isOpen = (status === 'RETRYING' && nextAttemptAtMs !== null) || status === 'FAILED';
  if (isOpen && workflowInfo().continueAsNewSuggested && state.requested === null && allHandlersFinished()) {
    const lastOutcome = { ok: false, httpStatus, code };
    const next = { attemptsMade, nextAttemptAtMs, lastOutcome, parkedSinceMs, lastAttempts: state.lastAttempts };
    await continueAsNew<typeof webhookDelivery>({ ...input, ...next });
  }
  if (status === 'RETRYING' && nextAttemptAtMs !== null) {
    await waitUntilDue(state, nextAttemptAtMs, `retry ${attemptsMade} of ${input.retryDelaysSeconds.length}`);
    return 'attempt';
  }
  if (status === 'FAILED') {
    const summary = 'parked: FAILED, waiting for a resend';
    const leftMs = Math.max(parkedSinceMs + PARKED_FOR_MS - Date.now(), 0);
    if (await condition(() => state.requested !== null, leftMs, { summary })) return 'attempt';
  }
  // A running resend update either requests another attempt or completes before the workflow ends.
  await condition(() => state.requested !== null || allHandlersFinished());
  if (state.requested !== null) return 'attempt';
  if (status !== 'FAILED') return 'end';
  throw ApplicationFailure.nonRetryable('FAILED, and no resend was requested in 30 days', 'DeliveryExhausted');
}

async function waitUntilDue(state: State, dueAtMs: number | null, summary: string): Promise<void> {
  const waitMs = (dueAtMs ?? 0) - Date.now();
  if (waitMs > 0) await condition(() => state.requested !== null, waitMs, { summary });
}

/** One attempt. For a resend by signal the delivery's row is changed first. */
async function attemptOnce(input: DeliveryInput, state: State): Promise<AttemptReport> {
  const { requested } = state;
  state.requested = null;
  state.inFlight = true;
  // A rejected resend does not hold up an attempt that is due.
  if (requested && requested.reason !== null) {
    await requestResend({ deliveryId: input.deliveryId, force: false, reason: requested.reason }).catch(
      (error: unknown) => {
        if (isCancellation(error)) throw error;
      },
    );
  }
  const report = await send(input);
  state.inFlight = false;
  if (report.kind !== 'unsent') state.lastAttempts = [...state.lastAttempts, report].slice(-LISTED_ATTEMPTS_MAX);
  publish(report.status, describeDelivery(report, { ...state, ...input }), report.httpStatus);
  state.last = report;
  state.attempts += 1;
  return report;
}

/** On a task queue of its own, so that hanging receivers delay nothing else. The worker retries saving an outcome by itself. */
async function send(input: DeliveryInput): Promise<AttemptReport> {
  const { attemptDelivery } = proxyActivities<WebhookActivities>({
    taskQueue: `${workflowInfo().taskQueue}-slow`,
    startToCloseTimeout: '10 s',
    retry: { initialInterval: '1 s', maximumInterval: '60 s' },
  });
  const { deliveryId, subscriptionId, retryDelaysSeconds } = input;
  const now = { atMs: Date.now(), jitter: Math.random() };
  return attemptDelivery({ deliveryId, subscriptionId, retryDelaysSeconds, ...now });
}

function registerHandlers(input: DeliveryInput, state: State): void {
  // A resend that is not in the row yet replaces any other request, but not another one.
  const request = (reason: string | null): void => {
    if ((state.requested?.reason ?? null) === null) state.requested = { reason };
  };
  const resendNow = async (resendRequest: ResendRequest): Promise<string> => {
    state.resends += 1;
    const before = state.attempts;
    try {
      const force = typeof resendRequest === 'object' && resendRequest?.force === true;
      await requestResend({ deliveryId: input.deliveryId, force, reason: cleanReason(resendRequest) });
    } finally {
      // Also after a rejection: a try of the activity whose result was lost may have changed the row.
      request(null);
    }
    await condition(() => state.attempts > before);
    const last = state.last as AttemptReport;
    if (last.kind === 'delivered') return describeAttempt(last);
    throw ApplicationFailure.nonRetryable(describeAttempt(last), 'ResendFailed');
  };
  const validator = (resendRequest: ResendRequest): void => {
    const reason = reasonOf(resendRequest);
    if (state.inFlight || state.requested !== null)
      throw new Error('An attempt is in flight; wait for its outcome, then resend.');
    if (state.resends >= RESENDS_MAX)
      throw new Error(`At most ${RESENDS_MAX} resends in one run; use the API for more.`);
    if (typeof reason !== 'string' || reason.length > REASON_CHARACTERS_MAX)
      throw new Error(`A reason is a text of at most ${REASON_CHARACTERS_MAX} characters.`);
  };
  setHandler(resend, resendNow, {
    description:
      'Resend the event now and return the receiver\'s response. Input: { "reason"?: "…", "force"?: true }, or the reason alone',
    validator,
  });
  setHandler(resendRequested, (resendRequest) => request(cleanReason(resendRequest)), {
    description: 'Resend the event now; the update of this name also returns the response',
  });
  setHandler(deliveryChanged, () => request(null), {
    description: 'Read the delivery again and send it if an attempt is due; changes nothing else',
  });
}

const reasonOf = (request: ResendRequest): unknown => (typeof request === 'string' ? request : request?.reason) ?? '';

/** Without characters that the database rejects; '' for anything but a text. */
function cleanReason(request: ResendRequest): string {
  const reason = reasonOf(request);
  return typeof reason === 'string' ? reason.slice(0, REASON_CHARACTERS_MAX).replace(/[\p{Cc}\p{Cs}]/gu, ' ') : '';
}

/** The first attempt, which the dispatcher made before this run began. */
function firstReport({ lastOutcome, attemptsMade, nextAttemptAtMs }: DeliveryInput): AttemptReport | null {
  if (!lastOutcome) return null;
  const { ok, httpStatus, code } = lastOutcome;
  const status = ok ? 'DELIVERED' : nextAttemptAtMs === null ? 'FAILED' : 'RETRYING';
  return { kind: ok ? 'delivered' : 'failed', status, attemptsMade, nextAttemptAtMs, httpStatus, code };
}
