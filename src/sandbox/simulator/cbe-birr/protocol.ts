import { signCbeBirr, verifyCbeBirr } from '../../../providers/cbe-birr/signing.ts';
import type { Simulated } from '../channels.ts';
import type { Order } from '../order.ts';
import { bodyOf, text, type Fields, type Protocol, type ProtocolDeps } from '../protocol.ts';
import type { TillAccount } from './account.ts';

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

const ROW_TYPES = { payment: 'PUSH', payout: 'PAYOUT', payoutReversal: 'PAYOUT_REVERSAL', refund: 'REFUND' } as const;

/**
 * CBE Birr, and the providers that share its messages. All messages are signed alike, both ways. Beside the known fields
 * of the real push (companyName, tillCode, amount, transactionId, transactionTime, callBackURL, token, signature) the
 * sandbox requires phoneNumber, currency and expiryTime (ISO 8601), and returns state, resultCode, resultDesc and
 * reference. CBE Birr publishes nothing about payouts and refunds, so the sandbox takes them in the shape of its push:
 * - POST /payout { companyName, tillCode, token, transactionId, transactionTime, amount, currency, phoneNumber (or,
 *   where payouts to banks are made, bankCode and accountNumber), accountName, callBackURL, signature }: { transactionId, state: ACCEPTED |
 *   COMPLETED | FAILED | REVERSED, resultCode, reference, amount, currency }, or { state: REJECTED, resultCode } when no
 *   payout was made. The same transactionId again pays nothing and returns the first one's status; with another amount
 *   or payee it is REJECTED with DUPLICATE_TRANSACTION.
 * - POST /payout-status { …, transactionId }: the same, or REJECTED with NOT_FOUND.
 * - POST /refund { …, transactionId (the refund's), originalTransactionId (the push's), amount, currency, reason,
 *   callBackURL }: as for a payout, but never REVERSED; with another amount or push it is REJECTED with
 *   DUPLICATE_TRANSACTION, and with more than is left of the push with INVALID_PARAMETER.
 * - POST /refund-status { …, transactionId }: the same, or REJECTED with NOT_FOUND.
 * - The callback has the fields of the push's, for COMPLETED, FAILED and REVERSED.
 * - POST /statement { …, statementDate YYYY-MM-DD, cursor }: { resultCode: "0", statementDate, rows: [{ transactionId,
 *   type: PUSH | PAYOUT | PAYOUT_REVERSAL | REFUND, amount, currency, reference, time (ISO 8601) }], nextCursor ("" on the last
 *   page) }: movements of that day in Addis Ababa, oldest first, at most 200 rows a page.
 */
export function createCbeBirr(
  _deps: ProtocolDeps,
  { id: channel, sandbox, payoutTo }: Simulated,
  { hashKey, ...till }: TillAccount,
): Protocol {
  const signed = (fields: Fields): Fields => ({ ...fields, signature: signCbeBirr(fields, hashKey) });
  const rejected = (resultCode: string, resultDesc: string): Fields =>
    signed({ state: 'REJECTED', resultCode, resultDesc });
  return {
    channel,
    prefix: sandbox.path,
    paths: {
      initiate: '/push',
      query: '/status',
      payout: '/payout',
      queryPayout: '/payout-status',
      refund: '/refund',
      queryRefund: '/refund-status',
      statement: '/statement',
    },
    // oxfmt-ignore
    names: {
      orderId: 'transactionId', amount: 'amount', currency: 'currency', callbackUrl: 'callBackURL',
      phone: 'phoneNumber', title: 'companyName', expiry: 'expiryTime', payee: 'phoneNumber',
      accountName: 'accountName', day: 'statementDate', cursor: 'cursor', refundId: 'transactionId',
      refundOf: 'originalTransactionId', refundAmount: 'amount',
      ...(payoutTo.includes('bank') && { bankCode: 'bankCode', accountNumber: 'accountNumber' }),
    },
    codes: {
      invalid: 'INVALID_PARAMETER',
      unknownPayer: 'INVALID_MSISDN',
      unknownPayee: 'INVALID_MSISDN',
      anotherOrder: 'DUPLICATE_TRANSACTION',
      notFound: 'NOT_FOUND',
    },

    authenticate(ctx) {
      const fields = bodyOf(ctx);
      const isMerchant = text(fields, 'token') === till.token && text(fields, 'tillCode') === till.tillCode;
      if (isMerchant && verifyCbeBirr(fields, hashKey)) return null;
      return rejected('INVALID_SIGNATURE', 'token or signature is wrong');
    },

    rejected,
    pushed: ({ orderId: transactionId, reference }) =>
      signed({ transactionId, state: 'PUSHED', resultCode: '0', resultDesc: 'sent', reference }),
    status: (order) => signed(statusBody(order)),

    statement(statementDate, page) {
      const rows = page.rows.map(({ orderId, type, atMs, ...row }) => ({
        transactionId: orderId,
        type: ROW_TYPES[type],
        ...row,
        time: new Date(atMs).toISOString(),
      }));
      return signed({ resultCode: '0', statementDate, rows, nextCursor: page.next ?? '' });
    },

    callback(order, { signature, dueAtMs }) {
      const message = { ...till, ...statusBody(order), transactionTime: new Date(dueAtMs).toISOString() };
      const key = signature === 'wrong' ? 'another-key' : hashKey;
      return signature === 'missing' ? message : { ...message, signature: signCbeBirr(message, key) };
    },
  };
}

function statusBody({ orderId, amount, currency, state, failure, ...order }: Order): Fields {
  const code = failure === 'FAILED_AFTERWARDS' && order.direction === 'refund' ? 'REFUND_FAILED' : null;
  return {
    transactionId: orderId,
    amount,
    currency,
    state: STATES[state],
    resultCode: failure ? (code ?? RESULT_CODES[failure]) : '0',
    reference: order.transactionReference || order.reference,
  };
}
