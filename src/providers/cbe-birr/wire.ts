import { z } from 'zod';

import { inAddis } from '../../lib/dates.ts';
import { formatBirr } from '../../lib/money.ts';
import { exchange, readReply, type ProviderDeps, type Reply } from '../exchange.ts';
import type { ValuesOf } from '../manifest.ts';
import type { Meaning, OrderReply, OrderState } from '../orders.ts';
import type { PayoutOrder, Unknown } from '../provider.ts';
import type { cbeBirr } from './manifest.ts';
import { signCbeBirr } from './signing.ts';

/** CBE Birr's service, and a till there. */
export type CbeBirrConfig = ValuesOf<typeof cbeBirr.credentials> & { baseUrl: string };
export type CbeBirrWire = ReturnType<typeof createCbeBirrWire>;

const STATES = new Map<string, OrderState>([
  ['PUSHED', 'waiting'],
  ['PENDING', 'waiting'],
  ['ACCEPTED', 'waiting'],
  ['COMPLETED', 'paid'],
  ['REVERSED', 'reversed'],
  ['FAILED', 'failed'],
  ['EXPIRED', 'expired'],
]);
/** What its codes stand for. */
export const MEANINGS: Record<string, Meaning> = {
  DECLINED: 'declined',
  INSUFFICIENT_BALANCE: 'insufficientFunds',
  CANCELLED: 'cancelled',
  INVALID_MSISDN: 'unknownParty',
  INSUFFICIENT_FLOAT: 'insufficientFloat',
  PAYOUT_FAILED: 'failed',
  REFUND_FAILED: 'failed',
  NOT_FOUND: 'notFound',
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

/** Calls of the service, signed: all are POSTs in one shape, with the fields of the till. */
export function createCbeBirrWire(
  { http, clock, timeoutMs }: ProviderDeps,
  { baseUrl, hashKey, companyName, tillCode, token }: CbeBirrConfig,
) {
  const till = { companyName, tillCode, token };
  const call = (path: string, fields: Record<string, string>): Promise<Reply | Unknown> => {
    // `yyyy-MM-dd HH:mm:ss` in Addis Ababa.
    const transactionTime = inAddis(clock()).toISOString().slice(0, 19).replace('T', ' ');
    const message = { ...till, transactionTime, ...fields };
    const body = JSON.stringify({ ...message, signature: signCbeBirr(message, hashKey) });
    return exchange(http, { url: `${baseUrl}${path}`, body, signal: AbortSignal.timeout(timeoutMs) });
  };
  return {
    call,
    /** A call about an order. */
    callOrder: async (path: string, fields: Record<string, string>) => readReply(await call(path, fields), Order),
  };
}

/** The fields of every order. `transactionId` is our order id: the same id is pushed only once. */
export function commonFields(order: Pick<PayoutOrder, 'orderId' | 'amountSantim' | 'currency' | 'notifyUrl'>) {
  const { orderId: transactionId, amountSantim, currency, notifyUrl: callBackURL } = order;
  return { transactionId, amount: formatBirr(amountSantim), currency, callBackURL };
}
