import Router from '@koa/router';

import { parseBirr } from '../../lib/money.ts';
import { isAllowed, signed } from './awash-message.ts';
import type { Callback } from './callback.ts';
import { queryPayout, placePayout } from './payout-protocol.ts';
import { visiblePayoutState, type Payee, type Payout, type PayoutState } from './payout.ts';
import { respond, bodyOf, text, withFaults, type Rendered, type WireContext, type WireDeps } from './protocol.ts';
import { statementPage } from './statement.ts';

const CHANNEL = 'AWASH';

const REASON_CODES = {
  REFUSED_BY_PROVIDER: 'DECLINED',
  INSUFFICIENT_FLOAT: 'INSUFFICIENT_FLOAT',
  FAILED_AFTERWARDS: 'PAYOUT_FAILED',
} as const;

const ROW_TYPES = { payment: 'PAYMENT', payout: 'PAYOUT', payoutReversal: 'PAYOUT_REVERSAL' } as const;

/**
 * The rest of the contract of src/sandbox/simulator/awash.ts, ours as well, signed alike:
 * - POST /payouts { orderId, amount "0.00", currency, accountName, callbackUrl, and phone, or bankCode and
 *   accountNumber }: 202 { orderId, reference, amount, currency, state: ACCEPTED | PAID | FAILED | REVERSED,
 *   reasonCode? }. The same orderId again pays nothing and answers how the first stands; with another amount or payee it
 *   is 409 { state: REFUSED, reasonCode: ANOTHER_PAYOUT }. 422 { state: REFUSED, reasonCode } made no payout.
 * - GET /payouts/{orderId}: the same object; an unknown one is 404 { state: NOT_FOUND }.
 * - The callback is a POST of that same object to callbackUrl, for PAID, FAILED and REVERSED.
 * - GET /statement?day=YYYY-MM-DD&cursor=: what moved on that day in Addis Ababa, oldest first: { day, rows: [{ orderId,
 *   type: PAYMENT | PAYOUT | PAYOUT_REVERSAL, amount, currency, reference, at }], next }; `next` is the cursor of the
 *   next page, null on the last one. At most 200 rows a page. Times are ISO 8601.
 */
export function awashPayoutRoutes(deps: WireDeps): Router {
  const routes = new Router();
  routes.post(
    '/payouts',
    withFaults(deps, { channel: CHANNEL, kind: 'payout' }, async (ctx) => {
      if (isAllowed(ctx)) await takePayout(deps, ctx);
    }),
  );
  routes.get(
    '/payouts/:orderId',
    withFaults(deps, { channel: CHANNEL, kind: 'queryPayout' }, async (ctx) => {
      if (isAllowed(ctx)) respondStatus(deps, ctx);
    }),
  );
  routes.get(
    '/statement',
    withFaults(deps, { channel: CHANNEL, kind: 'statement' }, async (ctx) => {
      if (isAllowed(ctx)) respondStatement(deps, ctx);
    }),
  );
  return routes;
}

async function takePayout(deps: WireDeps, ctx: WireContext): Promise<void> {
  const fields = bodyOf(ctx);
  const orderId = text(fields, 'orderId');
  const payee = payeeOf(fields);
  const [amount, callbackUrl] = [text(fields, 'amount'), text(fields, 'callbackUrl')];
  if (!parseBirr(amount) || !orderId || !callbackUrl || !payee) {
    return respond(ctx, 422, { orderId, state: 'REFUSED', reasonCode: 'INVALID_FIELD', reason: 'a field is wrong' });
  }
  const placed = await placePayout(deps, ctx, {
    channel: CHANNEL,
    orderId,
    payee,
    accountName: text(fields, 'accountName'),
    amount,
    currency: text(fields, 'currency'),
    callbackUrl,
  });
  if (placed?.kind === 'refused') {
    const isKnown = placed.why === 'ANOTHER_ORDER';
    const reasonCode = isKnown ? 'ANOTHER_PAYOUT' : 'UNKNOWN_PAYEE';
    return respond(ctx, isKnown ? 409 : 422, { orderId, state: 'REFUSED', reasonCode, reason: reasonCode });
  }
  if (placed) respond(ctx, 202, statusBody(placed.payout, visiblePayoutState(placed.payout, deps.clock.nowMs())));
}

function payeeOf(fields: Record<string, unknown>): Payee | null {
  const [phone, bankCode, accountNumber] = ['phone', 'bankCode', 'accountNumber'].map((name) => text(fields, name));
  if (phone) return { phone };
  return bankCode && accountNumber ? { bankCode, accountNumber } : null;
}

function respondStatus(deps: WireDeps, ctx: WireContext): void {
  const orderId = ctx.path.split('/').at(-1) ?? '';
  const query = queryPayout(deps, ctx, { channel: CHANNEL, orderId });
  if (query?.kind === 'not-found') return respond(ctx, 404, { orderId, state: 'NOT_FOUND' });
  if (query) respond(ctx, 200, statusBody(query.payout, visiblePayoutState(query.payout, deps.clock.nowMs())));
}

function statusBody(payout: Payout, state: PayoutState, amount = payout.paidAmount ?? payout.amount) {
  const hasMoney = state === 'PAID' || state === 'REVERSED';
  return {
    orderId: payout.orderId,
    reference: hasMoney ? payout.transactionReference : payout.reference,
    amount,
    currency: payout.currency,
    state,
    ...(state === 'FAILED' && payout.failure ? { reasonCode: REASON_CODES[payout.failure] } : {}),
  };
}

function respondStatement(deps: WireDeps, ctx: WireContext): void {
  const [day, cursor] = ['day', 'cursor'].map((name) => text(ctx.query, name));
  const page = statementPage(deps, { channel: CHANNEL, day: day ?? '', cursor: cursor ?? '' });
  if (!page) return respond(ctx, 422, { reasonCode: 'INVALID_FIELD', reason: 'day or cursor is wrong' });
  const rows = page.rows.map(({ type, atMs, ...row }) => ({
    ...row,
    type: ROW_TYPES[type],
    at: new Date(atMs).toISOString(),
  }));
  respond(ctx, 200, { day, rows, next: page.next });
}

/** The callback as it is sent. */
export function payoutCallback(payout: Payout, callback: Callback<PayoutState>): Rendered {
  return signed(statusBody(payout, callback.state, callback.amount), callback);
}
