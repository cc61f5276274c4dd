import { z } from 'zod';

import { formatBirr } from '../lib/money.ts';
import { signAwash, verifyAwash } from '../lib/provider-signing.ts';
import { exchange, parseJson, unreadable, type ProviderDeps, type Reply } from './exchange.ts';
import {
  connectOrders,
  declined,
  declinedBy,
  EXPIRED,
  moneyOutcome,
  paymentFailures,
  payoutFailures,
  payoutRejected,
  rejectedRequest,
  statementPage,
  type Protocol,
  type RowType,
} from './orders.ts';
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

const text = z.string();
const StatementRow = z.object({ orderId: text, type: text, amount: text, currency: text, reference: text, at: text });
const Statement = z.object({ rows: z.array(StatementRow).max(500), next: text.nullable() });
const ROW_TYPES = new Map<string, RowType>([
  ['PAYMENT', 'payment'],
  ['PAYOUT', 'payout'],
  ['PAYOUT_REVERSAL', 'payoutReversal'],
]);

const PAYMENT_FAILURES = paymentFailures({
  INSUFFICIENT_FUNDS: 'insufficientFunds',
  CANCELLED: 'cancelled',
  UNKNOWN_PHONE: 'unknownPhone',
  DECLINED: 'declined',
});
const PAYOUT_FAILURES = payoutFailures({
  DECLINED: 'declined',
  INSUFFICIENT_FLOAT: 'insufficientFunds',
  PAYOUT_FAILED: 'failed',
  UNKNOWN_PAYEE: 'unknownPayee',
});

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
    capabilities: { payoutTo: ['phone', 'bank'] },
    callbackResponse: { contentType: 'application/json', body: '{"received":true}' },
    ...connectOrders(protocolOf(call)),

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

const codeOf = ({ reasonCode, state }: Order): string => reasonCode ?? state;

function protocolOf(call: Call): Protocol<Order> {
  return {
    schema: Order,
    orderOf: ({ orderId }) => orderId,
    codeOf,
    // 404 NOT_FOUND is the status of an order that does not exist yet.
    isRejection: ({ state }, status) => status >= 400 && state !== 'NOT_FOUND',
    isNotFound: ({ state }) => state === 'NOT_FOUND',
    payments: {
      initiate: async (order) =>
        call('POST', '/payments', {
          ...commonFields(order),
          phone: order.phone,
          title: order.title,
          expiresAt: order.expiresAt.toISOString(),
        }),
      query: async (orderId) => call('GET', `/payments/${encodeURIComponent(orderId)}`),
      readInitiated: (payment) => readPayment(payment, 'accepted'),
      readRejected: (payment) => readPayment(payment, 'accepted'),
      read: (payment) => readPayment(payment, 'pending'),
    },
    payouts: {
      submit: async ({ destination, ...order }) => {
        const payee =
          destination.kind === 'phone'
            ? { phone: destination.phone }
            : { bankCode: destination.bankCode, accountNumber: destination.accountNumber };
        return call('POST', '/payouts', { ...commonFields(order), accountName: order.accountName, ...payee });
      },
      query: async (orderId) => call('GET', `/payouts/${encodeURIComponent(orderId)}`),
      readRejected: (body, status) =>
        status === 422 ? payoutRejected(PAYOUT_FAILURES, codeOf(body)) : rejectedRequest(codeOf(body)),
      read: readPayout,
    },
  };
}

function commonFields(order: Pick<PayoutOrder, 'orderId' | 'amountSantim' | 'currency' | 'notifyUrl'>) {
  const { orderId, amountSantim, currency, notifyUrl } = order;
  return { orderId, amount: formatBirr(amountSantim), currency, callbackUrl: notifyUrl };
}

function readPayment(payment: Order, pushed: 'accepted' | 'pending'): ProviderOutcome {
  const { state, reference: providerReference = null } = payment;
  switch (state) {
    case 'PUSHED':
      return { kind: pushed, providerReference, redirectUrl: null, providerCode: state };
    case 'PAID':
      return moneyOutcome('succeeded', { ...payment, providerCode: state });
    case 'EXPIRED':
      return declined(EXPIRED, state);
    case 'REFUSED':
      return declinedBy(PAYMENT_FAILURES, codeOf(payment), payment.reason ?? 'Awash rejected the payment.');
    default:
      return unreadable(`state ${state} is not known`);
  }
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
