import { z } from 'zod';

import { formatBirr } from '../lib/money.ts';
import { signAwash, verifyAwash } from '../lib/provider-signing.ts';
import {
  declined,
  declinedBy,
  exchange,
  moneyOutcome,
  outcomeOf,
  parseJson,
  paymentFailures,
  payoutFailures,
  payoutRejected,
  rejectedRequest,
  statementPage,
  unreadable,
  type Dialect,
  type Failure,
  type PayoutFailureKind,
  type ProviderDeps,
  type Reply,
  type RowType,
} from './exchange.ts';
import type { PayoutOrder, PayoutOutcome, Provider, ProviderOutcome, Unknown } from './provider.ts';

/** Awash publishes no merchant API. The contract assumed here is described in src/sandbox/simulator/awash.ts. */
export type AwashConfig = { baseUrl: string; merchantId: string; secret: string };

/** A payment or a payout. */
const Order = z.object({
  orderId: z.string().optional(),
  reference: z.string().optional(),
  state: z.string(),
  amount: z.string().optional(),
  currency: z.string().optional(),
  reasonCode: z.string().optional(),
  reason: z.string().optional(),
});
type Order = z.output<typeof Order>;

const DIALECT: Dialect<Order> = {
  schema: Order,
  orderOf: ({ orderId }) => orderId,
  // 404 NOT_FOUND is the status of an order that does not exist yet.
  isRejection: ({ state }, status) => status >= 400 && state !== 'NOT_FOUND',
};

const text = z.string();
const StatementRow = z.object({ orderId: text, type: text, amount: text, currency: text, reference: text, at: text });
const Statement = z.object({ rows: z.array(StatementRow).max(500), next: text.nullable() });
const ROW_TYPES = new Map<string, RowType>([
  ['PAYMENT', 'payment'],
  ['PAYOUT', 'payout'],
  ['PAYOUT_REVERSAL', 'payoutReversal'],
]);

const PAYMENT = paymentFailures('Awash');
const PAYMENT_FAILURES = new Map<string, Failure>([
  ['INSUFFICIENT_FUNDS', PAYMENT.insufficientFunds],
  ['CANCELLED', PAYMENT.cancelled],
  ['UNKNOWN_PHONE', PAYMENT.unknownPhone],
  ['DECLINED', PAYMENT.declined],
]);
const PAYOUT = payoutFailures('Awash');
const PAYOUT_FAILURES = new Map<string, PayoutFailureKind>([
  ['DECLINED', PAYOUT.declined],
  ['INSUFFICIENT_FLOAT', PAYOUT.insufficientFunds],
  ['PAYOUT_FAILED', PAYOUT.failed],
  ['UNKNOWN_PAYEE', PAYOUT.unknownPayee],
]);

type Call = (method: 'GET' | 'POST', path: string, message?: object) => Promise<Reply | Unknown>;

/** A signed call. The signature of a GET, which has no body, covers its path. */
function createCall(deps: ProviderDeps, config: AwashConfig): Call {
  return (method, path, message = {}) => {
    const timestamp = deps.clock().toISOString();
    const body = method === 'POST' ? JSON.stringify(message) : null;
    return exchange(deps.http, {
      method,
      url: `${config.baseUrl}${path}`,
      headers: {
        'content-type': 'application/json',
        'x-merchant-id': config.merchantId,
        'x-timestamp': timestamp,
        'x-signature': signAwash(timestamp, body ?? path, config.secret),
      },
      ...(body === null ? {} : { body }),
      signal: AbortSignal.timeout(deps.timeoutMs),
    });
  };
}

/** The channel AWASH: a push to the customer's phone, and payouts to phones and bank accounts. */
export function createAwash(deps: ProviderDeps, config: AwashConfig): Provider {
  const call = createCall(deps, config);
  return {
    channel: 'AWASH',
    ...awashPayouts(call),
    capabilities: { payoutTo: ['phone', 'bank'] },
    callbackResponse: { contentType: 'application/json', body: '{"received":true}' },

    async initiate({ orderId, ...order }) {
      const message = {
        orderId,
        amount: formatBirr(order.amountSantim),
        currency: order.currency,
        phone: order.phone,
        title: order.title,
        callbackUrl: order.notifyUrl,
        expiresAt: order.expiresAt.toISOString(),
      };
      const read = (payment: Order): ProviderOutcome => readPayment(payment, 'accepted');
      return outcomeOf(await call('POST', '/payments', message), DIALECT, { orderId, read, rejected: read });
    },

    async query(orderId) {
      const reply = await call('GET', `/payments/${encodeURIComponent(orderId)}`);
      const read = (payment: Order): ProviderOutcome => readPayment(payment, 'pending');
      return outcomeOf(reply, DIALECT, { orderId, read, rejected: (body) => rejectedRequest(codeOf(body)) });
    },

    async statement(day, cursor) {
      const query = new URLSearchParams({ day, ...(cursor === null ? {} : { cursor }) });
      const reply = await call('GET', `/statement?${query.toString()}`);
      return statementPage(reply, Statement, ({ rows, next }) => ({
        rows: rows.map((row) => ({ ...row, type: ROW_TYPES.get(row.type), atMs: Date.parse(row.at) })),
        next,
      }));
    },

    parseCallback({ headers, body }) {
      const text = body.toString('utf8');
      if (!verifyAwash(headers, text, config.secret)) {
        return { verified: false, problem: 'x-signature is not of this message' };
      }
      const orderId = Order.safeParse(parseJson(text)).data?.orderId;
      return orderId ? { verified: true, orderId } : { verified: false, problem: 'no orderId' };
    },
  };
}

function awashPayouts(call: Call): Pick<Provider, 'payout' | 'queryPayout'> {
  return {
    async payout(order) {
      return outcomeOf<Order, PayoutOutcome>(await call('POST', '/payouts', payoutMessage(order)), DIALECT, {
        orderId: order.orderId,
        read: (payout) => readPayout(payout, 'accepted'),
        rejected: (body, status) =>
          status === 422 ? payoutRejected(PAYOUT_FAILURES, codeOf(body)) : rejectedRequest(codeOf(body)),
      });
    },

    async queryPayout(orderId) {
      return outcomeOf<Order, PayoutOutcome>(await call('GET', `/payouts/${encodeURIComponent(orderId)}`), DIALECT, {
        orderId,
        read: (payout) =>
          payout.state === 'NOT_FOUND'
            ? { kind: 'not-found', providerCode: payout.state }
            : readPayout(payout, 'pending'),
        rejected: (body) => rejectedRequest(codeOf(body)),
      });
    },
  };
}

const codeOf = ({ reasonCode, state }: Order): string => reasonCode ?? state;

function readPayment(payment: Order, pushed: 'accepted' | 'pending'): ProviderOutcome {
  const { state, reference: providerReference = null } = payment;
  switch (state) {
    case 'PUSHED':
      return { kind: pushed, providerReference, redirectUrl: null, providerCode: state };
    case 'NOT_FOUND':
      return { kind: 'pending', providerReference: null, providerCode: state };
    case 'PAID':
      return moneyOutcome('succeeded', { ...payment, providerCode: state });
    case 'EXPIRED':
      return declined(PAYMENT.expired, state);
    case 'REFUSED':
      return declinedBy(PAYMENT_FAILURES, codeOf(payment), payment.reason ?? 'Awash rejected the payment.');
    default:
      return unreadable(`state ${state} is not known`);
  }
}

function payoutMessage({ destination, ...order }: PayoutOrder): object {
  const { kind: _, ...payee } = destination;
  return {
    orderId: order.orderId,
    amount: formatBirr(order.amountSantim),
    currency: order.currency,
    accountName: order.accountName,
    callbackUrl: order.notifyUrl,
    ...payee,
  };
}

function readPayout(payout: Order, undecided: 'accepted' | 'pending'): PayoutOutcome {
  const { state, reference: providerReference = null } = payout;
  switch (state) {
    case 'ACCEPTED':
      return { kind: undecided, providerReference, providerCode: state };
    case 'PAID':
      return moneyOutcome('succeeded', { ...payout, providerCode: state });
    case 'REVERSED':
      return moneyOutcome('reversed', { ...payout, providerCode: state });
    case 'FAILED':
      return declinedBy(PAYOUT_FAILURES, codeOf(payout), 'Awash did not make the payout.');
    default:
      return unreadable(`state ${state} is not known`);
  }
}
