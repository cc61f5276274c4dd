import { signCbeBirr, verifyCbeBirr } from '../../lib/provider-signing.ts';
import { SANDBOX_CBE_BIRR } from '../../lib/sandbox-providers.ts';
import type { OrderStatus } from './order.ts';
import { bodyOf, text, type Fields, type Protocol, type Reply } from './protocol.ts';

const { hashKey, ...till } = SANDBOX_CBE_BIRR;

const STATES = {
  WAITING: 'PENDING',
  PAID: 'COMPLETED',
  DECLINED: 'FAILED',
  EXPIRED: 'EXPIRED',
  ACCEPTED: 'ACCEPTED',
  FAILED: 'FAILED',
  REVERSED: 'REVERSED',
} as const;

const RESULT_CODES = {
  REFUSED_BY_PROVIDER: 'DECLINED',
  INSUFFICIENT_FUNDS: 'INSUFFICIENT_BALANCE',
  CANCELLED_BY_CUSTOMER: 'CANCELLED',
  INSUFFICIENT_FLOAT: 'INSUFFICIENT_FLOAT',
  FAILED_AFTERWARDS: 'PAYOUT_FAILED',
} as const;

const REJECTIONS = { UNKNOWN_PARTY: 'INVALID_MSISDN', ANOTHER_ORDER: 'DUPLICATE_TRANSACTION' } as const;

const ROW_TYPES = { payment: 'PUSH', payout: 'PAYOUT', payoutReversal: 'PAYOUT_REVERSAL' } as const;

/**
 * CBE Birr. All messages are signed alike, both ways. Beside the known fields of the real push (companyName, tillCode,
 * amount, transactionId, transactionTime, callBackURL, token, signature) the sandbox requires phoneNumber, currency and
 * expiryTime (ISO 8601), and returns state, resultCode, resultDesc and reference. CBE Birr publishes nothing about
 * payouts, so the sandbox takes them in the shape of its push, to wallets only:
 * - POST /payout { companyName, tillCode, token, transactionId, transactionTime, amount, currency, phoneNumber,
 *   accountName, callBackURL, signature }: { transactionId, state: ACCEPTED | COMPLETED | FAILED | REVERSED, resultCode,
 *   reference, amount, currency }, or { state: REJECTED, resultCode } when no payout was made. The same transactionId
 *   again pays nothing and returns the first one's status; with another amount or phone it is REJECTED with
 *   DUPLICATE_TRANSACTION.
 * - POST /payout-status { …, transactionId }: the same, or { state: NOT_FOUND }.
 * - The callback has the fields of the push's, for COMPLETED, FAILED and REVERSED.
 * - POST /statement { …, statementDate YYYY-MM-DD, cursor }: { resultCode: "0", statementDate, rows: [{ transactionId,
 *   type: PUSH | PAYOUT | PAYOUT_REVERSAL, amount, currency, reference, time (ISO 8601) }], nextCursor ("" on the last
 *   page) }: movements of that day in Addis Ababa, oldest first, at most 200 rows a page.
 */
export const cbeBirr: Protocol = {
  channel: 'CBE_BIRR',
  prefix: '/cbebirr',
  endpoints: {
    initiate: { method: 'post', path: '/push' },
    query: { method: 'post', path: '/status' },
    payout: { method: 'post', path: '/payout' },
    queryPayout: { method: 'post', path: '/payout-status' },
    statement: { method: 'post', path: '/statement' },
  },
  // oxfmt-ignore
  names: {
    orderId: 'transactionId', amount: 'amount', currency: 'currency', callbackUrl: 'callBackURL', phone: 'phoneNumber',
    title: 'companyName', expiry: 'expiryTime', payee: 'phoneNumber', accountName: 'accountName',
    day: 'statementDate', cursor: 'cursor',
  },

  authenticate(ctx) {
    const fields = bodyOf(ctx);
    const isMerchant = text(fields, 'token') === till.token && text(fields, 'tillCode') === till.tillCode;
    if (isMerchant && verifyCbeBirr(fields, hashKey)) return null;
    return rejection('INVALID_SIGNATURE', 'token or signature is wrong');
  },

  invalid: (_fields, problem) => rejection('INVALID_PARAMETER', problem),
  rejected: ({ reason }) => rejection(REJECTIONS[reason], REJECTIONS[reason]),
  notFound: (transactionId) => signed({ transactionId, state: 'NOT_FOUND', resultCode: 'NOT_FOUND' }),
  pushed: ({ orderId: transactionId, reference }) =>
    signed({ transactionId, state: 'PUSHED', resultCode: '0', resultDesc: 'sent', reference }),
  status: (status) => signed(statusBody(status)),

  statement(statementDate, page) {
    const rows = page.rows.map(({ orderId, type, atMs, ...row }) => ({
      transactionId: orderId,
      type: ROW_TYPES[type],
      ...row,
      time: new Date(atMs).toISOString(),
    }));
    return signed({ resultCode: '0', statementDate, rows, nextCursor: page.next ?? '' });
  },

  callback(status, { signature, dueAtMs }) {
    const message = { ...till, ...statusBody(status), transactionTime: new Date(dueAtMs).toISOString() };
    const key = signature === 'wrong' ? 'another-key' : hashKey;
    const body = signature === 'missing' ? message : { ...message, signature: signCbeBirr(message, key) };
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  },
};

function rejection(resultCode: string, resultDesc: string): Reply {
  return signed({ state: 'REJECTED', resultCode, resultDesc });
}

function signed(fields: Fields): Reply {
  return { body: { ...fields, signature: signCbeBirr(fields, hashKey) } };
}

function statusBody({ order, state, amount, reference, failure }: OrderStatus): Record<string, string> {
  return {
    transactionId: order.orderId,
    amount,
    currency: order.currency,
    state: STATES[state],
    resultCode: failure ? RESULT_CODES[failure] : '0',
    reference,
  };
}
