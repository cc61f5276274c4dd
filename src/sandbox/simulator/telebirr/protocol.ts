import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';

import { HOUR_MS, inAddis } from '../../../lib/dates.ts';
import { signTelebirr, verifyTelebirr } from '../../../providers/telebirr/signing.ts';
import type { Simulated } from '../channels.ts';
import type { RequestKind } from '../faults.ts';
import { refundsOf, visibleOrder, type Order } from '../order.ts';
import { bodyOf, objectOf, respond, text, type Fields, type Protocol, type ProtocolDeps } from '../protocol.ts';
import type { TelebirrAccount } from './account.ts';
import { payPageRoutes } from './pay-page.ts';

const TOKEN_LIFETIME_MS = HOUR_MS;

/** A state as responses and as notify messages name it. */
const STATUSES = {
  WAITING: { order: 'WAIT_PAY', trade: 'Paying' },
  PAID: { order: 'PAY_SUCCESS', trade: 'Completed' },
  DECLINED: { order: 'PAY_FAILED', trade: 'Failure' },
  EXPIRED: { order: 'ORDER_CLOSED', trade: 'Expired' },
  ACCEPTED: { order: 'TRANSFER_PROCESSING', trade: 'Pending' },
  FAILED: { order: 'TRANSFER_FAILED', trade: 'Failure' },
  REVERSED: { order: 'TRANSFER_REVERSED', trade: 'Reversed' },
} as const;

/** telebirr publishes no failure codes; these are the sandbox's own. */
const FAIL_CODES = {
  REFUSED_BY_PROVIDER: { fail_code: 'PAY_REFUSED', fail_reason: 'telebirr declined the payment' },
  INSUFFICIENT_FUNDS: { fail_code: 'INSUFFICIENT_BALANCE', fail_reason: 'the balance is too low' },
  CANCELLED_BY_CUSTOMER: { fail_code: 'USER_CANCELLED', fail_reason: 'the customer refused' },
  INSUFFICIENT_FLOAT: { fail_code: 'INSUFFICIENT_FLOAT', fail_reason: 'the organisation account is too low' },
  FAILED_AFTERWARDS: { fail_code: 'TRANSFER_NOT_MADE', fail_reason: 'the transfer could not be made' },
} as const;
const TRANSFER_REFUSED = { fail_code: 'TRANSFER_REFUSED', fail_reason: 'telebirr declined the transfer' };

const REFUND_REFUSED = { fail_code: 'REFUND_REFUSED', fail_reason: 'telebirr declined the refund' };
const REFUND_NOT_MADE = { fail_code: 'REFUND_NOT_MADE', fail_reason: 'the refund could not be made' };

const TRANS_TYPES = { payment: 'C2B', payout: 'B2C', payoutReversal: 'B2C_REVERSAL', refund: 'REFUND' } as const;

type Sign = (message: Fields) => string;

/** The messages that need no account. */
const messages = {
  paths: {
    initiate: '/payment/v1/merchant/preOrder',
    query: '/payment/v1/merchant/queryOrder',
    payout: '/payment/v1/merchant/transfer',
    queryPayout: '/payment/v1/merchant/queryTransfer',
    refund: '/payment/v1/merchant/refund',
    statement: '/payment/v1/merchant/queryStatement',
  },
  // oxfmt-ignore
  names: {
    orderId: 'merch_order_id', amount: 'total_amount', currency: 'trans_currency', callbackUrl: 'notify_url',
    phone: 'callback_info', title: 'title', expiry: 'timeout_express', returnUrl: 'redirect_url',
    payee: 'payee_identifier', accountName: 'payee_name', day: 'bill_date', cursor: 'page_token',
    refundId: 'refund_request_no', refundOf: 'merch_order_id', refundAmount: 'actual_amount',
  },
  contentOf: (body: Fields) => objectOf(body['biz_content']),

  expiresAtMs: (timeout: string, nowMs: number) => nowMs + Number.parseInt(timeout, 10) * 60_000,
  dayOf: (day: string) => day.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3'),

  codes: {
    invalid: 'INVALID_PARAMETER',
    unknownPayer: 'INVALID_PAYER',
    unknownPayee: 'INVALID_PAYEE',
    anotherOrder: 'ORDER_EXIST',
    notFound: 'ORDER_NOT_EXIST',
  },
  rejected,
} satisfies Partial<Protocol>;

/**
 * telebirr's H5/C2B fabric: token, preOrder, queryOrder, notify, and the customer's pay page. telebirr publishes its B2C
 * transfer only to its contract partners, so the same conventions (token, signed message, biz_content, notify) are
 * assumed for payouts; see src/providers/telebirr/ for the evidence:
 * - POST /payment/v1/merchant/transfer, method payment.transfer, biz_content { appid, merch_code, merch_order_id,
 *   notify_url, trade_type B2C, total_amount "0.00", trans_currency, business_type, payee_identifier (phone),
 *   payee_identifier_type 01, payee_type 1000, payee_name }: { merch_order_id, order_status: TRANSFER_PROCESSING |
 *   TRANSFER_SUCCESS | TRANSFER_FAILED | TRANSFER_REVERSED, payment_order_id, trans_id?, total_amount, trans_currency,
 *   fail_code?, fail_reason? }. The same order again pays nothing and returns the first one's status; with another
 *   amount or payee it is FAIL with ORDER_EXIST.
 * - POST /payment/v1/merchant/queryTransfer, method payment.querytransfer, { …, merch_order_id }: the same, or FAIL with
 *   ORDER_NOT_EXIST.
 * - The notify message of payments, trade_status Completed, Failure or Reversed.
 * - POST /payment/v1/merchant/refund is published: method payment.refund, biz_content { appid, merch_code, merch_order_id
 *   (of the payment), refund_request_no, refund_reason, actual_amount "0.00", trans_currency }: { merch_code,
 *   merch_order_id, trans_order_id, refund_order_id, refund_amount, refund_currency, refund_status: REFUNDING |
 *   REFUND_SUCCESS | REFUND_FAILED, refund_time? }, and no notify message. The same refund_request_no again refunds
 *   nothing and returns the first one's status. The reply to queryOrder then has refund_info, a list of the same fields
 *   with refund_request_no, and fail_code and fail_reason of one that failed.
 * - POST /payment/v1/merchant/queryStatement, method payment.querystatement, { …, bill_date YYYYMMDD, page_token }:
 *   { bill_date, records: [{ merch_order_id, trans_type: C2B | B2C | B2C_REVERSAL | REFUND, trans_amount, trans_currency, trans_id,
 *   trans_time (milliseconds) }], next_page_token ("" on the last page) }: movements of that day in Addis Ababa, oldest
 *   first, at most 200 records a page.
 */
export function createTelebirr(
  deps: ProtocolDeps,
  { id: channel, sandbox }: Simulated,
  account: TelebirrAccount,
): Protocol {
  const { orders, count } = deps;
  const { signatureScheme: scheme } = account;
  const merchantKey = { key: createPublicKey(account.merchantPublicKey), scheme };
  const ownKey = { key: createPrivateKey(account.providerPrivateKey), scheme };
  const tokenExpiresAtMs = new Map<string, number>();
  return {
    channel,
    prefix: sandbox.path,
    ...messages,
    ...signedMessages(deps, account, (message) => signTelebirr(message, ownKey)),
    forgetTokens: () => tokenExpiresAtMs.clear(),
    extraRoutes(routes) {
      routes.post('/payment/v1/token', (ctx) => {
        count(`${channel} token`);
        const isApp = ctx.get('x-app-key') === account.appKey;
        if (!isApp || text(bodyOf(ctx), 'appSecret') !== account.appSecret) {
          return respond(ctx, 401, { errorCode: 'INVALID_APP', errorMsg: 'app key or secret is wrong' });
        }
        const token = `Bearer ${randomBytes(16).toString('hex')}`;
        const [nowMs, expiresAtMs] = [orders.nowMs(), orders.nowMs() + TOKEN_LIFETIME_MS];
        tokenExpiresAtMs.set(token, expiresAtMs);
        respond(ctx, 200, { token, effectiveDate: compactTime(nowMs), expirationDate: compactTime(expiresAtMs) });
      });
      routes.use(payPageRoutes(deps, (order) => verifyTelebirr(order, merchantKey)).routes());
    },

    authenticate(ctx) {
      if ((tokenExpiresAtMs.get(ctx.get('authorization')) ?? 0) <= orders.nowMs()) {
        ctx.status = 401;
        return { errorCode: 'INVALID_TOKEN', errorMsg: 'the token is unknown or has expired' };
      }
      return verifyTelebirr(bodyOf(ctx), merchantKey) ? null : rejected('INVALID_SIGN', 'sign is not of this message');
    },
  };
}

/** The messages of telebirr about the orders of this account, signed. */
function signedMessages({ orders }: ProtocolDeps, account: TelebirrAccount, sign: Sign) {
  const statusOf = (order: Order): Fields => {
    if (order.direction === 'refund') return { merch_code: account.merchantCode, ...refundContent(order) };
    const refunds = refundsOf(orders.all(), order).map((one) => visibleOrder(one, orders.nowMs()));
    const listed = refunds.map((one) => ({ ...refundContent(one), refund_request_no: one.orderId }));
    return { ...statusContent(order), ...(listed.length > 0 && { refund_info: listed }) };
  };
  const success = (content: Fields): Fields => {
    const nonce = randomBytes(16).toString('hex');
    const message = { result: 'SUCCESS', code: '0', msg: 'success', nonce_str: nonce, biz_content: content };
    return { ...message, sign: sign(message), sign_type: 'SHA256WithRSA' };
  };
  return {
    problemOf: (fields, kind) => problemOf(account, { fields, kind }),
    pushed: ({ orderId, reference }) => success({ merch_order_id: orderId, prepay_id: reference }),
    status: (order) => success(statusOf(order)),

    statement(day, page) {
      const records = page.rows.map((row) => ({
        merch_order_id: row.orderId,
        trans_type: TRANS_TYPES[row.type],
        trans_amount: row.amount,
        trans_currency: row.currency,
        trans_id: row.reference,
        trans_time: String(row.atMs),
      }));
      return success({ bill_date: day.replaceAll('-', ''), records, next_page_token: page.next ?? '' });
    },

    callback(order, { signature, dueAtMs }) {
      const message = { ...notification(account, order), notify_time: String(dueAtMs) };
      // A wrong signature is a real one, of another message.
      const signed = signature === 'wrong' ? { ...message, merch_order_id: `${message.merch_order_id}X` } : message;
      return signature === 'missing' ? message : { ...message, sign: sign(signed), sign_type: 'SHA256WithRSA' };
    },
  } satisfies Partial<Protocol>;
}

function problemOf(account: TelebirrAccount, { fields, kind }: { fields: Fields; kind: RequestKind }): string | null {
  const matches = (name: string, pattern: RegExp): boolean => pattern.test(text(fields, name));
  if (text(fields, 'appid') !== account.appId) return 'appid is not known';
  if (text(fields, 'merch_code') !== account.merchantCode) return 'merch_code is not known';
  if (!matches('merch_order_id', /^[A-Za-z0-9]{1,64}$/)) return 'merch_order_id must be alphanumeric, ≤ 64';
  const amount = kind === 'refund' ? 'actual_amount' : 'total_amount';
  if (!matches(amount, /^\d+\.\d\d$/)) return `${amount} must be written 0.00`;
  if (!matches(amount, /[1-9]/)) return `${amount} must be more than 0`;
  if (kind === 'refund') {
    return matches('refund_request_no', /^[A-Za-z0-9]{1,64}$/) ? null : 'refund_request_no must be alphanumeric, ≤ 64';
  }
  if (kind === 'initiate' && !matches('timeout_express', /^\d{1,4}m$/))
    return 'timeout_express must be minutes, as 30m';
  if (kind === 'payout' && !matches('payee_identifier_type', /^01$/))
    return 'payee_identifier_type must be 01, a phone';
  return text(fields, 'notify_url') === '' ? 'notify_url is missing' : null;
}

function rejected(code: string, msg: string): Fields {
  return { result: 'FAIL', code, msg };
}

function statusContent(order: Order): Fields {
  const { state, failure, transactionReference } = order;
  const isTransfer = order.direction === 'payout';
  const isRefused = isTransfer && failure === 'REFUSED_BY_PROVIDER';
  return {
    merch_order_id: order.orderId,
    order_status: isTransfer && state === 'PAID' ? 'TRANSFER_SUCCESS' : STATUSES[state].order,
    payment_order_id: order.reference,
    total_amount: order.amount,
    trans_currency: order.currency,
    ...(transactionReference && { trans_id: transactionReference, trans_time: String(order.decidedAtMs) }),
    ...(isRefused ? TRANSFER_REFUSED : failure && FAIL_CODES[failure]),
  };
}

const REFUND_STATUSES: Partial<Record<Order['state'], string>> = { PAID: 'REFUND_SUCCESS', FAILED: 'REFUND_FAILED' };

function refundContent(order: Order): Fields {
  const { state, failure } = order;
  const isRefused = failure === 'REFUSED_BY_PROVIDER';
  const failed = failure === 'FAILED_AFTERWARDS' ? REFUND_NOT_MADE : failure && FAIL_CODES[failure];
  return {
    merch_order_id: order.refundOf,
    trans_order_id: order.refundOf,
    refund_order_id: order.transactionReference || order.reference,
    refund_amount: order.amount,
    refund_currency: order.currency,
    refund_status: REFUND_STATUSES[state] ?? 'REFUNDING',
    ...(state === 'PAID' && { refund_time: String(order.decidedAtMs) }),
    ...(isRefused ? REFUND_REFUSED : failed),
  };
}

/** The notify message. Its times are milliseconds, as telebirr's often are. */
function notification(account: TelebirrAccount, order: Order) {
  return {
    appid: account.appId,
    merch_code: account.merchantCode,
    merch_order_id: order.orderId,
    payment_order_id: order.reference,
    trade_status: STATUSES[order.state].trade,
    total_amount: order.amount,
    trans_currency: order.currency,
    trans_id: order.transactionReference,
    trans_end_time: String(order.reversedAtMs ?? order.decidedAtMs),
    notify_url: order.callbackUrl,
    ...(order.direction === 'payment' && { callback_info: order.phone }),
  };
}

/** yyyyMMddHHmmss in Addis Ababa. */
function compactTime(atMs: number): string {
  return inAddis(new Date(atMs)).toISOString().replaceAll(/\D/g, '').slice(0, 14);
}
