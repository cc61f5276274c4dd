import Router from '@koa/router';

import { parseBirr } from '../../lib/money.ts';
import type { Callback } from './callback.ts';
import { respondSigned, isAllowed, signed } from './cbe-birr-message.ts';
import { queryPayout, placePayout } from './payout-protocol.ts';
import { visiblePayoutState, type Payout, type PayoutState } from './payout.ts';
import { bodyOf, text, withFaults, type Rendered, type WireContext, type WireDeps } from './protocol.ts';
import { statementPage } from './statement.ts';

const CHANNEL = 'CBE_BIRR';

const STATE: Readonly<Record<PayoutState, string>> = {
  ACCEPTED: 'ACCEPTED',
  PAID: 'COMPLETED',
  FAILED: 'FAILED',
  REVERSED: 'REVERSED',
};

const RESULT_CODES = {
  REFUSED_BY_PROVIDER: 'DECLINED',
  INSUFFICIENT_FLOAT: 'INSUFFICIENT_FLOAT',
  FAILED_AFTERWARDS: 'PAYOUT_FAILED',
} as const;

const ROW_TYPES = { payment: 'PUSH', payout: 'PAYOUT', payoutReversal: 'PAYOUT_REVERSAL' } as const;

/**
 * CBE Birr publishes nothing of payouts. The sandbox takes them in the shape of its push, signed alike, to wallets only:
 * - POST /payout { companyName, tillCode, token, transactionId, transactionTime, amount, currency, phoneNumber,
 *   accountName, callBackURL, signature }: { transactionId, state: ACCEPTED | COMPLETED | FAILED | REVERSED, resultCode,
 *   reference, amount, currency }, or { state: REJECTED, resultCode } when no payout was made of it. The same
 *   transactionId again pays nothing and answers how the first stands; with another amount or phone it is REJECTED with
 *   DUPLICATE_TRANSACTION.
 * - POST /payout-status { …, transactionId }: the same, or { state: NOT_FOUND }.
 * - The callback has the fields of the push's, for COMPLETED, FAILED and REVERSED.
 * - POST /statement { …, statementDate YYYY-MM-DD, cursor }: { resultCode: "0", statementDate, rows: [{ transactionId,
 *   type: PUSH | PAYOUT | PAYOUT_REVERSAL, amount, currency, reference, time (ISO 8601) }], nextCursor ("" on the last
 *   page) }: what moved on that day in Addis Ababa, oldest first, at most 200 rows a page.
 */
export function cbeBirrPayoutRoutes(deps: WireDeps): Router {
  const routes = new Router();
  routes.post(
    '/payout',
    withFaults(deps, { channel: CHANNEL, kind: 'payout' }, async (ctx) => {
      if (isAllowed(ctx)) await takePayout(deps, ctx);
    }),
  );
  routes.post(
    '/payout-status',
    withFaults(deps, { channel: CHANNEL, kind: 'queryPayout' }, async (ctx) => {
      if (isAllowed(ctx)) respondStatus(deps, ctx);
    }),
  );
  routes.post(
    '/statement',
    withFaults(deps, { channel: CHANNEL, kind: 'statement' }, async (ctx) => {
      if (isAllowed(ctx)) respondStatement(deps, ctx);
    }),
  );
  return routes;
}

async function takePayout(deps: WireDeps, ctx: WireContext): Promise<void> {
  const fields = bodyOf(ctx);
  const [amount, orderId, phone, callbackUrl] = ['amount', 'transactionId', 'phoneNumber', 'callBackURL'].map((name) =>
    text(fields, name),
  );
  if (!amount || !parseBirr(amount) || !orderId || !phone || !callbackUrl) {
    return respondSigned(ctx, { state: 'REJECTED', resultCode: 'INVALID_PARAMETER', resultDesc: 'a field is wrong' });
  }
  const placed = await placePayout(deps, ctx, {
    channel: CHANNEL,
    orderId,
    payee: { phone },
    accountName: text(fields, 'accountName'),
    amount,
    currency: text(fields, 'currency'),
    callbackUrl,
  });
  if (placed?.kind === 'refused') {
    const resultCode = placed.why === 'ANOTHER_ORDER' ? 'DUPLICATE_TRANSACTION' : 'INVALID_MSISDN';
    return respondSigned(ctx, { state: 'REJECTED', resultCode, resultDesc: resultCode });
  }
  if (placed) respondSigned(ctx, statusBody(placed.payout, visiblePayoutState(placed.payout, deps.clock.nowMs())));
}

function respondStatus(deps: WireDeps, ctx: WireContext): void {
  const transactionId = text(bodyOf(ctx), 'transactionId');
  const query = queryPayout(deps, ctx, { channel: CHANNEL, orderId: transactionId });
  if (query?.kind === 'not-found') {
    return respondSigned(ctx, { transactionId, state: 'NOT_FOUND', resultCode: 'NOT_FOUND' });
  }
  if (query) respondSigned(ctx, statusBody(query.payout, visiblePayoutState(query.payout, deps.clock.nowMs())));
}

function statusBody(
  payout: Payout,
  state: PayoutState,
  amount = payout.paidAmount ?? payout.amount,
): Record<string, string> {
  const hasMoney = state === 'PAID' || state === 'REVERSED';
  return {
    transactionId: payout.orderId,
    amount,
    currency: payout.currency,
    state: STATE[state],
    resultCode: state === 'FAILED' && payout.failure ? RESULT_CODES[payout.failure] : '0',
    reference: hasMoney ? payout.transactionReference : payout.reference,
  };
}

function respondStatement(deps: WireDeps, ctx: WireContext): void {
  const fields = bodyOf(ctx);
  const day = text(fields, 'statementDate');
  const page = statementPage(deps, { channel: CHANNEL, day, cursor: text(fields, 'cursor') });
  if (!page) {
    return respondSigned(ctx, { state: 'REJECTED', resultCode: 'INVALID_PARAMETER', resultDesc: 'day or cursor' });
  }
  const rows = page.rows.map(({ orderId, type, atMs, ...row }) => ({
    transactionId: orderId,
    type: ROW_TYPES[type],
    ...row,
    time: new Date(atMs).toISOString(),
  }));
  respondSigned(ctx, { resultCode: '0', statementDate: day, rows, nextCursor: page.next ?? '' });
}

/** The callback as it is sent. */
export function payoutCallback(payout: Payout, callback: Callback<PayoutState>): Rendered {
  return signed(statusBody(payout, callback.state, callback.amount), callback);
}
