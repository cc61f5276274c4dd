import { z } from 'zod';

import { formatBirr } from '../../lib/money.ts';
import { declined, readReply, unreadable, type Failure, type Reply } from '../exchange.ts';
import { payoutMoved, phoneOnly, rejectedWithoutOrder } from '../payout-outcome.ts';
import type { PayoutFailure, PayoutOutcome, Provider, StatementPage, StatementRow, Unknown } from '../provider.ts';
import { ofOrder } from '../same-order.ts';
import { readPage } from '../statement-page.ts';
import { cbeBirrOrder, type CbeBirrCall } from './call.ts';

const Answer = z.object({
  state: z.string(),
  resultCode: z.string(),
  reference: z.string().optional(),
  amount: z.string().optional(),
  currency: z.string().optional(),
});
type Answer = z.output<typeof Answer>;

const List = z.object({
  rows: z
    .array(
      z.object({
        transactionId: z.string(),
        type: z.string(),
        amount: z.string(),
        currency: z.string(),
        reference: z.string(),
        time: z.string(),
      }),
    )
    .max(500),
  nextCursor: z.string(),
});

const ROW_TYPES = new Map<string, StatementRow['type']>([
  ['PUSH', 'payment'],
  ['PAYOUT', 'payout'],
  ['PAYOUT_REVERSAL', 'payoutReversal'],
]);

/** The codes that judge a payout: after one of these no money left. */
const FAILURES = new Map<string, Failure<PayoutFailure['code']>>(
  Object.entries({
    DECLINED: { code: 'DECLINED', message: 'CBE Birr declined the payout.', retryable: false },
    INSUFFICIENT_FLOAT: { code: 'INSUFFICIENT_FUNDS', message: 'The payout account has too little.', retryable: true },
    PAYOUT_FAILED: { code: 'DECLINED', message: 'CBE Birr took the payout, but could not make it.', retryable: true },
    INVALID_MSISDN: { code: 'INVALID_PAYEE', message: 'CBE Birr does not know this phone number.', retryable: false },
  }),
);

/**
 * CBE Birr's money out, and its list: nothing of them is published, so both are assumed to be signed POSTs in the shape
 * of its push (src/sandbox/simulator/cbe-birr.ts has the fields).
 */
export function cbeBirrPayouts(
  call: CbeBirrCall,
): Pick<Provider, 'payout' | 'queryPayout' | 'capabilities' | 'statement'> {
  return {
    capabilities: { payoutTo: ['phone'] },

    async payout(order) {
      const payee = phoneOnly(order, 'CBE Birr');
      if (payee.kind === 'declined') return payee;
      const reply = await call('/payout', {
        transactionId: order.orderId,
        amount: formatBirr(order.amountSantim),
        currency: order.currency,
        phoneNumber: payee.phone,
        accountName: order.accountName,
        callBackURL: order.notifyUrl,
      });
      return reply.kind === 'unknown' ? reply : readSubmission(reply, order.orderId);
    },

    async queryPayout(orderId) {
      const reply = await call('/payout-status', { transactionId: orderId });
      if (reply.kind === 'unknown') return reply;
      const read = readReply(reply, Answer);
      if (read.kind === 'unknown') return read;
      const { state, resultCode } = read.value;
      if (reply.status >= 400 || state === 'REJECTED') return unreadable(`the question was refused with ${resultCode}`);
      const outcome: PayoutOutcome =
        state === 'NOT_FOUND' ? { kind: 'not-found', providerCode: state } : readStatusBody(read.value, 'pending');
      return ofOrder(outcome, cbeBirrOrder(reply, orderId, { isRejection: false }));
    },

    async statement(day, cursor) {
      const reply = await call('/statement', { statementDate: day, cursor: cursor ?? '' });
      return reply.kind === 'unknown' ? reply : readList(reply);
    },
  };
}

function readSubmission(reply: Reply, orderId: string): PayoutOutcome {
  const read = readReply(reply, Answer);
  if (read.kind === 'unknown') return read;
  const { state, resultCode } = read.value;
  const isRejection = reply.status >= 400 || state === 'REJECTED';
  const outcome = isRejection ? readRejection(resultCode) : readStatusBody(read.value, 'accepted');
  return ofOrder(outcome, cbeBirrOrder(reply, orderId, { isRejection }));
}

function readRejection(resultCode: string): PayoutOutcome {
  const failure = FAILURES.get(resultCode);
  return failure ? declined(failure, resultCode) : rejectedWithoutOrder(resultCode);
}

function readStatusBody(response: Answer, waiting: 'accepted' | 'pending'): PayoutOutcome {
  const { state, resultCode, reference = null, amount, currency } = response;
  const written = { reference, amount, currency, providerCode: state };
  switch (state) {
    case 'ACCEPTED':
      return { kind: waiting, providerReference: reference, providerCode: state };
    case 'COMPLETED':
      return payoutMoved('succeeded', written);
    case 'REVERSED':
      return payoutMoved('reversed', written);
    case 'FAILED': {
      const otherwise = { code: 'REJECTED', message: 'CBE Birr did not make the payout.', retryable: false } as const;
      return declined(FAILURES.get(resultCode) ?? otherwise, resultCode);
    }
    default:
      return unreadable(`state ${state} is not known`);
  }
}

function readList(reply: Reply): StatementPage | Unknown {
  const read = readReply(reply, List);
  if (read.kind === 'unknown') return read;
  const rows = read.value.rows.map(({ transactionId, type, time, ...row }) => ({
    ...row,
    orderId: transactionId,
    type: ROW_TYPES.get(type),
    atMs: Date.parse(time),
  }));
  return readPage(rows, read.value.nextCursor);
}
