import { signAwash, verifyAwash } from '../../lib/provider-signing.ts';
import { SANDBOX_AWASH } from '../../lib/sandbox-providers.ts';
import type { OrderStatus } from './order.ts';
import { text, type Protocol } from './protocol.ts';

const STATES = {
  WAITING: 'PUSHED',
  PAID: 'PAID',
  DECLINED: 'REFUSED',
  EXPIRED: 'EXPIRED',
  ACCEPTED: 'ACCEPTED',
  FAILED: 'FAILED',
  REVERSED: 'REVERSED',
} as const;

const REASON_CODES = {
  REFUSED_BY_PROVIDER: 'DECLINED',
  INSUFFICIENT_FUNDS: 'INSUFFICIENT_FUNDS',
  CANCELLED_BY_CUSTOMER: 'CANCELLED',
  INSUFFICIENT_FLOAT: 'INSUFFICIENT_FLOAT',
  FAILED_AFTERWARDS: 'PAYOUT_FAILED',
} as const;

const REJECTIONS = {
  payment: { UNKNOWN_PARTY: 'UNKNOWN_PHONE', ANOTHER_ORDER: 'DUPLICATE_ORDER' },
  payout: { UNKNOWN_PARTY: 'UNKNOWN_PAYEE', ANOTHER_ORDER: 'ANOTHER_PAYOUT' },
} as const;

const ROW_TYPES = { payment: 'PAYMENT', payout: 'PAYOUT', payoutReversal: 'PAYOUT_REVERSAL' } as const;

/**
 * Awash publishes no merchant API, so this is our own contract until it does:
 * - POST /payments { orderId, amount "0.00", currency, phone, title, callbackUrl, expiresAt } pushes to the phone, where
 *   the customer approves: 202 { orderId, reference, state: PUSHED }, or 422 { state: REFUSED, reasonCode, reason }.
 *   Idempotent by orderId.
 * - GET /payments/{orderId}: { orderId, reference, amount, currency, state: PUSHED | PAID | REFUSED | EXPIRED,
 *   reasonCode? }; an unknown one is 404 { state: NOT_FOUND }.
 * - POST /payouts { orderId, amount "0.00", currency, accountName, callbackUrl, and phone, or bankCode and
 *   accountNumber }: 202 { orderId, reference, amount, currency, state: ACCEPTED | PAID | FAILED | REVERSED,
 *   reasonCode? }. The same orderId again pays nothing and returns the first one's status; with another amount or payee
 *   it is 409 { state: REFUSED, reasonCode: ANOTHER_PAYOUT }. 422 { state: REFUSED, reasonCode } made no payout.
 * - GET /payouts/{orderId}: the same object; an unknown one is 404 { state: NOT_FOUND }.
 * - The callback is a POST of the same object to callbackUrl, for every final state.
 * - GET /statement?day=YYYY-MM-DD&cursor=: movements of that day in Addis Ababa, oldest first: { day, rows: [{ orderId,
 *   type: PAYMENT | PAYOUT | PAYOUT_REVERSAL, amount, currency, reference, at }], next }; `next` is the cursor of the
 *   next page, null on the last one. At most 200 rows a page. Times are ISO 8601.
 * Every message, theirs and ours, has x-timestamp and x-signature: HMAC-SHA256 in hex, under the shared secret, of the
 * timestamp, a dot and the body (for a GET, the path with its query).
 */
export const awash: Protocol = {
  channel: 'AWASH',
  prefix: '/awash',
  endpoints: {
    initiate: { method: 'post', path: '/payments' },
    query: { method: 'get', path: '/payments/:orderId' },
    payout: { method: 'post', path: '/payouts' },
    queryPayout: { method: 'get', path: '/payouts/:orderId' },
    statement: { method: 'get', path: '/statement' },
  },
  // oxfmt-ignore
  names: {
    orderId: 'orderId', amount: 'amount', currency: 'currency', callbackUrl: 'callbackUrl', phone: 'phone',
    title: 'title', expiry: 'expiresAt', payee: 'phone', accountName: 'accountName', day: 'day', cursor: 'cursor',
  },

  authenticate(ctx) {
    const signed = ctx.method === 'GET' ? ctx.url.replace(/^\/awash/, '') : (ctx.request.rawBody ?? '');
    const isMerchant = ctx.get('x-merchant-id') === SANDBOX_AWASH.merchantId;
    if (isMerchant && verifyAwash(ctx.headers, signed, SANDBOX_AWASH.secret)) return null;
    const reason = 'merchant or signature is wrong';
    return { status: 401, body: { state: 'REFUSED', reasonCode: 'INVALID_SIGNATURE', reason } };
  },

  payeeOf(fields) {
    const [phone, bankCode] = [text(fields, 'phone'), text(fields, 'bankCode')];
    if (phone) return { phone };
    const accountNumber = text(fields, 'accountNumber');
    return bankCode && accountNumber ? { bankCode, accountNumber } : null;
  },

  invalid: (fields, reason) => ({
    status: 422,
    body: { orderId: text(fields, 'orderId'), state: 'REFUSED', reasonCode: 'INVALID_FIELD', reason },
  }),

  rejected({ kind, orderId, reason }) {
    const reasonCode = REJECTIONS[kind === 'payout' ? 'payout' : 'payment'][reason];
    const body = { orderId, state: 'REFUSED', reasonCode, reason: reasonCode };
    return { status: reasonCode === 'ANOTHER_PAYOUT' ? 409 : 422, body };
  },

  notFound: (orderId) => ({ status: 404, body: { orderId, state: 'NOT_FOUND' } }),
  pushed: ({ orderId, reference }) => ({ status: 202, body: { orderId, reference, state: 'PUSHED' } }),
  status: (status, kind) => ({ status: kind === 'payout' ? 202 : 200, body: statusBody(status) }),

  statement(day, page) {
    const rows = page.rows.map(({ type, atMs, ...row }) => ({
      ...row,
      type: ROW_TYPES[type],
      at: new Date(atMs).toISOString(),
    }));
    return { body: { day, rows, next: page.next } };
  },

  callback(status, { signature, dueAtMs }) {
    const body = JSON.stringify(statusBody(status));
    const timestamp = new Date(dueAtMs).toISOString();
    const secret = signature === 'wrong' ? 'another-secret' : SANDBOX_AWASH.secret;
    const signed = { 'x-timestamp': timestamp, 'x-signature': signAwash(timestamp, body, secret) };
    return { headers: { 'content-type': 'application/json', ...(signature === 'missing' ? {} : signed) }, body };
  },
};

function statusBody({ order, state, amount, reference, failure }: OrderStatus) {
  return {
    orderId: order.orderId,
    reference,
    amount,
    currency: order.currency,
    state: STATES[state],
    ...(failure ? { reasonCode: REASON_CODES[failure] } : {}),
  };
}
