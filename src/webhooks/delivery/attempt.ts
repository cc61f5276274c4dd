import { createHmac, randomBytes } from 'node:crypto';

import { decrypt, type KeyRing } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { NO_TRACING, type Note, type Tracing } from '../../lib/tracing.ts';
import type { ClaimedAttempt } from './claim.ts';
import { unsentResult, type Sender, type SendResult } from './send.ts';

/** The retry schedule, applied after each failure. */
export type RetrySchedule = {
  retryDelaysSeconds: readonly number[];
  /** 0 … 1: spreads the next retry by up to 5 %, at most 60 s, never earlier. */
  jitter: number;
};

/** The result of one attempt, as it is saved. */
export type AttemptOutcome = Pick<
  ClaimedAttempt,
  'attemptId' | 'deliveryId' | 'sequence' | 'retryCount' | 'manual' | 'reason' | 'url' | 'secretHint'
> &
  Omit<SendResult, 'timings'> & {
    timings: Record<string, number | null>;
    startedAt: string;
    endedAt: string;
    /** When the next scheduled retry is due after a failure; null after the last one, and after a resend. */
    nextAttemptAt: string | null;
    /** The first characters of the response, for the Temporal UI. */
    answer: string;
    /** Of the dead letter that a last failure opens. */
    deadLetterId: string;
  };

type AttemptDeps = {
  sender: Pick<Sender, 'send'>;
  /** Sends to the built-in receiver of the sandbox. */
  receiver: Pick<Sender, 'send'>;
  keyRing: KeyRing;
  /** Called when the request could not be built, which is a defect of this service. */
  onDefect: (deliveryId: string, error: unknown) => void;
  tracing?: Tracing;
};

/** Signs and sends the POST of a claimed attempt. Never rejects: expected failures and defects are both outcomes. */
export function createAttempt(deps: AttemptDeps) {
  const { tracing = NO_TRACING } = deps;
  return async (attempt: ClaimedAttempt, schedule: RetrySchedule): Promise<AttemptOutcome> =>
    tracing.run(spanOf(attempt), async (note) => {
      const outcome = await attemptOnce(deps, attempt, schedule);
      noteOutcome(note, outcome);
      return outcome;
    });
}

/** The receiver's address is none of it: its path may be a secret. */
function spanOf({ traceparent: parent, ...attempt }: ClaimedAttempt) {
  const attributes = {
    'meskot.delivery_id': attempt.deliveryId,
    'meskot.attempt_id': attempt.attemptId,
    'meskot.event_id': attempt.eventId,
    'meskot.event': attempt.event,
    'meskot.merchant_id': attempt.merchantId,
    'meskot.environment': attempt.environment,
    'meskot.try': attempt.sequence,
  };
  return { name: 'webhook attempt', kind: 'client', parent, attributes } as const;
}

function noteOutcome(note: Note, { ok, httpStatus, failure }: AttemptOutcome): void {
  const attributes = { 'http.response.status_code': httpStatus, 'error.type': failure?.code };
  note({ hasFailed: !ok, attributes });
}

async function attemptOnce(
  deps: AttemptDeps,
  attempt: ClaimedAttempt,
  schedule: RetrySchedule,
): Promise<AttemptOutcome> {
  const sent = await signAndSend(deps, attempt).catch((error: unknown) => {
    // For example a secret that cannot be decrypted. Without an outcome the delivery would be claimed again and again.
    deps.onDefect(attempt.deliveryId, error);
    const message = 'Nothing was sent: the request could not be built.';
    return { ...unsentResult({ code: 'internal_error', message }), answer: '' };
  });
  const { attemptId, deliveryId, sequence, retryCount, manual, reason, url, secretHint } = attempt;
  const claimed = { attemptId, deliveryId, sequence, retryCount, manual, reason, url, secretHint };
  const endedAtMs = attempt.startedAt.getTime() + sent.durationMs;
  return {
    ...claimed,
    ...sent,
    startedAt: attempt.startedAt.toISOString(),
    endedAt: new Date(endedAtMs).toISOString(),
    nextAttemptAt: sent.ok || manual ? null : nextAttemptAt(endedAtMs, retryCount, schedule),
    deadLetterId: newId('whl'),
  };
}

type Answered = SendResult & { answer: string };

async function signAndSend({ sender, receiver, keyRing }: AttemptDeps, attempt: ClaimedAttempt): Promise<Answered> {
  const scope = attempt.subscriptionId;
  const signing = {
    payload: attempt.payload,
    eventId: attempt.eventId,
    attemptAt: attempt.startedAt,
    secret: decrypt(keyRing, scope, attempt.secret),
    previousSecret: attempt.previousSecret ? decrypt(keyRing, scope, attempt.previousSecret) : null,
    encoding: attempt.signatureEncoding,
    customHeaders: attempt.headers
      ? (JSON.parse(decrypt(keyRing, scope, attempt.headers)) as Record<string, string>)
      : {},
  } satisfies SigningInput;
  const { body, headers } = signedRequest(signing);
  const { send } = attempt.toSandboxReceiver ? receiver : sender;
  const sent = await send({ url: attempt.url, headers, body });
  const { secret, previousSecret, customHeaders } = signing;
  return { ...sent, answer: answerOf(sent, [secret, previousSecret ?? '', ...Object.values(customHeaders)]) };
}

const ANSWER_CHARACTERS_MAX = 80;
const SECRET_CHARACTERS_MIN = 4;

/** The first characters of a response on one line, without secrets that the receiver has repeated. */
function answerOf({ responseExcerpt }: SendResult, secrets: readonly string[]): string {
  const hidden = secrets.filter(({ length }) => length >= SECRET_CHARACTERS_MIN);
  const text = hidden.reduce((answer, secret) => answer.replaceAll(secret, '***'), responseExcerpt);
  // By characters, so that none is cut in two.
  return Array.from(text.replaceAll(/\s+/g, ' ').trim()).slice(0, ANSWER_CHARACTERS_MAX).join('');
}

/** The next retry, counted from the end of this failure (seed: "delay after the previous failure"); null past the last. */
function nextAttemptAt(endedAtMs: number, retriesUsed: number, schedule: RetrySchedule): string | null {
  const delaySeconds = schedule.retryDelaysSeconds[retriesUsed];
  if (delaySeconds === undefined) return null;
  const delayMs = delaySeconds * 1_000;
  const jitterMs = Math.min(delayMs * 0.05, 60_000) * schedule.jitter;
  return new Date(endedAtMs + delayMs + Math.round(jitterMs)).toISOString();
}

export type SigningInput = {
  /** The stored bytes of the event: the envelope without its signature, a JSON object. Never serialised again. */
  payload: Buffer;
  eventId: string;
  /** The time of this attempt: receivers compare it with their clock to reject replays. */
  attemptAt: Date;
  secret: string;
  /** The secret before a rotation, while both sign; null otherwise. */
  previousSecret: string | null;
  /** Of the digest in `X-Service-Signature`: the contract's text has base64, its sample compares hex. */
  encoding: 'base64' | 'hex';
  /** The merchant's own headers; the service's headers take precedence. */
  customHeaders: Readonly<Record<string, string>>;
};

export type SignedRequest = { body: Buffer; headers: Record<string, string> };

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const CLOSING_BRACE = 0x7d;

/** The headers, in lower case, that a subscription may not set: those of the service and of the connection. */
export const RESERVED_HEADER =
  /^(accept-encoding|connection|content-encoding|content-length|content-type|expect|host|keep-alive|proxy-authenticate|proxy-authorization|proxy-connection|te|trailer|transfer-encoding|upgrade|user-agent|(webhook|x-service)-.*)$/;

/** A new signing secret: `whsec_` and the base64 of 32 random bytes. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/**
 * The exact body and headers of one attempt. The key of `X-Service-Signature` is the displayed secret as text; that of the
 * Standard Webhooks header the bytes that its base64 encodes. Signed at send time, so that a retry after a rotation still
 * verifies.
 */
export function signedRequest(input: SigningInput): SignedRequest {
  const body = withSignatureField(input.payload, input.secret);
  const timestamp = Math.floor(input.attemptAt.getTime() / 1000).toString();
  const standardText = `${input.eventId}.${timestamp}.`;
  const previous = input.previousSecret;
  const standard = standardSignature(input.secret, standardText, body);

  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'User-Agent': 'Meskot-Webhooks/1.0',
    'X-Service-Event-Id': input.eventId,
    'X-Service-Signature': serviceSignature(input.secret, body, input.encoding),
    'webhook-id': input.eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature':
      previous === null ? standard : `${standard} ${standardSignature(previous, standardText, body)}`,
  };
  if (previous !== null) headers['X-Service-Signature-Previous'] = serviceSignature(previous, body, input.encoding);
  for (const name in input.customHeaders) {
    const value = input.customHeaders[name];
    if (value !== undefined && !RESERVED_HEADER.test(name.toLowerCase())) headers[name] = value;
  }
  return { body, headers };
}

/** Inserts the field before the last brace, so that it is always the last one and the stored bytes stay unchanged. */
function withSignatureField(payload: Buffer, secret: string): Buffer {
  if (payload.at(-1) !== CLOSING_BRACE) throw new Error('an event payload must be a JSON object');
  const field = Buffer.from(`,"signature":"${serviceSignature(secret, payload, 'base64')}"}`, 'latin1');
  return Buffer.concat([payload.subarray(0, -1), field], payload.length - 1 + field.length);
}

function serviceSignature(secret: string, bytes: Buffer, encoding: 'base64' | 'hex'): string {
  return 'sha256=' + createHmac('sha256', secret).update(bytes).digest(encoding);
}

function standardSignature(secret: string, prefix: string, body: Buffer): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return 'v1,' + createHmac('sha256', key).update(prefix).update(body).digest('base64');
}
