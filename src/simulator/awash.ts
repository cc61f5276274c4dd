import Router from '@koa/router';

import { parseBirr } from '../lib/money.ts';
import { signAwash, verifyAwash } from '../lib/provider-signing.ts';
import { SANDBOX_AWASH } from '../lib/sandbox-providers.ts';
import { visibleState, type Callback, type Order, type OrderState } from './order.ts';
import { answer, bodyOf, text, withFaults, type Wire, type WireContext, type WireDeps } from './wire.ts';

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
 * Every request, theirs and ours, has x-timestamp and x-signature: HMAC-SHA256 in hex, under the shared secret, of the
 * timestamp, a dot and the body (for a GET, the path).
 */
export function createAwashWire(deps: WireDeps): Wire {
  const routes = new Router({ prefix: '/awash' });
  routes.post(
    '/payments',
    withFaults(deps, { channel: CHANNEL, kind: 'initiate' }, async (ctx) => {
      if (isAllowed(ctx, ctx.request.rawBody ?? '')) await placeOrder(deps, ctx);
    }),
  );
  routes.get(
    '/payments/:orderId',
    withFaults(deps, { channel: CHANNEL, kind: 'query' }, async (ctx) => {
      if (isAllowed(ctx, ctx.path.replace(/^\/awash/, ''))) answerStatus(deps, ctx);
    }),
  );
  return { routes, callback };
}

function isAllowed(ctx: WireContext, signed: string): boolean {
  const known = ctx.get('x-merchant-id') === SANDBOX_AWASH.merchantId;
  if (known && verifyAwash(ctx.headers, signed, SANDBOX_AWASH.secret)) return true;
  answer(ctx, 401, { state: 'REFUSED', reasonCode: 'INVALID_SIGNATURE', reason: 'merchant or signature is wrong' });
  return false;
}

async function placeOrder(deps: WireDeps, ctx: WireContext): Promise<void> {
  const fields = bodyOf(ctx);
  const orderId = text(fields, 'orderId');
  const expiresAtMs = Date.parse(text(fields, 'expiresAt'));
  if (!parseBirr(text(fields, 'amount')) || Number.isNaN(expiresAtMs) || !text(fields, 'callbackUrl') || !orderId) {
    return answer(ctx, 422, { orderId, state: 'REFUSED', reasonCode: 'INVALID_FIELD', reason: 'a field is wrong' });
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
    return answer(ctx, 422, { orderId, state: 'REFUSED', reasonCode, reason: reasonCode });
  }
  answer(ctx, 202, { orderId, reference: placed.order.reference, state: 'PUSHED' });
}

function answerStatus(deps: WireDeps, ctx: WireContext): void {
  const orderId = ctx.path.split('/').at(-1) ?? '';
  const order = deps.book.find(CHANNEL, orderId);
  if (!order) return answer(ctx, 404, { orderId, state: 'NOT_FOUND' });
  order.queries += 1;
  const state = visibleState(order, deps.clock.nowMs());
  answer(ctx, 200, payment(order, state, (state === 'PAID' && order.paidAmount) || order.amount));
}

function payment(order: Order, state: OrderState, amount: string) {
  return {
    orderId: order.orderId,
    reference: state === 'PAID' ? order.transactionReference : order.reference,
    amount,
    currency: order.currency,
    state: STATE[state],
    ...(state === 'DECLINED' && order.refusal ? { reasonCode: REASON_CODES[order.refusal] } : {}),
  };
}

function callback(order: Order, { says, amount, signature, dueAtMs }: Callback) {
  const body = JSON.stringify(payment(order, says, amount));
  const timestamp = new Date(dueAtMs).toISOString();
  // A wrong signature is one made with another secret.
  const secret = signature === 'wrong' ? 'another-secret' : SANDBOX_AWASH.secret;
  const signed = { 'x-timestamp': timestamp, 'x-signature': signAwash(timestamp, body, secret) };
  return { headers: { 'content-type': 'application/json', ...(signature === 'missing' ? {} : signed) }, body };
}
