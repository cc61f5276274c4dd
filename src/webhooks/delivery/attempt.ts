import { decrypt, type KeyRing } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import type { ClaimedAttempt } from './claim.ts';
import type { Failure } from './failure.ts';
import { unsentResult, type Sender, type SendResult } from './send.ts';
import { signedRequest } from './signature.ts';

/** The retry schedule as it is applied after a failure. */
export type RetrySchedule = {
  retryDelaysSeconds: readonly number[];
  /** 0 … 1: spreads the next retry by up to 5 %, at most 60 s, never earlier. */
  jitter: number;
};

/** The result of one attempt, as it is saved. */
export type AttemptOutcome = Pick<
  ClaimedAttempt,
  'attemptId' | 'deliveryId' | 'sequence' | 'retryCount' | 'manual' | 'url' | 'secretHint'
> & {
  ok: boolean;
  httpStatus: number | null;
  failure: Failure | null;
  startedAt: string;
  endedAt: string;
  durationMs: number;
  timings: Record<string, number | null>;
  responseHeaders: Record<string, string>;
  responseExcerpt: string;
  /** When the schedule's next retry is due after a failure; null when this was the last one, or a resend. */
  nextAttemptAt: string | null;
  /** Why an operator asked for it. */
  reason: string | null;
  /** For the dead letter that a last failure opens. */
  deadLetterId: string;
};

export type AttemptDeps = {
  sender: Sender;
  keyRing: KeyRing;
  /** A request that could not be made is a defect of ours. */
  onDefect: (deliveryId: string, error: unknown) => void;
};

/** Makes the POST of a claimed attempt. Never rejects: expected failures and defects are both outcomes. */
export function createAttempt(deps: AttemptDeps) {
  return async (attempt: ClaimedAttempt, schedule: RetrySchedule): Promise<AttemptOutcome> => {
    const sent = await signAndSend(deps, attempt).catch((error: unknown) => {
      // A secret that cannot be decrypted, for one: a failed attempt like others, or it would be claimed for ever.
      deps.onDefect(attempt.deliveryId, error);
      return unsentResult({ code: 'internal_error', message: 'Nothing was sent: the request could not be made here.' });
    });
    const durationMs = Math.round(sent.durationMs);
    const endedAtMs = attempt.startedAt.getTime() + durationMs;
    return {
      attemptId: attempt.attemptId,
      deliveryId: attempt.deliveryId,
      sequence: attempt.sequence,
      retryCount: attempt.retryCount,
      manual: attempt.manual,
      url: attempt.url,
      secretHint: attempt.secretHint,
      ok: sent.ok,
      httpStatus: sent.httpStatus,
      failure: sent.failure,
      startedAt: attempt.startedAt.toISOString(),
      endedAt: new Date(endedAtMs).toISOString(),
      durationMs,
      timings: sent.timings,
      responseHeaders: sent.responseHeaders,
      responseExcerpt: sent.responseExcerpt,
      nextAttemptAt: sent.ok || attempt.manual ? null : nextAttemptAt(endedAtMs, attempt.retryCount, schedule),
      reason: null,
      deadLetterId: newId('whl'),
    };
  };
}

async function signAndSend({ sender, keyRing }: AttemptDeps, attempt: ClaimedAttempt): Promise<SendResult> {
  const scope = attempt.subscriptionId;
  const { body, headers } = signedRequest({
    payload: attempt.payload,
    eventId: attempt.eventId,
    attemptAt: attempt.startedAt,
    secret: decrypt(keyRing, scope, attempt.secret),
    previousSecret: attempt.previousSecret ? decrypt(keyRing, scope, attempt.previousSecret) : null,
    encoding: attempt.signatureEncoding,
    customHeaders: attempt.headers
      ? (JSON.parse(decrypt(keyRing, scope, attempt.headers)) as Record<string, string>)
      : {},
  });
  return sender.send({ url: attempt.url, headers, body });
}

/** The next retry, counted from the end of this failure (seed: "delay after the previous failure"); null past the last. */
function nextAttemptAt(endedAtMs: number, retriesUsed: number, schedule: RetrySchedule): string | null {
  const delaySeconds = schedule.retryDelaysSeconds[retriesUsed];
  if (delaySeconds === undefined) return null;
  const delayMs = delaySeconds * 1_000;
  const jitterMs = Math.min(delayMs * 0.05, 60_000) * schedule.jitter;
  return new Date(endedAtMs + delayMs + Math.round(jitterMs)).toISOString();
}
