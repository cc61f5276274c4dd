import type { z } from 'zod';

import { parseBirr } from '../lib/money.ts';
import { readReply, unreadable, type Reply } from './exchange.ts';
import type {
  PaymentOrder,
  PayoutFailure,
  PayoutOrder,
  PayoutOutcome,
  Provider,
  ProviderFailure,
  ProviderOutcome,
  StatementPage,
  StatementRow,
  Unknown,
} from './provider.ts';

/** One provider's requests about orders, and how it replies. */
export type Protocol<Body> = {
  schema: z.ZodType<Body>;
  /** Our order id as the provider writes it; unchanged unless given. */
  wireId?: (orderId: string) => string;
  /** The order that a reply names, and the provider's result code. */
  orderOf: (body: Body) => string | undefined;
  codeOf: (body: Body) => string | null;
  /** Whether the reply rejects the request itself. Such a reply need not name an order. */
  isRejection: (body: Body, status: number) => boolean;
  /** Whether the provider does not know the order of a query. */
  isNotFound: (body: Body) => boolean;
  payments: {
    initiate: (order: PaymentOrder) => Promise<Reply | Unknown>;
    query: (orderId: string) => Promise<Reply | Unknown>;
    readInitiated: (body: Body) => ProviderOutcome;
    readRejected: (body: Body, status: number) => ProviderOutcome;
    read: (body: Body) => ProviderOutcome;
  };
  payouts: {
    submit: (order: PayoutOrder) => Promise<Reply | Unknown | Declined<PayoutFailureKind>>;
    query: (orderId: string) => Promise<Reply | Unknown>;
    readRejected: (body: Body, status: number) => PayoutOutcome;
    read: (body: Body, undecided: 'accepted' | 'pending') => PayoutOutcome;
  };
};

/** Payments and payouts by a protocol. */
export function connectOrders<Body>(
  protocol: Protocol<Body>,
): Pick<Provider, 'initiate' | 'query' | 'payout' | 'queryPayout'> {
  const { payments, payouts, isNotFound, codeOf } = protocol;
  const outcomeOf = createReader(protocol);
  // A rejected query does not describe the order (a wrong signature, for example).
  const readQuery = (body: Body, { isRejected }: ReplyFacts): ProviderOutcome => {
    if (isNotFound(body)) return { kind: 'pending', providerReference: null, providerCode: codeOf(body) };
    return isRejected ? rejectedRequest(codeOf(body)) : payments.read(body);
  };
  const readPayoutQuery = (body: Body, { isRejected }: ReplyFacts): PayoutOutcome => {
    if (isNotFound(body)) return { kind: 'not-found', providerCode: codeOf(body) };
    return isRejected ? rejectedRequest(codeOf(body)) : payouts.read(body, 'pending');
  };
  return {
    initiate: async (order) =>
      outcomeOf(order.orderId, await payments.initiate(order), (body, { isRejected, status }) =>
        isRejected ? payments.readRejected(body, status) : payments.readInitiated(body),
      ),
    query: async (orderId) => outcomeOf(orderId, await payments.query(orderId), readQuery),
    payout: async (order) => {
      const reply = await payouts.submit(order);
      if (reply.kind === 'declined') return reply;
      return outcomeOf(order.orderId, reply, (body, { isRejected, status }) =>
        isRejected ? payouts.readRejected(body, status) : payouts.read(body, 'accepted'),
      );
    },
    queryPayout: async (orderId) => outcomeOf(orderId, await payouts.query(orderId), readPayoutQuery),
  };
}

type ReplyFacts = { status: number; isRejected: boolean };

/** Reads the outcome in a reply; `unknown` without a reply, with an unreadable one, or one about another order or none. */
function createReader<Body>({ schema, orderOf, wireId = (id) => id, isRejection }: Protocol<Body>) {
  return <Outcome extends ProviderOutcome | PayoutOutcome>(
    orderId: string,
    reply: Reply | Unknown,
    read: (body: Body, facts: ReplyFacts) => Outcome,
  ): Outcome | Unknown => {
    if (reply.kind === 'unknown') return reply;
    const body = readReply(reply, schema);
    if (body.kind === 'unknown') return body;
    const { status } = reply;
    const isRejected = isRejection(body.value, status);
    const outcome = read(body.value, { status, isRejected });
    const named = orderOf(body.value);
    if (named === wireId(orderId)) return outcome;
    if (named !== undefined) {
      return { kind: 'unknown', reason: 'other-order', message: 'the reply is about another order' };
    }
    return isRejected || outcome.kind === 'unknown' ? outcome : unreadable('the reply names no order');
  };
}

/** A failure without the provider's own code. */
export type Failure = Omit<ProviderFailure, 'providerCode'>;
export type PayoutFailureKind = Omit<PayoutFailure, 'providerCode'>;

const PAYMENT_FAILURES = {
  insufficientFunds: { code: 'INSUFFICIENT_FUNDS', message: 'The account has too little money.', retryable: true },
  cancelled: { code: 'CANCELLED_BY_CUSTOMER', message: 'The customer cancelled the payment.', retryable: true },
  unknownPhone: { code: 'INVALID_PAYER', message: 'The provider does not know this phone number.', retryable: true },
  declined: { code: 'DECLINED', message: 'The provider declined the payment.', retryable: false },
} as const satisfies Record<string, Failure>;

/** In all of them nothing was paid. */
const PAYOUT_FAILURES = {
  declined: { code: 'DECLINED', message: 'The provider declined the payout.', retryable: false },
  insufficientFunds: { code: 'INSUFFICIENT_FUNDS', message: 'The payout account has too little.', retryable: true },
  failed: { code: 'DECLINED', message: 'The provider accepted the payout, but it failed.', retryable: true },
  unknownPayee: { code: 'INVALID_PAYEE', message: 'The provider does not know this payee.', retryable: false },
} as const satisfies Record<string, PayoutFailureKind>;

export const EXPIRED: Failure = {
  code: 'TIMED_OUT',
  message: 'The payment was not confirmed in time.',
  retryable: true,
};

/** The failures that a provider's codes stand for. A Map, because a code may be any text, "constructor" too. */
export function paymentFailures(codes: Record<string, keyof typeof PAYMENT_FAILURES>): ReadonlyMap<string, Failure> {
  return new Map(Object.entries(codes).map(([code, name]) => [code, PAYMENT_FAILURES[name]]));
}

/** The same for payouts. */
export function payoutFailures(
  codes: Record<string, keyof typeof PAYOUT_FAILURES>,
): ReadonlyMap<string, PayoutFailureKind> {
  return new Map(Object.entries(codes).map(([code, name]) => [code, PAYOUT_FAILURES[name]]));
}

type Declined<Kind> = { kind: 'declined'; failure: Kind & { providerCode: string } };

/** A definite outcome without a payment. */
export function declined<Kind extends PayoutFailureKind>(failure: Kind, providerCode: string): Declined<Kind> {
  return { kind: 'declined', failure: { ...failure, providerCode } };
}

/** Declined with the failure that the provider's code stands for; REJECTED with this message for any other code. */
export function declinedBy<Kind extends PayoutFailureKind>(
  failures: ReadonlyMap<string, Kind>,
  providerCode: string,
  message: string,
) {
  const rejected = { code: 'REJECTED', message, retryable: false } as const;
  return declined(failures.get(providerCode) ?? rejected, providerCode);
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

/** The outcome of a request that was rejected: unknown. */
export function rejectedRequest(providerCode: string | null): Unknown {
  return unreadable(`the request was rejected with ${providerCode ?? 'no code'}`);
}

/** The phone of a payout, for a provider that pays out to phones only; declined without a request if it has none. */
export function phoneOnly({
  destination,
}: PayoutOrder): { kind: 'phone'; phone: string } | Declined<PayoutFailureKind> {
  if (destination.kind === 'phone') return destination;
  const message = 'The provider pays out to phone numbers only.';
  return declined({ code: 'REJECTED', message, retryable: false }, 'NOT_SENT');
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
 * the whole page `unknown`: a row left out would look like a missing payment.
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
