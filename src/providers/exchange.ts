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
  /** The limit of one call, including the request for a token. */
  timeoutMs: number;
};

/** A JSON reply. Statuses of 500 and up, 408 and 429 carry no information about the order and are `unknown`. */
export type Reply = { kind: 'reply'; status: number; body: unknown };

/** Sends one request and reads JSON. Every failure is the outcome `unknown`, never an exception. */
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

/** The reply's body by the schema; `unknown` if it does not match. */
export function readReply<T>(reply: Reply, schema: z.ZodType<T>): { kind: 'read'; value: T } | Unknown {
  const parsed = schema.safeParse(reply.body);
  if (parsed.success) return { kind: 'read', value: parsed.data };
  return unreadable(
    `status ${reply.status} with ${parsed.error.issues[0]?.path.join('.') || 'a body'} not matching the schema`,
  );
}

/** The parsed JSON, or undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A failure without the provider's own code. */
export type Failure<Code = ProviderFailure['code']> = Omit<ProviderFailure, 'code' | 'providerCode'> & { code: Code };

/** A definite outcome without a payment. */
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

/** `named`: the order named in the reply. `mayBeNameless`: a rejection of the request itself need not name one. */
type Named = { ours: string; named: string | undefined; mayBeNameless: boolean };

/** The outcome, if the reply names our order; `unknown` for another order or none. */
export function ofOrder<Outcome extends ProviderOutcome | PayoutOutcome>(
  outcome: Outcome,
  { ours, named, mayBeNameless }: Named,
): Outcome | Unknown {
  if (named === ours) return outcome;
  if (named !== undefined) {
    return { kind: 'unknown', reason: 'other-order', message: 'the reply is about another order' };
  }
  return mayBeNameless || outcome.kind === 'unknown' ? outcome : unreadable('the reply names no order');
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

/** The fields of money that was paid or reversed, as the provider sends them. */
type RawMoney = {
  reference?: string | null | undefined;
  amount?: string | undefined;
  currency?: string | undefined;
  providerCode: string;
};

/** A payment, payout or reversal; `unknown` without an amount, currency or reference. */
export function moneyOutcome<Kind extends 'succeeded' | 'reversed'>(
  kind: Kind,
  { reference, amount, currency, providerCode }: RawMoney,
) {
  const amountSantim = parseBirr(amount ?? '');
  if (amountSantim === null || !reference || !currency) {
    return unreadable(`${kind}, without amount, currency or reference`);
  }
  return { kind, providerReference: reference, amountSantim, currency, providerCode };
}

/** The order's phone, for a provider that pays to phones only; declined without a call if it has none. */
export function phoneOnly(
  { destination }: PayoutOrder,
  provider: string,
): { kind: 'phone'; phone: string } | Extract<PayoutOutcome, { kind: 'declined' }> {
  if (destination.kind === 'phone') return destination;
  const message = `${provider} pays out to phone numbers only.`;
  return declined({ code: 'REJECTED', message, retryable: false }, 'NOT_SENT');
}

/**
 * A submission rejected because of the request, not the payout: its signature, a field, or an id that was used with
 * another amount. An earlier submission may have been accepted, so only a query gives the outcome.
 */
export function rejectedWithoutOrder(providerCode: string): PayoutOutcome {
  return unreadable(`the request was rejected with ${providerCode}, which leaves the payout unknown`);
}

/** A statement row as the provider sends it, under our names. */
type RawStatementRow = {
  /** Ours, or as the provider sends it: the statement also contains money that we did not request. */
  orderId: string;
  type: StatementRow['type'] | undefined;
  amount: string;
  currency: string;
  reference: string;
  /** Milliseconds since 1970. */
  atMs: number;
};

/**
 * A page of the statement. One unreadable row makes the whole page `unknown`: a row left out would look like money that
 * was not moved.
 */
export function readPage(rows: readonly RawStatementRow[], next: string | null): StatementPage | Unknown {
  const read: StatementRow[] = [];
  for (const { orderId, type, amount, currency, reference, atMs } of rows) {
    const amountSantim = parseBirr(amount);
    if (!orderId || !type || amountSantim === null || !reference || Number.isNaN(atMs)) {
      return unreadable(`row ${read.length + 1} of the list does not match the schema`);
    }
    read.push({ orderId, type, amountSantim, currency, providerReference: reference, at: new Date(atMs) });
  }
  return { kind: 'page', rows: read, next: next || null };
}
