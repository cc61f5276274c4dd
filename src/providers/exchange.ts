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
export type Failure = Omit<ProviderFailure, 'providerCode'>;
export type PayoutFailureKind = Omit<PayoutFailure, 'providerCode'>;

/** The failures of payments that providers report, each under codes of its own. */
export function paymentFailures(provider: string) {
  return {
    insufficientFunds: { code: 'INSUFFICIENT_FUNDS', message: 'The account has too little money.', retryable: true },
    cancelled: { code: 'CANCELLED_BY_CUSTOMER', message: 'The customer cancelled the payment.', retryable: true },
    unknownPhone: { code: 'INVALID_PAYER', message: `${provider} does not know this phone number.`, retryable: true },
    expired: { code: 'TIMED_OUT', message: 'The payment was not confirmed in time.', retryable: true },
    declined: { code: 'DECLINED', message: `${provider} declined the payment.`, retryable: false },
  } as const satisfies Record<string, Failure>;
}

/** The failures of payouts that providers report. In all of them nothing was paid. */
export function payoutFailures(provider: string) {
  return {
    declined: { code: 'DECLINED', message: `${provider} declined the payout.`, retryable: false },
    insufficientFunds: { code: 'INSUFFICIENT_FUNDS', message: 'The payout account has too little.', retryable: true },
    failed: { code: 'DECLINED', message: `${provider} accepted the payout, but it failed.`, retryable: true },
    unknownPayee: { code: 'INVALID_PAYEE', message: `${provider} does not know this payee.`, retryable: false },
  } as const satisfies Record<string, PayoutFailureKind>;
}

/** A definite outcome without a payment. */
export function declined<Kind extends PayoutFailureKind>(failure: Kind, providerCode: string) {
  return { kind: 'declined' as const, failure: { ...failure, providerCode } };
}

/**
 * Declined with the failure that the provider's code stands for; REJECTED with this message for any other code. The
 * failures are a Map, because a code may be any text, "constructor" too.
 */
export function declinedBy<Kind extends PayoutFailureKind>(
  failures: ReadonlyMap<string, Kind>,
  providerCode: string,
  message: string,
) {
  return declined(
    failures.get(providerCode) ?? ({ code: 'REJECTED', message, retryable: false } as const),
    providerCode,
  );
}

/**
 * A rejected submission of a payout. A code that is not a failure of the payout describes the request (its signature, a
 * field, an id that was used with another amount): an earlier submission may have been accepted, so only a query gives
 * the outcome.
 */
export function payoutRejected(failures: ReadonlyMap<string, PayoutFailureKind>, providerCode: string): PayoutOutcome {
  const failure = failures.get(providerCode);
  return failure ? declined(failure, providerCode) : rejectedRequest(providerCode);
}

/** A rejected query, which does not describe the order (a wrong signature, for example). */
export function rejectedRequest(providerCode: string | null): Unknown {
  return unreadable(`the request was rejected with ${providerCode ?? 'no code'}`);
}

export function unreadable(message: string): Unknown {
  return { kind: 'unknown', reason: 'unreadable', message };
}

export function unknownStatus(status: number): Unknown {
  return { kind: 'unknown', reason: 'http', message: `status ${status}` };
}

/** The replies of one provider. */
export type Dialect<Body> = {
  schema: z.ZodType<Body>;
  /** The order that a reply names. */
  orderOf: (body: Body) => string | undefined;
  /** Whether the reply rejects the request itself. Such a reply need not name an order. */
  isRejection: (body: Body, status: number) => boolean;
};

/** `orderId`: as the provider writes it. `rejected` is the outcome of a rejected request. */
type Reading<Body, Outcome> = {
  orderId: string;
  read: (body: Body) => Outcome;
  rejected: (body: Body, status: number) => Outcome;
};

/** The outcome in a reply; `unknown` without a reply, with an unreadable one, or one about another order or none. */
export function outcomeOf<Body, Outcome extends ProviderOutcome | PayoutOutcome>(
  reply: Reply | Unknown,
  { schema, orderOf, isRejection }: Dialect<Body>,
  { orderId, read, rejected }: Reading<Body, Outcome>,
): Outcome | Unknown {
  if (reply.kind === 'unknown') return reply;
  const body = readReply(reply, schema);
  if (body.kind === 'unknown') return body;
  const isRejected = isRejection(body.value, reply.status);
  const outcome = isRejected ? rejected(body.value, reply.status) : read(body.value);
  const named = orderOf(body.value);
  if (named === orderId) return outcome;
  if (named !== undefined) {
    return { kind: 'unknown', reason: 'other-order', message: 'the reply is about another order' };
  }
  return isRejected || outcome.kind === 'unknown' ? outcome : unreadable('the reply names no order');
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

/** The order's phone, for a provider that pays to phones only; declined without a call if the order has none. */
export function phoneOnly(
  { destination }: PayoutOrder,
  provider: string,
): { kind: 'phone'; phone: string } | Extract<PayoutOutcome, { kind: 'declined' }> {
  if (destination.kind === 'phone') return destination;
  const message = `${provider} pays out to phone numbers only.`;
  return declined({ code: 'REJECTED', message, retryable: false }, 'NOT_SENT');
}

export type RowType = StatementRow['type'];

/** A statement row as the provider sends it, under our names. */
type RawStatementRow = {
  /** Ours, or as the provider sends it: the statement also contains money that we did not request. */
  orderId: string;
  type: RowType | undefined;
  amount: string;
  currency: string;
  reference: string;
  /** Milliseconds since 1970. */
  atMs: number;
};

/**
 * A page of the statement: `pageOf` gives the rows of the reply and the cursor of the next page. One unreadable row makes
 * the whole page `unknown`: a row left out would look like money that was not moved.
 */
export function statementPage<Body>(
  reply: Reply | Unknown,
  schema: z.ZodType<Body>,
  pageOf: (body: Body) => { rows: readonly RawStatementRow[]; next: string | null },
): StatementPage | Unknown {
  if (reply.kind === 'unknown') return reply;
  const body = readReply(reply, schema);
  if (body.kind === 'unknown') return body;
  const { rows, next } = pageOf(body.value);
  const read: StatementRow[] = [];
  for (const { orderId, type, amount, currency, reference, atMs } of rows) {
    const amountSantim = parseBirr(amount);
    if (!orderId || !type || amountSantim === null || !reference || Number.isNaN(atMs)) {
      return unreadable(`row ${read.length + 1} of the statement does not match the schema`);
    }
    read.push({ orderId, type, amountSantim, currency, providerReference: reference, at: new Date(atMs) });
  }
  return { kind: 'page', rows: read, next: next || null };
}
