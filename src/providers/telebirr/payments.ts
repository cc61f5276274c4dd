import { formatBirr } from '../../lib/money.ts';
import type { SignedMessage } from '../../lib/provider-signing.ts';
import { readReply, toPlainOrderId, type ProviderDeps } from '../exchange.ts';
import type { OrderCalls, OrderState } from '../orders.ts';
import type { PaymentOrder, PayoutOrder } from '../provider.ts';
import { orderBy, replyBy } from './replies.ts';
import type { TelebirrConfig, TelebirrWire } from './wire.ts';

const PAYMENT_STATES = new Map<string, OrderState>([
  ['PAY_SUCCESS', 'paid'],
  ['Completed', 'paid'],
  ['PAY_FAILED', 'failed'],
  ['Failure', 'failed'],
  ['ORDER_CLOSED', 'expired'],
  ['Expired', 'expired'],
]);
const Payment = orderBy('payment', PAYMENT_STATES);
const PreOrder = replyBy('payment', ({ prepay_id: reference }, code) => ({
  state: reference ? 'waiting' : undefined,
  code,
  reference,
}));

/** Payments: an order with a page on which the customer confirms it. */
export function connectPayments(
  { call, payLink }: TelebirrWire,
  { clock }: ProviderDeps,
  config: TelebirrConfig,
): Pick<OrderCalls, 'initiate' | 'query'> {
  return {
    async initiate(order) {
      const reply = readReply(await call('preOrder', preOrderContent(order, config, clock())), PreOrder);
      if (reply.kind === 'unknown' || !reply.reference) return reply;
      return { ...reply, redirectUrl: payLink(reply.reference) };
    },
    query: async (orderId) => readReply(await call('queryOrder', { merch_order_id: toPlainOrderId(orderId) }), Payment),
  };
}

/** What payments and transfers have in common. */
export function commonContent(order: PaymentOrder | PayoutOrder): SignedMessage {
  return {
    merch_order_id: toPlainOrderId(order.orderId),
    notify_url: order.notifyUrl,
    total_amount: formatBirr(order.amountSantim),
    trans_currency: order.currency,
  };
}

function preOrderContent(order: PaymentOrder, config: TelebirrConfig, now: Date): SignedMessage {
  // Whole minutes, upwards: telebirr must not close an order that our session still accepts.
  const minutes = Math.max(1, Math.ceil((order.expiresAt.getTime() - now.getTime()) / 60_000));
  // telebirr rejects punctuation in titles.
  const title = order.title.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ').trim();
  return {
    ...commonContent(order),
    redirect_url: order.returnUrl,
    trade_type: 'Checkout',
    title: title.slice(0, 64) || 'Payment',
    timeout_express: `${minutes}m`,
    business_type: 'BuyGoods',
    payee_identifier: config.merchantCode,
    payee_identifier_type: '04',
    payee_type: '5000',
    // An order carries no payer, whose phone decides in the sandbox.
    ...(config.isSandbox ? { callback_info: order.phone } : {}),
  };
}
