import Router from '@koa/router';

import { parseBirr } from '../../lib/money.ts';
import { isAllowed, signed } from './awash-message.ts';
import { awashPayoutRoutes, payoutCallback } from './awash-payout.ts';
import type { Callback } from './callback.ts';
import { visibleState, type Order, type OrderState } from './order.ts';
import {
  respond,
  bodyOf,
  text,
  withFaults,
  type Rendered,
  type Wire,
  type WireContext,
  type WireDeps,
} from './protocol.ts';

const CHANNEL = 'AWASH';

const STATE: Readonly<Record<OrderState, string>> = {
  WAITING: 'PUSHED',
  PAID: 'PAID',
  DECLINED: 'REFUSED',
  EXPIRED: 'EXPIRED',
};

const REASON_CODES = {
  REFUSED_BY_PROVIDER: 'DECLINED',
  INSUFFICIENT_FUNDS: 'INSUFFICIENT_FUNDS',
  CANCELLED_BY_CUSTOMER: 'CANCELLED',
} as const;

/**
 * Awash publishes no merchant API, so this is the contract, ours, until it does:
 * - POST /payments { orderId, amount "0.00", currency, phone, title, callbackUrl, expiresAt } pushes to the phone, where
 *   the customer approves: 202 { orderId, reference, state: PUSHED }, or 422 { state: REFUSED, reasonCode, reason }.
 *   The same orderId again answers the same and pushes nothing.
 * - GET /payments/{orderId}: { orderId, reference, amount, currency, state: PUSHED | PAID | REFUSED | EXPIRED,
 *   reasonCode? }; an unknown one is 404 { state: NOT_FOUND }.
 * - The callback is a POST of that same object to callbackUrl.
 * - Payouts and the list: src/sandbox/simulator/awash-payout.ts.
 * Every request, theirs and ours, has x-timestamp and x-signature: HMAC-SHA256 in hex, under the shared secret, of the
 * timestamp, a dot and the body (for a GET, the path with its query).
 */
export function createAwashWire(deps: WireDeps): Wire {
  const routes = new Router({ prefix: '/awash' });
  routes.post(
    '/payments',
    withFaults(deps, { channel: CHANNEL, kind: 'initiate' }, async (ctx) => {
      if (isAllowed(ctx)) await placeOrder(deps, ctx);
    }),
  );
  routes.get(
    '/payments/:orderId',
    withFaults(deps, { channel: CHANNEL, kind: 'query' }, async (ctx) => {
      if (isAllowed(ctx)) respondStatus(deps, ctx);
    }),
  );
  routes.use(awashPayoutRoutes(deps).routes());
  return { routes, callback, payoutCallback };
}

async function placeOrder(deps: WireDeps, ctx: WireContext): Promise<void> {
  const fields = bodyOf(ctx);
  const orderId = text(fields, 'orderId');
  const expiresAtMs = Date.parse(text(fields, 'expiresAt'));
  if (!parseBirr(text(fields, 'amount')) || Number.isNaN(expiresAtMs) || !text(fields, 'callbackUrl') || !orderId) {
    return respond(ctx, 422, { orderId, state: 'REFUSED', reasonCode: 'INVALID_FIELD', reason: 'a field is wrong' });
  }
  const placed = await deps.book.place({
    channel: CHANNEL,
    orderId,
    phone: text(fields, 'phone'),
    amount: text(fields, 'amount'),
    currency: text(fields, 'currency'),
    title: text(fields, 'title'),
    callbackUrl: text(fields, 'callbackUrl'),
    returnUrl: null,
    expiresAtMs,
  });
  if (placed.kind === 'refused') {
    const reasonCode = placed.why === 'UNKNOWN_PHONE' ? 'UNKNOWN_PHONE' : 'DUPLICATE_ORDER';
    return respond(ctx, 422, { orderId, state: 'REFUSED', reasonCode, reason: reasonCode });
  }
  respond(ctx, 202, { orderId, reference: placed.order.reference, state: 'PUSHED' });
}

function respondStatus(deps: WireDeps, ctx: WireContext): void {
  const orderId = ctx.path.split('/').at(-1) ?? '';
  const order = deps.book.find(CHANNEL, orderId);
  if (!order) return respond(ctx, 404, { orderId, state: 'NOT_FOUND' });
  order.queries += 1;
  const state = visibleState(order, deps.clock.nowMs());
  respond(ctx, 200, payment(order, state, (state === 'PAID' && order.paidAmount) || order.amount));
}

function payment(order: Order, state: OrderState, amount: string) {
  return {
    orderId: order.orderId,
    reference: state === 'PAID' ? order.transactionReference : order.reference,
    amount,
    currency: order.currency,
    state: STATE[state],
    ...(state === 'DECLINED' && order.rejection ? { reasonCode: REASON_CODES[order.rejection] } : {}),
  };
}

function callback(order: Order, callback: Callback<OrderState>): Rendered {
  return signed(payment(order, callback.state, callback.amount), callback);
}
