import { z } from 'zod';

import { inAddis } from '../lib/dates.ts';
import { formatBirr } from '../lib/money.ts';
import { signCbeBirr, verifyCbeBirr } from '../lib/provider-signing.ts';
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
  phoneOnly,
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
import type { PayoutOutcome, Provider, ProviderOutcome, Unknown } from './provider.ts';

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

const DIALECT: Dialect<Order> = {
  schema: Order,
  orderOf: ({ transactionId }) => transactionId,
  isRejection: ({ state }, status) => status >= 400 || state === 'REJECTED',
};

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

const PAYMENT = paymentFailures('CBE Birr');
const PAYMENT_FAILURES = new Map<string, Failure>([
  ['INSUFFICIENT_BALANCE', PAYMENT.insufficientFunds],
  ['CANCELLED', PAYMENT.cancelled],
  ['INVALID_MSISDN', PAYMENT.unknownPhone],
  ['DECLINED', PAYMENT.declined],
]);
const PAYOUT = payoutFailures('CBE Birr');
const PAYOUT_FAILURES = new Map<string, PayoutFailureKind>([
  ['DECLINED', PAYOUT.declined],
  ['INSUFFICIENT_FLOAT', PAYOUT.insufficientFunds],
  ['PAYOUT_FAILED', PAYOUT.failed],
  ['INVALID_MSISDN', PAYOUT.unknownPayee],
]);

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
    ...cbeBirrPayouts(call),
    capabilities: { payoutTo: ['phone'] },
    callbackResponse: { contentType: 'application/json', body: '{"resultCode":"0"}' },

    async initiate({ orderId, ...order }) {
      const reply = await call('/push', {
        transactionId: orderId,
        amount: formatBirr(order.amountSantim),
        currency: order.currency,
        phoneNumber: order.phone,
        callBackURL: order.notifyUrl,
        expiryTime: order.expiresAt.toISOString(),
      });
      return outcomeOf(reply, DIALECT, { orderId, read: readPayment, rejected: readPayment });
    },

    async query(orderId) {
      const reply = await call('/status', { transactionId: orderId });
      return outcomeOf(reply, DIALECT, { orderId, read: readPayment, rejected: rejectedQuery });
    },

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

function cbeBirrPayouts(call: Call): Pick<Provider, 'payout' | 'queryPayout'> {
  return {
    async payout(order) {
      const payee = phoneOnly(order, 'CBE Birr');
      if (payee.kind === 'declined') return payee;
      const reply = await call('/payout', {
        transactionId: order.orderId,
        amount: formatBirr(order.amountSantim),
        currency: order.currency,
        phoneNumber: payee.phone,
        accountName: order.accountName,
        callBackURL: order.notifyUrl,
      });
      return outcomeOf<Order, PayoutOutcome>(reply, DIALECT, {
        orderId: order.orderId,
        read: (payout) => readPayout(payout, 'accepted'),
        rejected: ({ resultCode }) => payoutRejected(PAYOUT_FAILURES, resultCode),
      });
    },

    async queryPayout(orderId) {
      return outcomeOf<Order, PayoutOutcome>(await call('/payout-status', { transactionId: orderId }), DIALECT, {
        orderId,
        read: (payout) =>
          payout.state === 'NOT_FOUND'
            ? { kind: 'not-found', providerCode: payout.state }
            : readPayout(payout, 'pending'),
        rejected: rejectedQuery,
      });
    },
  };
}

const rejectedQuery = ({ resultCode }: Order): Unknown => rejectedRequest(resultCode);

function readPayment(payment: Order): ProviderOutcome {
  const { state, resultCode, reference: providerReference = null } = payment;
  switch (state) {
    case 'PUSHED':
      return { kind: 'accepted', providerReference, redirectUrl: null, providerCode: resultCode };
    case 'PENDING':
    case 'NOT_FOUND':
      return { kind: 'pending', providerReference, providerCode: state };
    case 'COMPLETED':
      return moneyOutcome('succeeded', { ...payment, providerCode: resultCode });
    case 'EXPIRED':
      return declined(PAYMENT.expired, resultCode);
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
