import { z } from 'zod';

import { inAddis } from '../lib/dates.ts';
import { formatBirr, parseBirr } from '../lib/money.ts';
import { signCbeBirr, verifyCbeBirr } from '../lib/provider-signing.ts';
import { exchange, readCallback, readReply, type ProviderDeps, type Reply } from './exchange.ts';
import { connectOrders, type Meaning, type OrderReply, type OrderState } from './orders.ts';
import { StatementPage, type PayoutOrder, type Provider, type Unknown } from './provider.ts';
import { PAYOUT_TO, type Credentials, type ProviderEndpoint } from './settings.ts';

export type CbeBirrConfig = Credentials<'CBE_BIRR'> & ProviderEndpoint<'CBE_BIRR'>;

const STATES = new Map<string, OrderState>([
  ['PUSHED', 'waiting'],
  ['PENDING', 'waiting'],
  ['ACCEPTED', 'waiting'],
  ['COMPLETED', 'paid'],
  ['REVERSED', 'reversed'],
  ['FAILED', 'failed'],
  ['EXPIRED', 'expired'],
]);
const MEANINGS: Record<string, Meaning> = {
  DECLINED: 'declined',
  INSUFFICIENT_BALANCE: 'insufficientFunds',
  CANCELLED: 'cancelled',
  INVALID_MSISDN: 'unknownParty',
  INSUFFICIENT_FLOAT: 'insufficientFloat',
  PAYOUT_FAILED: 'failed',
  REFUND_FAILED: 'failed',
  NOT_FOUND: 'notFound',
};
const ROW_TYPES: Record<string, string> = {
  PUSH: 'payment',
  PAYOUT: 'payout',
  PAYOUT_REVERSAL: 'payoutReversal',
  REFUND: 'refund',
};

const text = z.string();
const optional = text.optional();

const Order = z
  .object({
    status: z.number(),
    body: z.object({
      transactionId: optional,
      state: text,
      resultCode: text,
      resultDesc: optional,
      reference: optional,
      amount: optional,
      currency: optional,
    }),
  })
  .transform(({ status, body: { transactionId, state, resultCode, resultDesc, ...order } }): OrderReply => {
    const isRejected = status >= 400 || state === 'REJECTED';
    // Without valid credentials the order was not looked at: the code is not about the order.
    const result = status === 401 ? 'HTTP 401' : resultCode;
    return {
      kind: 'order',
      orderId: transactionId,
      state: isRejected ? 'rejected' : STATES.get(state),
      code: result === '0' ? state : result,
      reason: resultDesc,
      ...order,
    };
  });

const Row = z
  .object({ transactionId: text, type: text, amount: text, currency: text, reference: text, time: text })
  .transform(({ transactionId: orderId, type, amount, currency, reference: providerReference, time }) => {
    const [amountSantim, at] = [parseBirr(amount), new Date(time)];
    return { orderId, type: ROW_TYPES[type], amountSantim, currency, providerReference, at };
  });
const Statement = z
  .object({ body: z.object({ rows: z.array(Row), nextCursor: text }) })
  .transform(({ body: { rows, nextCursor } }) => ({ kind: 'page', rows, next: nextCursor || null }))
  .pipe(StatementPage);

/**
 * The channel CBE_BIRR: a USSD push to the customer's phone by signed POST. `transactionId` is our order id: the same id
 * is pushed only once. Payouts, refunds and statement are not published: all are assumed to be signed POSTs in the shape of
 * the push (src/sandbox/simulator/cbe-birr.ts has the fields). Awash publishes no merchant API at all: until it does, its
 * channel is assumed to speak this protocol, with payouts to bank accounts too.
 */
export function createCbeBirr(
  { http, clock, timeoutMs }: ProviderDeps,
  { baseUrl, hashKey, ...till }: CbeBirrConfig,
  channel: 'CBE_BIRR' | 'AWASH' = 'CBE_BIRR',
): Provider {
  /** Sends these fields beside the till's own. */
  const call = (path: string, fields: Record<string, string>): Promise<Reply | Unknown> => {
    // `yyyy-MM-dd HH:mm:ss` in Addis Ababa.
    const transactionTime = inAddis(clock()).toISOString().slice(0, 19).replace('T', ' ');
    const message = { ...till, transactionTime, ...fields };
    const body = JSON.stringify({ ...message, signature: signCbeBirr(message, hashKey) });
    return exchange(http, { url: `${baseUrl}${path}`, body, signal: AbortSignal.timeout(timeoutMs) });
  };
  const callOrder = async (path: string, fields: Record<string, string>) => readReply(await call(path, fields), Order);
  return {
    channel,
    callbackResponse: { contentType: 'application/json', body: '{"resultCode":"0"}' },
    ...connectOrders({
      secrets: [till.token, hashKey],
      payoutTo: PAYOUT_TO[channel],
      meanings: MEANINGS,
      initiate: ({ phone, expiresAt, ...order }) =>
        callOrder('/push', { ...commonFields(order), phoneNumber: phone, expiryTime: expiresAt.toISOString() }),
      query: (transactionId) => callOrder('/status', { transactionId }),
      payout: ({ destination, accountName, ...order }) =>
        callOrder('/payout', { ...commonFields(order), accountName, ...payeeFields(destination) }),
      queryPayout: (transactionId) => callOrder('/payout-status', { transactionId }),
      refund: ({ refundId: orderId, paymentId: originalTransactionId, reason, ...order }) =>
        callOrder('/refund', { ...commonFields({ ...order, orderId }), originalTransactionId, reason }),
      queryRefund: ({ refundId: transactionId }) => callOrder('/refund-status', { transactionId }),
    }),
    statement: async (statementDate, cursor) =>
      readReply(await call('/statement', { statementDate, cursor: cursor ?? '' }), Statement),
    // Public samples of this callback skip the check; then the address alone would suffice to confirm payments.
    parseCallback: ({ body }) => readCallback(body, 'transactionId', (message) => verifyCbeBirr(message, hashKey)),
  };
}

function commonFields(order: Pick<PayoutOrder, 'orderId' | 'amountSantim' | 'currency' | 'notifyUrl'>) {
  const { orderId: transactionId, amountSantim, currency, notifyUrl: callBackURL } = order;
  return { transactionId, amount: formatBirr(amountSantim), currency, callBackURL };
}

function payeeFields(destination: PayoutOrder['destination']): Record<string, string> {
  return destination.kind === 'phone'
    ? { phoneNumber: destination.phone }
    : { bankCode: destination.bankCode, accountNumber: destination.accountNumber };
}
