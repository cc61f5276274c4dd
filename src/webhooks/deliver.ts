import { decrypt, type KeyRing } from '../lib/crypto.ts';
import type { Claim, ClaimedAttempt, ClaimRequest, Lane } from './claim.ts';
import { unsentResult } from './exchange.ts';
import type { AttemptOutcome, SavedDelivery } from './save.ts';
import type { Sender, SendResult } from './send.ts';
import { signedRequest } from './signature.ts';
import type { DeliveryStatus } from './states.ts';

export type AttemptRequest = {
  deliveryId: string;
  /** Business time: the workflow's clock, or the machine's in the direct lane. */
  startedAtMs: number;
  retryDelaysSeconds: readonly number[];
  /** 0 … 1, drawn by the caller: spreads the next retry by up to 5 %, at most 60 s, never earlier. */
  jitter: number;
  lane: Lane;
};

/** An attempt that says something about the delivery. Expected failures are answers, not exceptions. */
export type FinishedAttempt =
  | { kind: 'delivered'; httpStatus: number | null }
  | {
      kind: 'failed';
      status: DeliveryStatus;
      rungsUsed: number;
      nextAttemptAtMs: number | null;
      code: string;
      httpStatus: number | null;
    }
  /** Nothing is asked of this delivery (any more). */
  | { kind: 'over'; status: DeliveryStatus };

/** Nothing was sent: another attempt of this delivery is being sent, or the subscription has its share in progress. */
export type BusyAttempt = { kind: 'busy'; retryAfterMs: number };

/** It was sent, but the outcome could not be saved: keep it and save it, never send again. */
export type UnsavedAttempt = { kind: 'unsaved'; outcome: AttemptOutcome };

export type AttemptReport = FinishedAttempt | BusyAttempt | UnsavedAttempt;

export type DeliverDeps = {
  claim: (request: ClaimRequest) => Promise<Claim>;
  save: (outcome: AttemptOutcome) => Promise<SavedDelivery>;
  sender: Sender;
  keyRing: KeyRing;
  /** `unsent`: the request could not even be made. `unsaved`: it was sent, but saving what became of it failed. */
  onProblem: (problem: 'unsent' | 'unsaved', deliveryId: string, error: unknown) => void;
};

/** One attempt: claim, sign, send, save. Two statements; throws only when the claim itself fails. */
export function createAttemptDelivery(deps: DeliverDeps): (request: AttemptRequest) => Promise<AttemptReport> {
  return async (request) => {
    const claim = await deps.claim({
      deliveryId: request.deliveryId,
      startedAt: new Date(request.startedAtMs),
      lane: request.lane,
    });
    if ('over' in claim) return { kind: 'over', status: claim.over };
    if ('busyMs' in claim) return { kind: 'busy', retryAfterMs: claim.busyMs };
    const outcome = await sendClaimed(deps, claim.attempt, request);
    try {
      return reportOf(outcome, await deps.save(outcome));
    } catch (error) {
      deps.onProblem('unsaved', request.deliveryId, error);
      // The workflow's history holds ids and numbers only: the receiver's words are given up here.
      return { kind: 'unsaved', outcome: { ...outcome, responseHeaders: {}, responseExcerpt: '' } };
    }
  };
}

/** How a saved outcome reads to whoever asked for the attempt. */
export function reportOf(outcome: AttemptOutcome, saved: SavedDelivery): FinishedAttempt {
  if (outcome.ok) return { kind: 'delivered', httpStatus: outcome.httpStatus };
  return {
    kind: 'failed',
    status: saved.status,
    rungsUsed: saved.rungsUsed,
    nextAttemptAtMs: saved.nextAttemptAt?.getTime() ?? null,
    code: outcome.failure?.code ?? 'http_status',
    httpStatus: outcome.httpStatus,
  };
}

async function sendClaimed(
  deps: DeliverDeps,
  attempt: ClaimedAttempt,
  request: AttemptRequest,
): Promise<AttemptOutcome> {
  const sent = await signAndSend(deps, attempt).catch((error: unknown) => {
    // A secret that cannot be opened, say: an attempt that failed, like others, or it would be claimed for ever.
    deps.onProblem('unsent', attempt.deliveryId, error);
    return unsentResult({ code: 'internal', message: 'Nothing was sent: the request could not be made here.' });
  });
  const durationMs = Math.round(sent.durationMs);
  const endedAtMs = request.startedAtMs + durationMs;
  return {
    attemptId: attempt.attemptId,
    deliveryId: attempt.deliveryId,
    subscriptionId: attempt.subscriptionId,
    lane: request.lane,
    ok: sent.ok,
    httpStatus: sent.httpStatus,
    failure: sent.failure,
    startedAt: attempt.startedAt.toISOString(),
    endedAt: new Date(endedAtMs).toISOString(),
    durationMs,
    timings: sent.timings,
    responseHeaders: sent.responseHeaders,
    responseExcerpt: sent.responseExcerpt,
    nextAttemptAt: sent.ok || attempt.manual ? null : nextAttemptAt(endedAtMs, attempt.rungsUsed, request),
  };
}

async function signAndSend({ sender, keyRing }: DeliverDeps, attempt: ClaimedAttempt): Promise<SendResult> {
  const owner = attempt.subscriptionId;
  const { body, headers } = signedRequest({
    payload: attempt.payload,
    eventId: attempt.eventId,
    attemptAt: attempt.startedAt,
    secret: decrypt(keyRing, owner, attempt.secret),
    previousSecret: attempt.previousSecret ? decrypt(keyRing, owner, attempt.previousSecret) : null,
    encoding: attempt.signatureEncoding,
    customHeaders: attempt.headers
      ? (JSON.parse(decrypt(keyRing, owner, attempt.headers)) as Record<string, string>)
      : {},
  });
  return sender.send({ url: attempt.url, headers, body });
}

/** The next rung, counted from the end of this failure (seed: "delay after the previous failure"); null past the last. */
function nextAttemptAt(endedAtMs: number, rungsUsed: number, request: AttemptRequest): string | null {
  const delaySeconds = request.retryDelaysSeconds[rungsUsed];
  if (delaySeconds === undefined) return null;
  const delayMs = delaySeconds * 1_000;
  const jitterMs = Math.min(delayMs * 0.05, 60_000) * request.jitter;
  return new Date(endedAtMs + delayMs + Math.round(jitterMs)).toISOString();
}
