import { z } from 'zod';

import type { Clock } from '../lib/clock.ts';
import type { HttpClient, HttpRequest } from '../lib/http-client.ts';
import type { Logger } from '../lib/log.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { ParsedCallback, PayoutOutcome, ProviderOutcome, Unknown } from './provider.ts';

export type ProviderDeps = {
  http: HttpClient;
  clock: Clock;
  /** The limit of one call, including the request for a token. */
  timeoutMs: number;
};

/** A JSON reply. Statuses of 500 and up, 408 and 429 carry no information about the order and are `unknown`. */
export type Reply = { kind: 'reply'; status: number; body: unknown };

/** A longer Retry-After is cut to this: orders wait for it. */
export const RETRY_AFTER_MS_MAX = 5 * 60_000;

/** POSTs one JSON message and reads JSON. Every failure is the outcome `unknown`, never an exception. */
export async function exchange(
  http: HttpClient,
  { headers, ...call }: Omit<HttpRequest, 'method'>,
): Promise<Reply | Unknown> {
  const sent = { ...call, method: 'POST', headers: { 'content-type': 'application/json', ...headers } } as const;
  const result = await http.send(sent);
  if (result.kind === 'failed') {
    if (result.reason === 'too-large') return unreadable(result.message);
    return { kind: 'unknown', reason: result.reason, message: result.message };
  }
  const { status, text, retryAfterMs = 0 } = result;
  if (retryAfterMs > 0 && (status === 429 || status === 503)) {
    return { ...unknownStatus(status), retryAfterMs: Math.min(retryAfterMs, RETRY_AFTER_MS_MAX) };
  }
  if (status >= 500 || status === 408 || status === 429) return unknownStatus(status);
  const body = parseJson(text);
  return body === undefined ? unreadable(`status ${status} without JSON`) : { kind: 'reply', status, body };
}

/** The reply's status and body by the schema; `unknown` if they do not match. */
export function readReply<T extends { kind: string }>(reply: Reply | Unknown, schema: z.ZodType<T>): T | Unknown {
  if (reply.kind === 'unknown') return reply;
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  return unreadable(`status ${reply.status}: ${parsed.error.issues[0]?.path.join('.')} does not match the schema`);
}

/** A callback that is a signed JSON object, with its order's id under this name. */
export function readCallback(
  body: Buffer,
  idName: string,
  isSigned: (message: Record<string, unknown>) => boolean,
): ParsedCallback {
  const message = z.record(z.string(), z.unknown()).safeParse(parseJson(body.toString())).data;
  if (!message) return { verified: false, problem: 'not a JSON object' };
  if (!isSigned(message)) return { verified: false, problem: 'the signature is not of this message' };
  const orderId = message[idName];
  return typeof orderId === 'string' && orderId !== ''
    ? { verified: true, orderId: ourOrderId(orderId) }
    : { verified: false, problem: `no ${idName}` };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function unreadable(message: string): Unknown {
  return { kind: 'unknown', reason: 'unreadable', message };
}

export function unknownStatus(status: number): Unknown {
  return { kind: 'unknown', reason: 'http', message: `status ${status}`, status };
}

/**
 * An order id for a provider that allows only letters and digits: `pat_01J…` (a payment) becomes `pat01J…`, `wd_01J…`
 * (a payout) `wd01J…`. Throws if it is not an order id of ours.
 */
export function toPlainOrderId(orderId: string): string {
  const parts = /^([a-z]{2,4})_([0-9A-Z]{1,60})$/.exec(orderId);
  if (!parts) throw new Error(`order id "${orderId}" is not of the form pat_01J… or wd_01J…`);
  return `${parts[1]}${parts[2]}`;
}

/** The reverse, unambiguous because only the prefix is in lower case. Null if it is not an order id of ours. */
export function fromPlainOrderId(plain: unknown): string | null {
  const parts = typeof plain === 'string' ? /^([a-z]{2,4})([0-9A-Z]{1,60})$/.exec(plain) : null;
  return parts ? `${parts[1]}_${parts[2]}` : null;
}

/** Our order id in a message; the provider's own name for money that we did not request. */
export function ourOrderId(orderId: string): string {
  return fromPlainOrderId(orderId) ?? orderId;
}

/** A problem may quote a code of the provider. */
const PROBLEM_CHARACTERS_MAX = 200;

/** An order's row before the outcome, with the account by which it was sent. */
type Asked = { channel: Channel; environment: Environment; lastOutcome: string | null; providerAccount: string | null };

/**
 * Logs an outcome that a person must look at: a reply about another order (the provider mixes orders up, or another party
 * responds in its place); and in live the first unknown outcome, and each one for which the account that has sent the order
 * is missing. `ids`: of the order, for the log.
 */
export function warnOfOutcome(
  log: Pick<Logger, 'warn'>,
  { channel, environment, lastOutcome, providerAccount }: Asked,
  { outcome, ...ids }: { outcome: ProviderOutcome | PayoutOutcome } & Record<string, unknown>,
): void {
  if (outcome.kind !== 'unknown') return;
  const { reason, message } = outcome;
  if (reason === 'other-order') log.warn({ ...ids, channel, reason }, 'provider response about another order ignored');
  if (environment !== 'live') return;
  const isAccountMissing = providerAccount !== null && ['other-account', 'not-configured'].includes(reason);
  if (lastOutcome === 'unknown' && !isAccountMissing) return;
  const what = 'the provider gave no outcome: it is queried again. If it persists,';
  warnOfProvider(log, { ...ids, channel }, { what, problem: message });
}

/** Logs a problem with a provider, and the command that looks for its cause. */
export function warnOfProvider(
  log: Pick<Logger, 'warn'>,
  order: { channel: Channel } & Record<string, unknown>,
  { what, problem }: { what: string; problem: string },
): void {
  const details = { ...order, problem: problem.slice(0, PROBLEM_CHARACTERS_MAX) };
  log.warn(details, `${what} run meskot doctor --channel ${order.channel}`);
}
