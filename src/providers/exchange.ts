import type { z } from 'zod';

import type { Clock } from '../lib/clock.ts';
import type { HttpClient, HttpRequest } from '../lib/http-client.ts';
import type { PayoutFailure, ProviderFailure, Unknown } from './provider.ts';

export type ProviderDeps = {
  http: HttpClient;
  clock: Clock;
  /** The limit of one whole call, with whatever it needs on the way (a token). */
  timeoutMs: number;
};

/** A reply that could be read. Statuses of 500 and up, 408 and 429 say nothing about the order and are `unknown`. */
export type Reply = { kind: 'reply'; status: number; body: unknown };

/** Sends one request and reads JSON: whatever goes wrong on the way is the outcome `unknown`, never an exception. */
export async function exchange(http: HttpClient, call: HttpRequest): Promise<Reply | Unknown> {
  const result = await http.send(call);
  if (result.kind === 'failed') {
    if (result.reason === 'too-large') return unreadable(result.message);
    return { kind: 'unknown', reason: result.reason, message: result.message };
  }
  const { status, text } = result;
  if (status >= 500 || status === 408 || status === 429) return unknownStatus(status);
  const body = parseJson(text);
  return body === undefined ? unreadable(`status ${status} without JSON`) : { kind: 'reply', status, body };
}

/** The reply's body as the schema says, or `unknown` when it is anything else. */
export function readReply<T>(reply: Reply, schema: z.ZodType<T>): { kind: 'read'; value: T } | Unknown {
  const parsed = schema.safeParse(reply.body);
  if (parsed.success) return { kind: 'read', value: parsed.data };
  return unreadable(`status ${reply.status} with ${parsed.error.issues[0]?.path.join('.') || 'a body'} not as agreed`);
}

/** JSON, or undefined when the text is not. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Our words for a failure, before the provider's own code is put beside them. */
export type Failure<Code = ProviderFailure['code']> = Omit<ProviderFailure, 'code' | 'providerCode'> & { code: Code };

/** Ended without money. */
export function declined<Code extends PayoutFailure['code']>(
  failure: Failure<Code>,
  providerCode: string,
): { kind: 'declined'; failure: Failure<Code> & { providerCode: string } } {
  return { kind: 'declined', failure: { ...failure, providerCode } };
}

export function unreadable(message: string): Unknown {
  return { kind: 'unknown', reason: 'unreadable', message };
}

export function unknownStatus(status: number): Unknown {
  return { kind: 'unknown', reason: 'http', message: `status ${status}` };
}
