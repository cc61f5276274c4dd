import Router from '@koa/router';

import { parseBirr } from '../../lib/money.ts';
import type { Callback } from './callback.ts';
import { respondSigned, isAllowed, signed } from './cbe-birr-message.ts';
import { cbeBirrPayoutRoutes, payoutCallback } from './cbe-birr-payout.ts';
import { visibleState, type Order, type OrderState } from './order.ts';
import { bodyOf, text, withFaults, type Rendered, type Wire, type WireContext, type WireDeps } from './protocol.ts';

const CHANNEL = 'CBE_BIRR';

const STATE: Readonly<Record<OrderState, string>> = {
  WAITING: 'PENDING',
  PAID: 'COMPLETED',
  DECLINED: 'FAILED',
  EXPIRED: 'EXPIRED',
};

const RESULT_CODES = {
  REFUSED_BY_PROVIDER: 'DECLINED',
  INSUFFICIENT_FUNDS: 'INSUFFICIENT_BALANCE',
  CANCELLED_BY_CUSTOMER: 'CANCELLED',
} as const;

/**
 * CBE Birr. All messages are signed alike, both ways. Beside the fields known of the real push (companyName, tillCode,
 * amount, transactionId, transactionTime, callBackURL, token, signature) the sandbox wants phoneNumber, currency and
 * expiryTime (ISO 8601), and answers state, resultCode, resultDesc and reference. Payouts and the list:
 * src/sandbox/simulator/cbe-birr-payout.ts.
 */
export function createCbeBirrWire(deps: WireDeps): Wire {
  const routes = new Router({ prefix: '/cbebirr' });
  routes.post(
    '/push',
    withFaults(deps, { channel: CHANNEL, kind: 'initiate' }, async (ctx) => {
      if (isAllowed(ctx)) await placeOrder(deps, ctx);
    }),
  );
  routes.post(
    '/status',
    withFaults(deps, { channel: CHANNEL, kind: 'query' }, async (ctx) => {
      if (isAllowed(ctx)) respondStatus(deps, ctx);
    }),
  );
  routes.use(cbeBirrPayoutRoutes(deps).routes());
  return { routes, callback, payoutCallback };
}

async function placeOrder(deps: WireDeps, ctx: WireContext): Promise<void> {
  const fields = bodyOf(ctx);
  const expiresAtMs = Date.parse(text(fields, 'expiryTime'));
  const amount = text(fields, 'amount');
  if (
    !parseBirr(amount) ||
    Number.isNaN(expiresAtMs) ||
    !text(fields, 'callBackURL') ||
    !text(fields, 'transactionId')
  ) {
    return respondSigned(ctx, { state: 'REJECTED', resultCode: 'INVALID_PARAMETER', resultDesc: 'a field is wrong' });
  }
  const placed = await deps.book.place({
    channel: CHANNEL,
    orderId: text(fields, 'transactionId'),
    phone: text(fields, 'phoneNumber'),
    amount,
    currency: text(fields, 'currency'),
    title: text(fields, 'companyName'),
    callbackUrl: text(fields, 'callBackURL'),
    returnUrl: null,
    expiresAtMs,
  });
  if (placed.kind === 'refused') {
    const resultCode = placed.why === 'UNKNOWN_PHONE' ? 'INVALID_MSISDN' : 'DUPLICATE_TRANSACTION';
    return respondSigned(ctx, { state: 'REJECTED', resultCode, resultDesc: resultCode });
  }
  const { orderId: transactionId, reference } = placed.order;
  respondSigned(ctx, { transactionId, state: 'PUSHED', resultCode: '0', resultDesc: 'sent', reference });
}

function respondStatus(deps: WireDeps, ctx: WireContext): void {
  const transactionId = text(bodyOf(ctx), 'transactionId');
  const order = deps.book.find(CHANNEL, transactionId);
  if (!order) return respondSigned(ctx, { transactionId, state: 'NOT_FOUND', resultCode: 'NOT_FOUND' });
  order.queries += 1;
  const state = visibleState(order, deps.clock.nowMs());
  respondSigned(ctx, { ...statusBody(order, state), amount: (state === 'PAID' && order.paidAmount) || order.amount });
}

function statusBody(order: Order, state: OrderState): Record<string, string> {
  return {
    transactionId: order.orderId,
    currency: order.currency,
    state: STATE[state],
    resultCode: state === 'DECLINED' && order.rejection ? RESULT_CODES[order.rejection] : '0',
    reference: state === 'PAID' ? order.transactionReference : order.reference,
  };
}

function callback(order: Order, callback: Callback<OrderState>): Rendered {
  return signed({ ...statusBody(order, callback.state), amount: callback.amount }, callback);
}
