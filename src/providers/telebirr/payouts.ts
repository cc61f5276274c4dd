import { z } from 'zod';

import { formatBirr } from '../../lib/money.ts';
import { declined, readReply, unreadable, type Failure, type Reply } from '../exchange.ts';
import { fromPlainOrderId, toPlainOrderId } from '../order-id.ts';
import { payoutMoved, phoneOnly, rejectedWithoutOrder } from '../payout-outcome.ts';
import type { PayoutFailure, PayoutOutcome, Provider, StatementPage, StatementRow, Unknown } from '../provider.ts';
import { ofOrder } from '../same-order.ts';
import { readPage } from '../statement-page.ts';
import {
  Answer,
  codeOf,
  merchant,
  NO_SUCH_ORDER,
  telebirrOrder,
  type TelebirrCall,
  type TelebirrConfig,
} from './call.ts';

const Transfer = z.object({
  order_status: z.string(),
  payment_order_id: z.string().optional(),
  trans_id: z.string().optional(),
  trans_currency: z.string().optional(),
  total_amount: z.string().optional(),
  fail_code: z.string().optional(),
  fail_reason: z.string().optional(),
});
type Transfer = z.output<typeof Transfer>;

const List = z.object({
  records: z
    .array(
      z.object({
        merch_order_id: z.string(),
        trans_type: z.string(),
        trans_amount: z.string(),
        trans_currency: z.string(),
        trans_id: z.string(),
        trans_time: z.string(),
      }),
    )
    .max(500),
  next_page_token: z.string(),
});

const TRANS_TYPES = new Map<string, StatementRow['type']>([
  ['C2B', 'payment'],
  ['B2C', 'payout'],
  ['B2C_REVERSAL', 'payoutReversal'],
]);

/** The codes that judge a transfer: after one of these no money left. */
const FAILURES = new Map<string, Failure<PayoutFailure['code']>>(
  Object.entries({
    TRANSFER_REFUSED: { code: 'DECLINED', message: 'telebirr declined the payout.', retryable: false },
    INSUFFICIENT_FLOAT: { code: 'INSUFFICIENT_FUNDS', message: 'The payout account has too little.', retryable: true },
    TRANSFER_NOT_MADE: {
      code: 'DECLINED',
      message: 'telebirr took the payout, but could not make it.',
      retryable: true,
    },
    INVALID_PAYEE: { code: 'INVALID_PAYEE', message: 'telebirr does not know this phone number.', retryable: false },
  }),
);

/**
 * telebirr's money out (B2C), and its list. Neither is published; what is known of B2C on the platform below telebirr
 * is a transfer from an organisation to a customer named by phone, told of later by a result call. So the fabric's
 * manners are assumed (token, signed message, notify), with the platform's codes that its preOrder shows as well: a payee
 * that is an organisation is 5000 and a short code 04 there, so a customer is 1000 and a phone 01 here. Method names,
 * paths, statuses and the list are assumed; src/sandbox/simulator/telebirr.ts has them all.
 */
export function telebirrPayouts(
  call: TelebirrCall,
  config: TelebirrConfig,
): Pick<Provider, 'payout' | 'queryPayout' | 'capabilities' | 'statement'> {
  return {
    capabilities: { payoutTo: ['phone'] },

    async payout(order) {
      const payee = phoneOnly(order, 'telebirr');
      if (payee.kind === 'declined') return payee;
      const reply = await call('/payment/v1/merchant/transfer', 'payment.transfer', {
        ...merchant(config),
        merch_order_id: toPlainOrderId(order.orderId),
        notify_url: order.notifyUrl,
        trade_type: 'B2C',
        total_amount: formatBirr(order.amountSantim),
        trans_currency: order.currency,
        business_type: 'BusinessPayment',
        payee_identifier: payee.phone,
        payee_identifier_type: '01',
        payee_type: '1000',
        payee_name: order.accountName,
      });
      if (reply.kind === 'unknown') return reply;
      return ofOrder(readSubmission(reply), telebirrOrder(reply, order.orderId));
    },

    async queryPayout(orderId) {
      const content = { ...merchant(config), merch_order_id: toPlainOrderId(orderId) };
      const reply = await call('/payment/v1/merchant/queryTransfer', 'payment.querytransfer', content);
      return reply.kind === 'unknown' ? reply : ofOrder(readQuery(reply), telebirrOrder(reply, orderId));
    },

    async statement(day, cursor) {
      const reply = await call('/payment/v1/merchant/queryStatement', 'payment.querystatement', {
        ...merchant(config),
        bill_date: day.replaceAll('-', ''),
        page_token: cursor ?? '',
      });
      return reply.kind === 'unknown' ? reply : readList(reply);
    },
  };
}

function readSubmission(reply: Reply): PayoutOutcome {
  const read = readReply(reply, Answer);
  if (read.kind === 'unknown') return read;
  if (read.value.result === 'SUCCESS') return readTransfer(read.value, 'accepted');
  const code = codeOf(read.value) ?? 'no code';
  const failure = read.value.result === 'FAIL' ? FAILURES.get(code) : undefined;
  return failure ? declined(failure, code) : rejectedWithoutOrder(code);
}

function readQuery(reply: Reply): PayoutOutcome {
  const read = readReply(reply, Answer);
  if (read.kind === 'unknown') return read;
  const code = codeOf(read.value);
  if (read.value.result === 'SUCCESS') return readTransfer(read.value, 'pending');
  if (code === NO_SUCH_ORDER) return { kind: 'not-found', providerCode: code };
  return unreadable(`the query was refused with ${code ?? 'no code'}`);
}

function readTransfer(response: Answer, waiting: 'accepted' | 'pending'): PayoutOutcome {
  const parsed = Transfer.safeParse(response.biz_content);
  if (!parsed.success) return unreadable('an answer without a readable transfer');
  const transfer: Transfer = parsed.data;
  const { order_status: status, trans_id: reference, total_amount: amount, trans_currency: currency } = transfer;
  const written = { reference, amount, currency, providerCode: status };
  switch (status) {
    case 'TRANSFER_SUCCESS':
      return payoutMoved('succeeded', written);
    case 'TRANSFER_REVERSED':
      return payoutMoved('reversed', written);
    case 'TRANSFER_FAILED': {
      const code = transfer.fail_code ?? status;
      const message = transfer.fail_reason ?? 'telebirr did not make the payout.';
      return declined(FAILURES.get(code) ?? { code: 'REJECTED', message, retryable: false }, code);
    }
    default:
      // TRANSFER_PROCESSING, and whatever word telebirr adds: not decided as far as it says.
      return { kind: waiting, providerReference: transfer.payment_order_id ?? null, providerCode: status };
  }
}

function readList(reply: Reply): StatementPage | Unknown {
  const read = readReply(reply, Answer);
  if (read.kind === 'unknown') return read;
  const list = read.value.result === 'SUCCESS' ? List.safeParse(read.value.biz_content) : null;
  if (!list?.success) return unreadable(`not a list: ${codeOf(read.value) ?? 'no code'}`);
  const rows = list.data.records.map((record) => ({
    orderId: fromPlainOrderId(record.merch_order_id) ?? record.merch_order_id,
    type: TRANS_TYPES.get(record.trans_type),
    amount: record.trans_amount,
    currency: record.trans_currency,
    reference: record.trans_id,
    atMs: Number(record.trans_time),
  }));
  return readPage(rows, list.data.next_page_token);
}
