import { createHmac, timingSafeEqual } from 'node:crypto';

import { likelyMistake } from './likely-mistake.ts';
import type { WebhookEvent } from './webhook-events.ts';

/** The likely mistake, as a code; the error's message says what to do about it. */
export type VerificationErrorCode =
  | 'body_was_parsed'
  | 'body_missing'
  | 'body_was_changed'
  | 'body_not_json'
  | 'header_missing'
  | 'header_malformed'
  | 'header_of_another_request'
  | 'signature_from_body'
  | 'secret_missing'
  | 'secret_has_extra_characters'
  | 'secret_prefix_missing'
  | 'wrong_secret'
  | 'timestamp_missing'
  | 'timestamp_outside_tolerance';

/** The delivery must not be trusted: answer 400, and read `reason` and the message in your log. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: VerificationErrorCode;

  constructor(reason: VerificationErrorCode, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Headers as Node, Express, Fastify, Koa (`Record`) or fetch (`Headers`) give them. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get: (name: string) => string | null };

export type VerifyOptions = {
  /** One, or several while you rotate: any of them may match. */
  secret: string | readonly string[];
  /**
   * Refuses deliveries signed longer ago, or further ahead, than this: 0 to 86,400. Every retry is signed anew, so 300 is
   * safe. Without it replays are only told by their `event_id`.
   */
  toleranceSeconds?: number;
  /** The time to hold them against; now unless said. */
  now?: Date;
};

const TOLERANCE_SECONDS_MAX = 86_400;

/**
 * Checks that a webhook comes from Meskot and returns its event; throws {@link WebhookVerificationError} otherwise, and
 * a RangeError for options that make no sense, such as a tolerance of NaN.
 *
 * `rawBody` is the body exactly as it came, before any JSON parsing (`express.raw`, `request.text()`). `secret` is the
 * `whsec_…` shown when the subscription was made. The header may be base64 or hex, whatever the subscription says.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[] | VerifyOptions,
): WebhookEvent {
  const options: VerifyOptions =
    typeof secret === 'object' && secret !== null && 'secret' in secret ? secret : { secret };
  rejectUnusable(options);
  const body = bodyBytes(rawBody);
  const secrets = [options.secret].flat().filter((one) => typeof one === 'string' && one !== '');
  if (secrets.length === 0) {
    throw new WebhookVerificationError('secret_missing', 'No secret was given. Is its environment variable set?');
  }
  const signature = headerOf(headers, 'x-service-signature');
  const previous = headerOf(headers, 'x-service-signature-previous');
  if (signature === null) {
    throw new WebhookVerificationError(
      'header_missing',
      'The header X-Service-Signature is missing: this is no Meskot webhook, or a proxy in front of you removes it.',
    );
  }
  const known = [signature, previous].filter((value) => value !== null);
  const matches = (key: string): boolean => known.some((value) => isSignatureOf(value, key, body));
  if (secrets.filter(matches).length === 0) {
    const { reason, message } = likelyMistake({ body, signature, secrets, isSignatureOf });
    throw new WebhookVerificationError(reason, message);
  }
  if (options.toleranceSeconds !== undefined) {
    checkTimestamp(body, headers, { ...options, secrets, toleranceSeconds: options.toleranceSeconds });
  }
  return parse(body);
}

/** A comparison with NaN is never true, so it would let every replay pass. */
function rejectUnusable({ toleranceSeconds, now }: VerifyOptions): void {
  // Number.isFinite takes no texts, which the type alone does not keep out of JavaScript.
  const isNumber = toleranceSeconds !== undefined && Number.isFinite(toleranceSeconds);
  const isFit = isNumber && toleranceSeconds >= 0 && toleranceSeconds <= TOLERANCE_SECONDS_MAX;
  if (toleranceSeconds !== undefined && !isFit) {
    const allowed = `a number from 0 to ${TOLERANCE_SECONDS_MAX}, or left out`;
    throw new RangeError(`toleranceSeconds must be ${allowed}, got ${String(toleranceSeconds)}.`);
  }
  if (now !== undefined && !(now instanceof Date && Number.isFinite(now.getTime()))) {
    throw new RangeError('now must be a valid Date, or left out.');
  }
}

function bodyBytes(rawBody: unknown): Buffer {
  if (typeof rawBody === 'string') return Buffer.from(rawBody);
  if (rawBody instanceof Uint8Array || ArrayBuffer.isView(rawBody)) {
    return Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  }
  throw new WebhookVerificationError(
    rawBody === undefined || rawBody === null ? 'body_missing' : 'body_was_parsed',
    'The body given is not its raw text or bytes. Take it before JSON parsing: express.raw({ type: "application/json" }), or await request.text().',
  );
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if ('get' in headers && typeof headers.get === 'function') return headers.get(name);
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() !== name || value === undefined) continue;
    return typeof value === 'string' ? value : String(value[0] ?? '');
  }
  return null;
}

/** Whether a header's value, base64 or hex, with `sha256=` or without, is the key's signature of these bytes. */
function isSignatureOf(value: string, key: string, bytes: Buffer): boolean {
  const digest = createHmac('sha256', key).update(bytes).digest();
  const text = value.trim().replace(/^sha256=/i, '');
  const given = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64');
  return given.length === digest.length && timingSafeEqual(given, digest);
}

type TimestampCheck = { secrets: readonly string[]; toleranceSeconds: number; now?: Date };

/** The timestamp counts only under its own signature, the Standard Webhooks one: anybody can set a header. */
function checkTimestamp(body: Buffer, headers: WebhookHeaders, check: TimestampCheck): void {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  const signed = check.secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    return (signatures ?? '').split(' ').some((entry) => {
      const given = Buffer.from(entry.replace(/^v1,/, ''), 'base64');
      return given.length === digest.length && timingSafeEqual(given, digest);
    });
  });
  if (!signed || !/^\d{1,12}$/.test(timestamp ?? '')) {
    throw new WebhookVerificationError(
      'timestamp_missing',
      'toleranceSeconds needs the headers webhook-id, webhook-timestamp and webhook-signature as they were sent.',
    );
  }
  const ageSeconds = (check.now ?? new Date()).getTime() / 1000 - Number(timestamp);
  if (Math.abs(ageSeconds) > check.toleranceSeconds) {
    throw new WebhookVerificationError(
      'timestamp_outside_tolerance',
      `It was signed ${Math.round(ageSeconds)} s ago, more than ${check.toleranceSeconds} s: a replay, or this machine's clock is wrong.`,
    );
  }
}

function parse(body: Buffer): WebhookEvent {
  try {
    return JSON.parse(body.toString()) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError('body_not_json', 'The signature is right, but the body is not JSON.');
  }
}
