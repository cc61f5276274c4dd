import { parseBirr } from '../lib/money.ts';
import { unreadable } from './exchange.ts';
import type {
  PaymentOrder,
  PayoutFailure,
  PayoutOrder,
  PayoutOutcome,
  Provider,
  ProviderFailure,
  ProviderOutcome,
  RefundOrder,
  RefundOutcome,
  Unknown,
} from './provider.ts';

/** waiting: for the customer or the provider · rejected: the request itself, which is no result of the order. */
export type OrderState = 'waiting' | 'paid' | 'reversed' | 'failed' | 'expired' | 'rejected';

/** A reply about an order, in the terms that all providers share. */
export type OrderReply = {
  kind: 'order';
  /** Our id; undefined where the reply names no order, as rejections may. */
  orderId: string | undefined;
  /** Undefined for a state that is not documented. */
  state: OrderState | undefined;
  /** The provider's own result or state, and its explanation. */
  code: string;
  reason?: string | undefined;
  reference?: string | undefined;
  amount?: string | undefined;
  currency?: string | undefined;
  redirectUrl?: string | null;
};

/** What a provider's code stands for: a failure, an order that exists already, or one that it does not know. */
export type Meaning =
  | ('declined' | 'insufficientFunds' | 'cancelled' | 'insufficientFloat' | 'failed')
  | ('unknownPayer' | 'unknownPayee' | 'unknownParty')
  | ('exists' | 'notFound');

/** The calls of a provider's protocol. */
export type OrderCalls = {
  /** Of our account. The provider's texts are logged, stored and shown, so one that quotes a secret has … in its place. */
  secrets: readonly string[];
  payoutTo: Provider['capabilities']['payoutTo'];
  meanings: Readonly<Record<string, Meaning>>;
  initiate: (order: PaymentOrder) => Promise<OrderReply | Unknown>;
  query: (orderId: string) => Promise<OrderReply | Unknown>;
  payout: (order: PayoutOrder) => Promise<OrderReply | Unknown>;
  queryPayout: (orderId: string) => Promise<OrderReply | Unknown>;
  /** Their replies name the refund. */
  refund: (order: RefundOrder) => Promise<OrderReply | Unknown>;
  queryRefund: (order: Pick<RefundOrder, 'refundId' | 'paymentId'>) => Promise<OrderReply | Unknown>;
};

type Failure<Of extends PayoutFailure> = Omit<Of, 'providerCode'>;
type Failures<Of extends PayoutFailure> = Partial<Record<Meaning, Failure<Of>>>;

const NO_PAYER = {
  code: 'INVALID_PAYER',
  message: 'The provider does not know this phone number.',
  retryable: true,
} as const;
const NO_PAYEE = {
  code: 'INVALID_PAYEE',
  message: 'The provider does not know this payee.',
  retryable: false,
} as const;

const PAYMENT_FAILURES: Failures<ProviderFailure> = {
  insufficientFunds: { code: 'INSUFFICIENT_FUNDS', message: 'The account has too little money.', retryable: true },
  cancelled: { code: 'CANCELLED_BY_CUSTOMER', message: 'The customer cancelled the payment.', retryable: true },
  unknownPayer: NO_PAYER,
  unknownParty: NO_PAYER,
  declined: { code: 'DECLINED', message: 'The provider declined the payment.', retryable: false },
};

/** In all of them nothing was paid. */
const PAYOUT_FAILURES: Failures<PayoutFailure> = {
  declined: { code: 'DECLINED', message: 'The provider declined the payout.', retryable: false },
  insufficientFloat: { code: 'INSUFFICIENT_FUNDS', message: 'The payout account has too little.', retryable: true },
  failed: { code: 'DECLINED', message: 'The provider accepted the payout, but it failed.', retryable: true },
  unknownPayee: NO_PAYEE,
  unknownParty: NO_PAYEE,
};

/** In all of them nothing was refunded. */
const REFUND_FAILURES: Failures<PayoutFailure> = {
  declined: { code: 'DECLINED', message: 'The provider declined the refund.', retryable: false },
  insufficientFloat: { code: 'INSUFFICIENT_FUNDS', message: 'The payment account has too little.', retryable: true },
  failed: { code: 'DECLINED', message: 'The provider accepted the refund, but it failed.', retryable: true },
};

const EXPIRED = { code: 'TIMED_OUT', message: 'The payment was not confirmed in time.', retryable: true } as const;
const PHONES_ONLY = 'The provider pays out to phone numbers only.';

/** Payments, payouts and refunds by a provider's calls. */
export function connectOrders(
  calls: OrderCalls,
): Pick<Provider, 'capabilities' | 'initiate' | 'query' | 'payout' | 'queryPayout' | 'refund' | 'queryRefund'> {
  // A code may be any text, "constructor" too.
  const meanings = new Map(Object.entries(calls.meanings));
  const mask = (text: string): string => calls.secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text);
  /** The outcome in a reply; `unknown` without a reply, or with one about another order or none. */
  const read = <Outcome>(orderId: string, reply: OrderReply | Unknown, outcomeOf: (reply: Read) => Outcome) => {
    if (reply.kind === 'unknown') return reply;
    if (reply.orderId === undefined && reply.state !== 'rejected') return unreadable('the reply names no order');
    if (reply.orderId !== undefined && reply.orderId !== orderId) {
      return { kind: 'unknown', reason: 'other-order', message: 'the reply is about another order' } as const;
    }
    const { code, reason, reference } = reply;
    const masked = { code: mask(code), reason: reason && mask(reason), reference: reference && mask(reference) };
    return outcomeOf({ ...reply, ...masked, meaning: meanings.get(code) });
  };
  return {
    capabilities: { payoutTo: calls.payoutTo, refunds: true },
    initiate: async (order) =>
      read(order.orderId, await calls.initiate(order), (reply) => readPayment(reply, 'accepted')),
    query: async (orderId) => read(orderId, await calls.query(orderId), (reply) => readPayment(reply, 'pending')),
    payout: async (order) =>
      calls.payoutTo.includes(order.destination.kind)
        ? read(order.orderId, await calls.payout(order), (reply) => readPayout(reply, 'accepted', PAYOUT_FAILURES))
        : declined('NOT_SENT', { code: 'REJECTED', message: PHONES_ONLY, retryable: false }),
    queryPayout: async (orderId) =>
      read(orderId, await calls.queryPayout(orderId), (reply) => readPayout(reply, 'pending', PAYOUT_FAILURES)),
    refund: async (order) => read(order.refundId, await calls.refund(order), (reply) => readRefund(reply, 'accepted')),
    queryRefund: async (order) =>
      read(order.refundId, await calls.queryRefund(order), (reply) => readRefund(reply, 'pending')),
  };
}

type Read = OrderReply & { meaning: Meaning | undefined };

/** `undecided`: accepted for a submission, pending for a query. */
function readPayment(reply: Read, undecided: 'accepted' | 'pending'): ProviderOutcome {
  const { state, code: providerCode, meaning, reference: providerReference = null, redirectUrl = null } = reply;
  const pending = { kind: 'pending', providerReference, providerCode } as const;
  switch (state) {
    case 'waiting':
      return undecided === 'pending' ? pending : { ...pending, kind: undecided, redirectUrl };
    case 'paid':
      return moneyOutcome('succeeded', reply);
    case 'expired':
      return declined(providerCode, EXPIRED);
    case 'failed':
      return declined(providerCode, failureOf(PAYMENT_FAILURES, reply, 'DECLINED'));
    case 'rejected':
      // It exists: the reply to an earlier submission was lost.
      if (meaning === 'exists' || meaning === 'notFound') return pending;
      // A rejected query does not describe the order (a wrong signature, for example).
      if (undecided === 'pending') return rejectedRequest(providerCode);
      return declined(providerCode, failureOf(PAYMENT_FAILURES, reply, 'REJECTED'));
    case 'reversed':
    case undefined:
      return unreadable(`the state of the payment is not known: ${providerCode}`);
  }
}

function readPayout(reply: Read, undecided: 'accepted' | 'pending', failures: Failures<PayoutFailure>): PayoutOutcome {
  const { state, code: providerCode, meaning, reference: providerReference = null } = reply;
  switch (state) {
    case 'waiting':
      return { kind: undecided, providerReference, providerCode };
    case 'paid':
      return moneyOutcome('succeeded', reply);
    case 'reversed':
      return moneyOutcome('reversed', reply);
    case 'failed':
      return declined(providerCode, failureOf(failures, reply, 'REJECTED'));
    case 'rejected': {
      if (meaning === 'notFound' && undecided === 'pending') return { kind: 'not-found', providerCode };
      // Any other code describes the request (its signature, a field, an id that was used with another amount): an earlier
      // submission may have been accepted, so only a query gives the outcome.
      const failure = meaning && undecided === 'accepted' ? failures[meaning] : undefined;
      return failure ? declined(providerCode, failure) : rejectedRequest(providerCode);
    }
    case 'expired':
    case undefined:
      return unreadable(`the state is not known: ${providerCode}`);
  }
}

/** As of a payout, but never reversed. */
function readRefund(reply: Read, undecided: 'accepted' | 'pending'): RefundOutcome {
  if (reply.state === 'paid') return moneyOutcome('succeeded', reply);
  if (reply.state === 'reversed') return unreadable('a refund was reversed');
  return readPayout(reply, undecided, REFUND_FAILURES) as RefundOutcome;
}

/** The failure that the provider's code stands for; for any other code, this one with the provider's reason. */
function failureOf<Of extends PayoutFailure>(
  failures: Failures<Of>,
  { meaning, reason = 'The provider gave no reason.' }: Read,
  otherwise: 'DECLINED' | 'REJECTED',
) {
  return (meaning && failures[meaning]) ?? ({ code: otherwise, message: reason, retryable: false } as const);
}

function declined<Kind extends Failure<PayoutFailure>>(providerCode: string, failure: Kind) {
  return { kind: 'declined', failure: { ...failure, providerCode } } as const;
}

/** Begins the message about a request that the provider rejected; the provider's code follows. */
export const REJECTED_WITH = 'the request was rejected with ';

function rejectedRequest(providerCode: string): Unknown {
  return unreadable(`${REJECTED_WITH}${providerCode}`);
}

/** A payment, payout or reversal; `unknown` without an amount, currency or reference. */
function moneyOutcome<Kind extends 'succeeded' | 'reversed'>(kind: Kind, reply: OrderReply) {
  const { reference: providerReference, currency, code: providerCode } = reply;
  const amountSantim = parseBirr(reply.amount ?? '');
  if (amountSantim === null || !providerReference || !currency) {
    return unreadable(`${kind}, without amount, currency or reference`);
  }
  return { kind, providerReference, amountSantim, currency, providerCode };
}
