import type { z } from 'zod';

import type { Clock } from '../lib/clock.ts';
import type { HttpClient, HttpRequest } from '../lib/http-client.ts';
import { parseBirr } from '../lib/money.ts';
import type {
  PayoutFailure,
  PayoutOrder,
  PayoutOutcome,
  ProviderFailure,
  ProviderOutcome,
  StatementPage,
  StatementRow,
  Unknown,
} from './provider.ts';

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

/** `named`: the order that a reply says it is about. `mayBeNameless`: a refusal of the request itself need not say. */
type Named = { ours: string; named: string | undefined; mayBeNameless: boolean };

/** The outcome, if the reply is about our order: what is said of another one, or of nobody knows which, is no answer. */
export function ofOrder<Outcome extends ProviderOutcome | PayoutOutcome>(
  outcome: Outcome,
  { ours, named, mayBeNameless }: Named,
): Outcome | Unknown {
  if (named === ours) return outcome;
  if (named !== undefined) {
    return { kind: 'unknown', reason: 'other-order', message: 'the answer is about another order' };
  }
  return mayBeNameless || outcome.kind === 'unknown'
    ? outcome
    : unreadable('the answer does not say which order it is about');
}

/**
 * An id of ours as a provider that allows letters and digits only wants it: `pat_01J…` (a payment) is `pat01J…`,
 * `wd_01J…` (a payout) is `wd01J…`. Throws for what is not ours.
 */
export function toPlainOrderId(orderId: string): string {
  const parts = /^([a-z]{2,4})_([0-9A-Z]{1,60})$/.exec(orderId);
  if (!parts) throw new Error(`order id "${orderId}" is not of the form pat_01J… or wd_01J…`);
  return `${parts[1]}${parts[2]}`;
}

/** The reverse: the prefix is in small letters and the rest is not, so nothing is lost. Null for what is not ours. */
export function fromPlainOrderId(plain: unknown): string | null {
  const parts = typeof plain === 'string' ? /^([a-z]{2,4})([0-9A-Z]{1,60})$/.exec(plain) : null;
  return parts ? `${parts[1]}_${parts[2]}` : null;
}

/** What a provider wrote of money that left or came back. */
type Written = {
  reference: string | null | undefined;
  amount: string | undefined;
  currency: string | undefined;
  providerCode: string;
};

/** Paid, or come back, as written; `unknown` when it is not written how much, or how. */
export function payoutMoved(
  kind: 'succeeded' | 'reversed',
  { reference, amount, currency, providerCode }: Written,
): PayoutOutcome {
  const amountSantim = parseBirr(amount ?? '');
  if (amountSantim === null || !reference || !currency) return unreadable(`${kind}, but not what or how`);
  return { kind, providerReference: reference, amountSantim, currency, providerCode };
}

/** The order's phone, for a provider that pays to phones only; or its refusal, which never left the house. */
export function phoneOnly(
  { destination }: PayoutOrder,
  provider: string,
): { kind: 'phone'; phone: string } | Extract<PayoutOutcome, { kind: 'declined' }> {
  if (destination.kind === 'phone') return destination;
  const message = `${provider} pays out to phone numbers only.`;
  return declined({ code: 'REJECTED', message, retryable: false }, 'NOT_SENT');
}

/**
 * A submission that was refused for a reason that judges the request, not the payout: a signature, a field, or an id
 * that was used for another amount. An earlier submission may have been taken all the same, so only a query can tell.
 */
export function rejectedWithoutOrder(providerCode: string): PayoutOutcome {
  return unreadable(`the payout was refused with ${providerCode}, which does not say how it stands`);
}

/** A row as a provider writes it, under our names. */
type WrittenRow = {
  /** Ours, or as the provider writes it when it is nobody's: money that nobody asked for is in the list as well. */
  orderId: string;
  type: StatementRow['type'] | undefined;
  amount: string;
  currency: string;
  reference: string;
  /** Milliseconds since 1970. */
  atMs: number;
};

/**
 * The page as the contract wants it. One row that cannot be read makes the whole page `unknown`: a list with a hole
 * would be taken for money that did not move.
 */
export function readPage(rows: readonly WrittenRow[], next: string | null): StatementPage | Unknown {
  const read: StatementRow[] = [];
  for (const { orderId, type, amount, currency, reference, atMs } of rows) {
    const amountSantim = parseBirr(amount);
    if (!orderId || !type || amountSantim === null || !reference || Number.isNaN(atMs)) {
      return unreadable(`row ${read.length + 1} of the list is not as agreed`);
    }
    read.push({ orderId, type, amountSantim, currency, providerReference: reference, at: new Date(atMs) });
  }
  return { kind: 'page', rows: read, next: next || null };
}
