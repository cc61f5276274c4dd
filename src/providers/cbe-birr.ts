import { z } from 'zod';

import { inAddis } from '../lib/dates.ts';
import { formatBirr } from '../lib/money.ts';
import { signCbeBirr, verifyCbeBirr } from '../lib/provider-signing.ts';
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
  phoneOnly,
  statementPage,
  type Protocol,
  type RowType,
} from './orders.ts';
import type { PayoutOrder, PayoutOutcome, Provider, ProviderOutcome, Unknown } from './provider.ts';

export type CbeBirrConfig = {
  baseUrl: string;
  companyName: string;
  tillCode: string;
  token: string;
  /** Part of every signature, never sent. */
  hashKey: string;
};

/** A payment or a payout. */
const Order = z.object({
  transactionId: z.string().optional(),
  state: z.string(),
  resultCode: z.string(),
  resultDesc: z.string().optional(),
  reference: z.string().optional(),
  amount: z.string().optional(),
  currency: z.string().optional(),
});
type Order = z.output<typeof Order>;

const text = z.string();
const StatementRow = z.object({
  transactionId: text,
  type: text,
  amount: text,
  currency: text,
  reference: text,
  time: text,
});
const Statement = z.object({ rows: z.array(StatementRow).max(500), nextCursor: text });
const ROW_TYPES = new Map<string, RowType>([
  ['PUSH', 'payment'],
  ['PAYOUT', 'payout'],
  ['PAYOUT_REVERSAL', 'payoutReversal'],
]);

const PAYMENT_FAILURES = paymentFailures({
  INSUFFICIENT_BALANCE: 'insufficientFunds',
  CANCELLED: 'cancelled',
  INVALID_MSISDN: 'unknownPhone',
  DECLINED: 'declined',
});
const PAYOUT_FAILURES = payoutFailures({
  DECLINED: 'declined',
  INSUFFICIENT_FLOAT: 'insufficientFunds',
  PAYOUT_FAILED: 'failed',
  INVALID_MSISDN: 'unknownPayee',
});

type Call = (path: string, fields: Record<string, string>) => Promise<Reply | Unknown>;

/** A signed POST of these fields beside the till's own. */
function createCall({ http, clock, timeoutMs }: ProviderDeps, config: CbeBirrConfig): Call {
  const { baseUrl, hashKey, ...till } = config;
  return (path, fields) => {
    // `yyyy-MM-dd HH:mm:ss` in Addis Ababa.
    const transactionTime = inAddis(clock()).toISOString().slice(0, 19).replace('T', ' ');
    const message = { ...till, transactionTime, ...fields };
    return exchange(http, {
      method: 'POST',
      url: `${baseUrl}${path}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...message, signature: signCbeBirr(message, hashKey) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
  };
}

/**
 * The channel CBE_BIRR: a USSD push to the customer's phone by signed POST. `transactionId` is our order id: the same id
 * is pushed only once. Payouts and statement are not published: both are assumed to be signed POSTs in the shape of the
 * push (src/sandbox/simulator/cbe-birr.ts has the fields).
 */
export function createCbeBirr(deps: ProviderDeps, config: CbeBirrConfig): Provider {
  const call = createCall(deps, config);
  return {
    channel: 'CBE_BIRR',
    capabilities: { payoutTo: ['phone'] },
    callbackResponse: { contentType: 'application/json', body: '{"resultCode":"0"}' },
    ...connectOrders(protocolOf(call)),

    async statement(day, cursor) {
      const reply = await call('/statement', { statementDate: day, cursor: cursor ?? '' });
      return statementPage(reply, Statement, ({ rows, nextCursor }) => ({
        rows: rows.map(({ transactionId: orderId, type, time, ...row }) => ({
          ...row,
          orderId,
          type: ROW_TYPES.get(type),
          atMs: Date.parse(time),
        })),
        next: nextCursor,
      }));
    },

    parseCallback({ body }) {
      const message = z.record(z.string(), z.string()).safeParse(parseJson(body.toString('utf8')));
      if (!message.success) return { verified: false, problem: 'not a JSON object of texts' };
      // Public samples of this callback skip the check; then anybody who knows the address could confirm payments.
      if (!verifyCbeBirr(message.data, config.hashKey)) {
        return { verified: false, problem: 'signature is not of this message' };
      }
      const orderId = message.data['transactionId'];
      return orderId ? { verified: true, orderId } : { verified: false, problem: 'no transactionId' };
    },
  };
}

function protocolOf(call: Call): Protocol<Order> {
  return {
    schema: Order,
    orderOf: ({ transactionId }) => transactionId,
    codeOf: ({ resultCode }) => resultCode,
    isRejection: ({ state }, status) => status >= 400 || state === 'REJECTED',
    isNotFound: ({ state }) => state === 'NOT_FOUND',
    payments: {
      initiate: async (order) =>
        call('/push', {
          ...commonFields(order),
          phoneNumber: order.phone,
          expiryTime: order.expiresAt.toISOString(),
        }),
      query: async (orderId) => call('/status', { transactionId: orderId }),
      readInitiated: readPayment,
      readRejected: readPayment,
      read: readPayment,
    },
    payouts: {
      submit: async (order) => {
        const payee = phoneOnly(order);
        if (payee.kind === 'declined') return payee;
        return call('/payout', { ...commonFields(order), phoneNumber: payee.phone, accountName: order.accountName });
      },
      query: async (orderId) => call('/payout-status', { transactionId: orderId }),
      readRejected: ({ resultCode }) => payoutRejected(PAYOUT_FAILURES, resultCode),
      read: readPayout,
    },
  };
}

function commonFields(order: Pick<PayoutOrder, 'orderId' | 'amountSantim' | 'currency' | 'notifyUrl'>) {
  const { orderId: transactionId, amountSantim, currency, notifyUrl: callBackURL } = order;
  return { transactionId, amount: formatBirr(amountSantim), currency, callBackURL };
}

function readPayment(payment: Order): ProviderOutcome {
  const { state, resultCode, reference: providerReference = null } = payment;
  switch (state) {
    case 'PUSHED':
      return { kind: 'accepted', providerReference, redirectUrl: null, providerCode: resultCode };
    case 'PENDING':
      return { kind: 'pending', providerReference, providerCode: state };
    case 'COMPLETED':
      return moneyOutcome('succeeded', { ...payment, providerCode: resultCode });
    case 'EXPIRED':
      return declined(EXPIRED, resultCode);
    case 'FAILED':
    case 'REJECTED':
      return declinedBy(PAYMENT_FAILURES, resultCode, payment.resultDesc ?? 'CBE Birr rejected the payment.');
    default:
      return unreadable(`state ${state} is not known`);
  }
}

function readPayout(payout: Order, undecided: 'accepted' | 'pending'): PayoutOutcome {
  const { state, reference: providerReference = null } = payout;
  switch (state) {
    case 'ACCEPTED':
      return { kind: undecided, providerReference, providerCode: state };
    case 'COMPLETED':
      return moneyOutcome('succeeded', { ...payout, providerCode: state });
    case 'REVERSED':
      return moneyOutcome('reversed', { ...payout, providerCode: state });
    case 'FAILED':
      return declinedBy(PAYOUT_FAILURES, payout.resultCode, 'CBE Birr did not make the payout.');
    default:
      return unreadable(`state ${state} is not known`);
  }
}
