import { createHmac, timingSafeEqual } from 'node:crypto';

import type { WebhookEvent } from './webhook-events.ts';

/** The delivery must not be trusted: respond with 400, and log `reason` (the likely mistake) and the message (its remedy). */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: VerificationErrorCode;

  constructor(reason: VerificationErrorCode, message: string = MISTAKES[reason]) {
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
   * Rejects deliveries signed longer ago, or further in the future, than this: 0 to 86,400. Every retry is signed when it is sent, so
   * 300 is safe. Without it, detect replays by their `event_id`.
   */
  toleranceSeconds?: number;
  /** The time to compare with; the current time unless given. */
  now?: Date;
};

const TOLERANCE_SECONDS_MAX = 86_400;

/**
 * Checks that a webhook comes from Meskot and returns its event; throws {@link WebhookVerificationError} otherwise, and
 * a RangeError for invalid options, such as a tolerance of NaN.
 *
 * `rawBody` is the body exactly as received, before any JSON parsing (`express.raw`, `request.text()`). `secret` is the
 * `whsec_…` displayed when the subscription was created. The header may be base64 or hex, whatever is configured.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[] | VerifyOptions,
): WebhookEvent {
  const options: VerifyOptions =
    typeof secret === 'object' && secret !== null && 'secret' in secret ? secret : { secret };
  ensureValidOptions(options);
  const body = bodyBytes(rawBody);
  const secrets = [options.secret].flat().filter((one) => typeof one === 'string' && one !== '');
  if (secrets.length === 0) throw new WebhookVerificationError('secret_missing');
  const signature = headerOf(headers, 'x-service-signature');
  if (signature === null) throw new WebhookVerificationError('header_missing');
  const previous = headerOf(headers, 'x-service-signature-previous');
  const isSignedWith = (secret: string): boolean =>
    [signature, previous].some((value) => value !== null && isSignatureOf(value, secret, body));
  if (!secrets.some(isSignedWith)) {
    throw new WebhookVerificationError(diagnose(body, signature, secrets));
  }
  if (options.toleranceSeconds !== undefined) {
    checkTimestamp(body, headers, { ...options, secrets, toleranceSeconds: options.toleranceSeconds });
  }
  return parse(body);
}

/** A comparison with NaN is never true, so it would accept every replay. */
function ensureValidOptions({ toleranceSeconds = 0, now = new Date() }: VerifyOptions): void {
  // Number.isFinite rejects texts, which callers in JavaScript may pass in spite of the type.
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0 || toleranceSeconds > TOLERANCE_SECONDS_MAX) {
    const allowed = `a number from 0 to ${TOLERANCE_SECONDS_MAX}, or left out`;
    throw new RangeError(`toleranceSeconds must be ${allowed}, got ${String(toleranceSeconds)}.`);
  }
  if (!(now instanceof Date && Number.isFinite(now.getTime()))) {
    throw new RangeError('now must be a valid Date, or left out.');
  }
}

function bodyBytes(rawBody: unknown): Buffer {
  if (typeof rawBody === 'string') return Buffer.from(rawBody);
  if (rawBody instanceof Uint8Array || ArrayBuffer.isView(rawBody)) {
    return Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  }
  throw new WebhookVerificationError(rawBody === undefined || rawBody === null ? 'body_missing' : 'body_was_parsed');
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
  return isEqual(Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64'), digest);
}

/** In constant time. */
function isEqual(given: Buffer, digest: Buffer): boolean {
  return given.length === digest.length && timingSafeEqual(given, digest);
}

type TimestampCheck = { secrets: readonly string[]; toleranceSeconds: number; now?: Date };

/** The timestamp is checked with the Standard Webhooks signature, which covers it: anyone can set a header. */
function checkTimestamp(body: Buffer, headers: WebhookHeaders, check: TimestampCheck): void {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  const signed = check.secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    const entries = (signatures ?? '').split(' ');
    return entries.some((entry) => isEqual(Buffer.from(entry.replace(/^v1,/, ''), 'base64'), digest));
  });
  if (!signed || !/^\d{1,12}$/.test(timestamp ?? '')) {
    throw new WebhookVerificationError('timestamp_missing');
  }
  const ageSeconds = (check.now ?? new Date()).getTime() / 1000 - Number(timestamp);
  if (Math.abs(ageSeconds) > check.toleranceSeconds) {
    const message = `${MISTAKES.timestamp_outside_tolerance} It is ${Math.round(ageSeconds)} s old.`;
    throw new WebhookVerificationError('timestamp_outside_tolerance', message);
  }
}

function parse(body: Buffer): WebhookEvent {
  try {
    return JSON.parse(body.toString()) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError('body_not_json');
  }
}

/** The likely mistakes, with their remedies. */
export const MISTAKES = {
  body_was_parsed:
    'The given body is not raw text or bytes. Read it before JSON parsing: express.raw({ type: "application/json" }), or await request.text().',
  body_missing: 'The body is empty: something has read the request before. Read the raw body before any body parser.',
  body_was_changed:
    'The body was decoded or parsed and serialised again, so that its bytes differ from the signed ones. Verify the raw body, and parse it afterwards.',
  body_not_json: 'The signature is right, but the body is not JSON.',
  header_missing: 'The header X-Service-Signature is missing: this is not a Meskot webhook, or a proxy removes it.',
  header_malformed:
    'X-Service-Signature is neither base64 nor hex of a SHA-256 signature: it was cut or changed in transit, or another header was passed, such as webhook-signature.',
  header_of_another_request: 'The body and the secret belong together, but X-Service-Signature is of another delivery.',
  signature_from_body:
    'The value is the "signature" field of the body. It signs the body without the field: use the header X-Service-Signature.',
  secret_missing: 'No secret was given. Is its environment variable set?',
  secret_has_extra_characters:
    'The secret has blanks, a line break or quotes around it that are not part of it. Remove them.',
  secret_prefix_missing: 'The secret lacks its beginning "whsec_". The key is the whole text as displayed.',
  wrong_secret:
    'The signature does not match. Most likely the secret is of another subscription, of the other environment (sandbox and live have different ones; a request does not show which), or has been rotated. If the secret is right, the body was changed in transit.',
  timestamp_missing:
    'toleranceSeconds needs the headers webhook-id, webhook-timestamp and webhook-signature as they were sent.',
  timestamp_outside_tolerance:
    'It was not signed within toleranceSeconds: a replay, or the clock of this machine is wrong.',
} as const;

/** The likely mistake as a code; the error's message has the remedy. */
export type VerificationErrorCode = keyof typeof MISTAKES;

const ENVELOPE = ['event', 'event_id', 'api_version', 'created_at', 'data', 'signature'].join();

/**
 * The likely cause of a signature that does not match: undoes each common mistake in turn and checks whether the signature
 * would match then. Never makes a request valid.
 */
export function diagnose(body: Buffer, signature: string, secrets: readonly string[]): VerificationErrorCode {
  const members = membersOf(body);
  const value = signature.trim();
  if (!/^(sha256=)?([0-9a-f]{64}|[A-Za-z0-9+/]{43}=?)$/i.test(value)) return 'header_malformed';
  if (members?.['signature'] === value) return 'signature_from_body';

  for (const secret of secrets) {
    const bare = secret.trim().replace(/^(["'])(.*)\1$/, '$2');
    if (bare !== secret && isSignatureOf(signature, bare, body)) return 'secret_has_extra_characters';
    if (!bare.startsWith('whsec_') && isSignatureOf(signature, `whsec_${bare}`, body)) return 'secret_prefix_missing';
  }

  if (body.length === 0) return 'body_missing';
  const signedBy = (given: unknown, bytes: Buffer): boolean =>
    typeof given === 'string' && secrets.some((secret) => isSignatureOf(given, secret, bytes));
  const serialisedAgain = members === null ? body : Buffer.from(JSON.stringify(members));
  const asLatin1 = Buffer.from(body.toString(), 'latin1');
  const isReordered = members !== null && 'event_id' in members && Object.keys(members).join() !== ENVELOPE;
  if (isReordered || [serialisedAgain, asLatin1].some((bytes) => signedBy(signature, bytes))) return 'body_was_changed';
  return members !== null && signedBy(members['signature'], withoutSignature(body))
    ? 'header_of_another_request'
    : 'wrong_secret';
}

function membersOf(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** The bytes that the body's signature field signs: the envelope before the field was added at its end. */
function withoutSignature(body: Buffer): Buffer {
  const at = body.lastIndexOf(',"signature":"');
  return at < 0 ? body : Buffer.concat([body.subarray(0, at), Buffer.from('}')]);
}
