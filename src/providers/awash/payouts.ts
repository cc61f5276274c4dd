import { z } from 'zod';

import { formatBirr } from '../../lib/money.ts';
import {
  declined,
  ofOrder,
  moneyOutcome,
  readPage,
  readReply,
  rejectedWithoutOrder,
  unreadable,
  type Failure,
  type Reply,
} from '../exchange.ts';
import type {
  PayoutFailure,
  PayoutDestination,
  PayoutOrder,
  PayoutOutcome,
  Provider,
  StatementPage,
  StatementRow,
  Unknown,
} from '../provider.ts';
import { awashOrder, type AwashCall } from './call.ts';

const Payout = z.object({
  reference: z.string().optional(),
  state: z.string(),
  amount: z.string().optional(),
  currency: z.string().optional(),
  reasonCode: z.string().optional(),
});
type Payout = z.output<typeof Payout>;

const List = z.object({
  rows: z
    .array(
      z.object({
        orderId: z.string(),
        type: z.string(),
        amount: z.string(),
        currency: z.string(),
        reference: z.string(),
        at: z.string(),
      }),
    )
    .max(500),
  next: z.string().nullable(),
});

const ROW_TYPES = new Map<string, StatementRow['type']>([
  ['PAYMENT', 'payment'],
  ['PAYOUT', 'payout'],
  ['PAYOUT_REVERSAL', 'payoutReversal'],
]);

/** The reasons that decline a payout: nothing was paid. */
const FAILURES = new Map<string, Failure<PayoutFailure['code']>>(
  Object.entries({
    DECLINED: { code: 'DECLINED', message: 'Awash declined the payout.', retryable: false },
    INSUFFICIENT_FLOAT: { code: 'INSUFFICIENT_FUNDS', message: 'The payout account has too little.', retryable: true },
    PAYOUT_FAILED: { code: 'DECLINED', message: 'Awash took the payout, but could not make it.', retryable: true },
    UNKNOWN_PAYEE: { code: 'INVALID_PAYEE', message: 'Awash does not know this account or phone.', retryable: false },
  }),
);

/** Awash's payouts and statement. */
export function awashPayouts(call: AwashCall): Pick<Provider, 'payout' | 'queryPayout' | 'capabilities' | 'statement'> {
  return {
    capabilities: { payoutTo: ['phone', 'bank'] },

    async payout(order) {
      const reply = await call('POST', '/payouts', payoutMessage(order));
      if (reply.kind === 'unknown') return reply;
      return ofOrder(readSubmission(reply), awashOrder(reply, order.orderId, { isRejection: reply.status >= 400 }));
    },

    async queryPayout(orderId) {
      const reply = await call('GET', `/payouts/${encodeURIComponent(orderId)}`);
      if (reply.kind === 'unknown') return reply;
      const read = readReply(reply, Payout);
      if (read.kind === 'unknown') return read;
      const isNotFound = reply.status === 404 && read.value.state === 'NOT_FOUND';
      if (reply.status >= 400 && !isNotFound) return unreadable(`status ${reply.status}: the query was rejected`);
      const outcome: PayoutOutcome = isNotFound
        ? { kind: 'not-found', providerCode: read.value.state }
        : readStatusBody(read.value, 'pending');
      return ofOrder(outcome, awashOrder(reply, orderId, { isRejection: false }));
    },

    async statement(day, cursor) {
      const query = new URLSearchParams({ day, ...(cursor === null ? {} : { cursor }) });
      const reply = await call('GET', `/statement?${query.toString()}`);
      return reply.kind === 'unknown' ? reply : readList(reply);
    },
  };
}

function payoutMessage(order: PayoutOrder): object {
  return {
    orderId: order.orderId,
    amount: formatBirr(order.amountSantim),
    currency: order.currency,
    accountName: order.accountName,
    callbackUrl: order.notifyUrl,
    ...payee(order.destination),
  };
}

function payee(destination: PayoutDestination): Record<string, string> {
  if (destination.kind === 'phone') return { phone: destination.phone };
  return { bankCode: destination.bankCode, accountNumber: destination.accountNumber };
}

function readSubmission(reply: Reply): PayoutOutcome {
  const read = readReply(reply, Payout);
  if (read.kind === 'unknown') return read;
  if (reply.status < 400) return readStatusBody(read.value, 'accepted');
  const code = read.value.reasonCode ?? read.value.state;
  const failure = reply.status === 422 ? FAILURES.get(code) : undefined;
  return failure ? declined(failure, code) : rejectedWithoutOrder(code);
}

function readStatusBody(payout: Payout, undecided: 'accepted' | 'pending'): PayoutOutcome {
  const { state, reference = null, amount, currency } = payout;
  const raw = { reference, amount, currency, providerCode: state };
  switch (state) {
    case 'ACCEPTED':
      return { kind: undecided, providerReference: reference, providerCode: state };
    case 'PAID':
      return moneyOutcome('succeeded', raw);
    case 'REVERSED':
      return moneyOutcome('reversed', raw);
    case 'FAILED': {
      const code = payout.reasonCode ?? state;
      const otherwise = { code: 'REJECTED', message: 'Awash did not make the payout.', retryable: false } as const;
      return declined(FAILURES.get(code) ?? otherwise, code);
    }
    default:
      return unreadable(`state ${state} is not known`);
  }
}

function readList(reply: Reply): StatementPage | Unknown {
  const read = readReply(reply, List);
  if (read.kind === 'unknown') return read;
  const rows = read.value.rows.map(({ at, type, ...row }) => ({
    ...row,
    type: ROW_TYPES.get(type),
    atMs: Date.parse(at),
  }));
  return readPage(rows, read.value.next);
}
