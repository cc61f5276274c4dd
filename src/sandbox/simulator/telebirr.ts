import { randomBytes } from 'node:crypto';

import Router from '@koa/router';

import { HOUR_MS, inAddis } from '../../lib/dates.ts';
import { parseBirr } from '../../lib/money.ts';
import { SANDBOX_TELEBIRR } from '../../lib/sandbox-providers.ts';
import type { Callback } from './callback.ts';
import { visibleState, type Order, type OrderState } from './order.ts';
import { payPageRoutes } from './pay-page.ts';
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
import { respondSigned, contentOf, isSigned, notification } from './telebirr-message.ts';
import { payoutCallback, telebirrPayoutRoutes } from './telebirr-payout.ts';

const TOKEN_LIFE_MS = HOUR_MS;
const CHANNEL = 'TELEBIRR';
const ORDER_STATUS: Readonly<Record<OrderState, string>> = {
  WAITING: 'WAIT_PAY',
  PAID: 'PAY_SUCCESS',
  DECLINED: 'PAY_FAILED',
  EXPIRED: 'ORDER_CLOSED',
};

const TRADE_STATUS: Readonly<Record<OrderState, string>> = {
  WAITING: 'Paying',
  PAID: 'Completed',
  DECLINED: 'Failure',
  EXPIRED: 'Expired',
};

/** telebirr publishes no words for why a payment failed; these are the sandbox's own. */
const FAIL_CODES = {
  REFUSED_BY_PROVIDER: { fail_code: 'PAY_REFUSED', fail_reason: 'telebirr declined the payment' },
  INSUFFICIENT_FUNDS: { fail_code: 'INSUFFICIENT_BALANCE', fail_reason: 'the balance is too low' },
  CANCELLED_BY_CUSTOMER: { fail_code: 'USER_CANCELLED', fail_reason: 'the customer refused' },
} as const;

/**
 * telebirr's H5/C2B fabric: token, preOrder, queryOrder, notify, and the customer's pay page. Payouts and the list:
 * src/sandbox/simulator/telebirr-payout.ts.
 */
export function createTelebirrWire(deps: WireDeps): Wire {
  const tokens = new Map<string, number>();
  const routes = new Router({ prefix: '/telebirr' });
  const faulty = { ...deps, forgetTokens: () => tokens.clear() };

  routes.post('/payment/v1/token', (ctx) => {
    deps.count(`${CHANNEL} token`);
    const right = ctx.get('x-app-key') === SANDBOX_TELEBIRR.appKey;
    if (!right || text(bodyOf(ctx), 'appSecret') !== SANDBOX_TELEBIRR.appSecret) {
      return respond(ctx, 401, { errorCode: 'INVALID_APP', errorMsg: 'app key or secret is wrong' });
    }
    const token = `Bearer ${randomBytes(16).toString('hex')}`;
    const now = deps.clock.nowMs();
    tokens.set(token, now + TOKEN_LIFE_MS);
    respond(ctx, 200, { token, effectiveDate: compactTime(now), expirationDate: compactTime(now + TOKEN_LIFE_MS) });
  });

  routes.post(
    '/payment/v1/merchant/preOrder',
    withFaults(faulty, { channel: CHANNEL, kind: 'initiate' }, async (ctx) => {
      if (isAllowed(ctx)) await placeOrder(deps, ctx);
    }),
  );
  routes.post(
    '/payment/v1/merchant/queryOrder',
    withFaults(faulty, { channel: CHANNEL, kind: 'query' }, async (ctx) => {
      if (isAllowed(ctx)) respondQuery(deps, ctx);
    }),
  );
  routes.use(payPageRoutes(deps).routes());
  routes.use(telebirrPayoutRoutes(faulty, isAllowed).routes());

  function isAllowed(ctx: WireContext): boolean {
    const expiresAtMs = tokens.get(ctx.get('authorization')) ?? 0;
    if (expiresAtMs <= deps.clock.nowMs()) {
      respond(ctx, 401, { errorCode: 'INVALID_TOKEN', errorMsg: 'the token is unknown or has expired' });
      return false;
    }
    return isSigned(ctx);
  }

  return { routes, callback, payoutCallback };
}

async function placeOrder(deps: WireDeps, ctx: WireContext): Promise<void> {
  const content = contentOf(ctx);
  const orderId = text(content, 'merch_order_id');
  const minutes = /^(\d{1,4})m$/.exec(text(content, 'timeout_express'));
  const problem = preOrderProblem(content, minutes !== null);
  if (problem) return respond(ctx, 200, { result: 'FAIL', code: 'INVALID_PARAMETER', msg: problem });
  const placed = await deps.book.place({
    channel: CHANNEL,
    orderId,
    phone: text(content, 'callback_info'),
    amount: text(content, 'total_amount'),
    currency: text(content, 'trans_currency'),
    title: text(content, 'title'),
    callbackUrl: text(content, 'notify_url'),
    returnUrl: text(content, 'redirect_url') || null,
    expiresAtMs: deps.clock.nowMs() + Number(minutes?.[1]) * 60_000,
  });
  if (placed.kind === 'refused') {
    const code = placed.why === 'UNKNOWN_PHONE' ? 'INVALID_PAYER' : 'ORDER_EXIST';
    return respond(ctx, 200, { result: 'FAIL', code, msg: `${code}: ${orderId}` });
  }
  respondSigned(ctx, { merch_order_id: orderId, prepay_id: placed.order.reference });
}

function preOrderProblem(content: Record<string, unknown>, hasTimeout: boolean): string | null {
  if (text(content, 'appid') !== SANDBOX_TELEBIRR.appId) return 'appid is not known';
  if (text(content, 'merch_code') !== SANDBOX_TELEBIRR.merchantCode) return 'merch_code is not known';
  if (!/^[A-Za-z0-9]{1,64}$/.test(text(content, 'merch_order_id'))) return 'merch_order_id must be alphanumeric, ≤ 64';
  if (!/^\d+\.\d\d$/.test(text(content, 'total_amount'))) return 'total_amount must be written 0.00';
  if (!parseBirr(text(content, 'total_amount'))) return 'total_amount must be more than 0';
  if (!hasTimeout) return 'timeout_express must be minutes, as 30m';
  return text(content, 'notify_url') === '' ? 'notify_url is missing' : null;
}

function respondQuery(deps: WireDeps, ctx: WireContext): void {
  const orderId = text(contentOf(ctx), 'merch_order_id');
  const order = deps.book.find(CHANNEL, orderId);
  if (!order) return respond(ctx, 200, { result: 'FAIL', code: 'ORDER_NOT_EXIST', msg: `no order ${orderId}` });
  order.queries += 1;
  const state = visibleState(order, deps.clock.nowMs());
  respondSigned(ctx, {
    merch_order_id: orderId,
    order_status: ORDER_STATUS[state],
    payment_order_id: order.reference,
    trans_currency: order.currency,
    total_amount: (state === 'PAID' && order.paidAmount) || order.amount,
    ...(state === 'PAID' ? { trans_id: order.transactionReference, trans_time: String(order.decidedAtMs) } : {}),
    ...(state === 'DECLINED' && order.rejection ? FAIL_CODES[order.rejection] : {}),
  });
}

function callback(order: Order, callback: Callback<OrderState>): Rendered {
  const content = {
    merch_order_id: order.orderId,
    payment_order_id: order.reference,
    trade_status: TRADE_STATUS[callback.state],
    total_amount: callback.amount,
    trans_currency: order.currency,
    trans_id: callback.state === 'PAID' ? order.transactionReference : '',
    trans_end_time: String(order.decidedAtMs ?? ''),
    notify_url: order.callbackUrl,
    callback_info: order.phone,
  };
  return notification(content, callback);
}

/** yyyyMMddHHmmss in Addis Ababa. */
function compactTime(atMs: number): string {
  return inAddis(new Date(atMs)).toISOString().replaceAll(/\D/g, '').slice(0, 14);
}
