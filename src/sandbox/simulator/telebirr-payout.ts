import Router from '@koa/router';

import { parseBirr } from '../../lib/money.ts';
import { SANDBOX_TELEBIRR } from '../../lib/sandbox-providers.ts';
import type { Callback } from './callback.ts';
import { queryPayout, placePayout } from './payout-protocol.ts';
import { visiblePayoutState, type Payout, type PayoutState } from './payout.ts';
import { respond, text, withFaults, type Rendered, type WireContext, type WireDeps } from './protocol.ts';
import { statementPage } from './statement.ts';
import { respondSigned, contentOf, notification } from './telebirr-message.ts';

const CHANNEL = 'TELEBIRR';

const ORDER_STATUS: Readonly<Record<PayoutState, string>> = {
  ACCEPTED: 'TRANSFER_PROCESSING',
  PAID: 'TRANSFER_SUCCESS',
  FAILED: 'TRANSFER_FAILED',
  REVERSED: 'TRANSFER_REVERSED',
};

const TRADE_STATUS: Readonly<Record<PayoutState, string>> = {
  ACCEPTED: 'Pending',
  PAID: 'Completed',
  FAILED: 'Failure',
  REVERSED: 'Reversed',
};

const FAIL_CODES = {
  REFUSED_BY_PROVIDER: { fail_code: 'TRANSFER_REFUSED', fail_reason: 'telebirr declined the transfer' },
  INSUFFICIENT_FLOAT: { fail_code: 'INSUFFICIENT_FLOAT', fail_reason: 'the organisation account is too low' },
  FAILED_AFTERWARDS: { fail_code: 'TRANSFER_NOT_MADE', fail_reason: 'the transfer could not be made' },
} as const;

const TRANS_TYPES = { payment: 'C2B', payout: 'B2C', payoutReversal: 'B2C_REVERSAL' } as const;

/**
 * telebirr publishes its B2C transfer to those it contracts with only, so these are the fabric's manners (token, signed
 * message, biz_content, notify) with names assumed; see src/providers/telebirr/payouts.ts for what they rest on:
 * - POST /payment/v1/merchant/transfer, method payment.transfer, biz_content { appid, merch_code, merch_order_id,
 *   notify_url, trade_type B2C, total_amount "0.00", trans_currency, business_type, payee_identifier (phone),
 *   payee_identifier_type 01, payee_type 1000, payee_name }: { merch_order_id, order_status: TRANSFER_PROCESSING |
 *   TRANSFER_SUCCESS | TRANSFER_FAILED | TRANSFER_REVERSED, payment_order_id, trans_id?, total_amount, trans_currency,
 *   fail_code?, fail_reason? }. The same order again pays nothing and answers how the first stands; with another amount
 *   or payee it is FAIL with ORDER_EXIST.
 * - POST /payment/v1/merchant/queryTransfer, method payment.querytransfer, { …, merch_order_id }: the same, or FAIL with
 *   ORDER_NOT_EXIST.
 * - The notify message of payments, trade_status Completed, Failure or Reversed.
 * - POST /payment/v1/merchant/queryStatement, method payment.querystatement, { …, bill_date YYYYMMDD, page_token }:
 *   { bill_date, records: [{ merch_order_id, trans_type: C2B | B2C | B2C_REVERSAL, trans_amount, trans_currency, trans_id,
 *   trans_time (milliseconds) }], next_page_token ("" on the last page) }: what moved on that day in Addis Ababa, oldest
 *   first, at most 200 records a page.
 */
export function telebirrPayoutRoutes(
  deps: WireDeps & { forgetTokens: () => void },
  isAllowed: (ctx: WireContext) => boolean,
): Router {
  const routes = new Router();
  routes.post(
    '/payment/v1/merchant/transfer',
    withFaults(deps, { channel: CHANNEL, kind: 'payout' }, async (ctx) => {
      if (isAllowed(ctx)) await takePayout(deps, ctx);
    }),
  );
  routes.post(
    '/payment/v1/merchant/queryTransfer',
    withFaults(deps, { channel: CHANNEL, kind: 'queryPayout' }, async (ctx) => {
      if (isAllowed(ctx)) respondStatus(deps, ctx);
    }),
  );
  routes.post(
    '/payment/v1/merchant/queryStatement',
    withFaults(deps, { channel: CHANNEL, kind: 'statement' }, async (ctx) => {
      if (isAllowed(ctx)) respondStatement(deps, ctx);
    }),
  );
  return routes;
}

async function takePayout(deps: WireDeps, ctx: WireContext): Promise<void> {
  const content = contentOf(ctx);
  const problem = transferProblem(content);
  if (problem) return respond(ctx, 200, { result: 'FAIL', code: 'INVALID_PARAMETER', msg: problem });
  const orderId = text(content, 'merch_order_id');
  const placed = await placePayout(deps, ctx, {
    channel: CHANNEL,
    orderId,
    payee: { phone: text(content, 'payee_identifier') },
    accountName: text(content, 'payee_name'),
    amount: text(content, 'total_amount'),
    currency: text(content, 'trans_currency'),
    callbackUrl: text(content, 'notify_url'),
  });
  if (placed?.kind === 'refused') {
    const code = placed.why === 'ANOTHER_ORDER' ? 'ORDER_EXIST' : 'INVALID_PAYEE';
    return respond(ctx, 200, { result: 'FAIL', code, msg: `${code}: ${orderId}` });
  }
  if (placed) respondSigned(ctx, statusBody(placed.payout, visiblePayoutState(placed.payout, deps.clock.nowMs())));
}

function transferProblem(content: Record<string, unknown>): string | null {
  if (text(content, 'appid') !== SANDBOX_TELEBIRR.appId) return 'appid is not known';
  if (text(content, 'merch_code') !== SANDBOX_TELEBIRR.merchantCode) return 'merch_code is not known';
  if (!/^[A-Za-z0-9]{1,64}$/.test(text(content, 'merch_order_id'))) return 'merch_order_id must be alphanumeric, ≤ 64';
  if (!/^\d+\.\d\d$/.test(text(content, 'total_amount'))) return 'total_amount must be written 0.00';
  if (!parseBirr(text(content, 'total_amount'))) return 'total_amount must be more than 0';
  if (text(content, 'payee_identifier_type') !== '01') return 'payee_identifier_type must be 01, a phone';
  return text(content, 'notify_url') === '' ? 'notify_url is missing' : null;
}

function respondStatus(deps: WireDeps, ctx: WireContext): void {
  const orderId = text(contentOf(ctx), 'merch_order_id');
  const query = queryPayout(deps, ctx, { channel: CHANNEL, orderId });
  if (query?.kind === 'not-found') {
    return respond(ctx, 200, { result: 'FAIL', code: 'ORDER_NOT_EXIST', msg: `no transfer ${orderId}` });
  }
  if (query) respondSigned(ctx, statusBody(query.payout, visiblePayoutState(query.payout, deps.clock.nowMs())));
}

function statusBody(payout: Payout, state: PayoutState) {
  const hasMoney = state === 'PAID' || state === 'REVERSED';
  return {
    merch_order_id: payout.orderId,
    order_status: ORDER_STATUS[state],
    payment_order_id: payout.reference,
    total_amount: payout.paidAmount ?? payout.amount,
    trans_currency: payout.currency,
    ...(hasMoney ? { trans_id: payout.transactionReference, trans_time: String(payout.decidedAtMs) } : {}),
    ...(state === 'FAILED' && payout.failure ? FAIL_CODES[payout.failure] : {}),
  };
}

function respondStatement(deps: WireDeps, ctx: WireContext): void {
  const content = contentOf(ctx);
  const date = text(content, 'bill_date');
  const day = date.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3');
  const page = statementPage(deps, { channel: CHANNEL, day, cursor: text(content, 'page_token') });
  if (!page) return respond(ctx, 200, { result: 'FAIL', code: 'INVALID_PARAMETER', msg: 'bill_date or page_token' });
  const records = page.rows.map((row) => ({
    merch_order_id: row.orderId,
    trans_type: TRANS_TYPES[row.type],
    trans_amount: row.amount,
    trans_currency: row.currency,
    trans_id: row.reference,
    trans_time: String(row.atMs),
  }));
  respondSigned(ctx, { bill_date: date, records, next_page_token: page.next ?? '' });
}

/** The callback as it is sent. */
export function payoutCallback(payout: Payout, callback: Callback<PayoutState>): Rendered {
  const hasMoney = callback.state === 'PAID' || callback.state === 'REVERSED';
  const content = {
    merch_order_id: payout.orderId,
    payment_order_id: payout.reference,
    trade_status: TRADE_STATUS[callback.state],
    total_amount: callback.amount,
    trans_currency: payout.currency,
    trans_id: hasMoney ? payout.transactionReference : '',
    trans_end_time: String(payout.reversedAtMs ?? payout.decidedAtMs ?? ''),
    notify_url: payout.callbackUrl,
  };
  return notification(content, callback);
}
