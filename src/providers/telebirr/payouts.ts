import type { SignedMessage } from '../../lib/provider-signing.ts';
import { readReply, toPlainOrderId } from '../exchange.ts';
import type { OrderCalls, OrderState } from '../orders.ts';
import type { PayoutOrder } from '../provider.ts';
import { commonContent } from './payments.ts';
import { orderBy } from './replies.ts';
import type { TelebirrWire } from './wire.ts';

const STATES = new Map<string, OrderState>([
  ['TRANSFER_SUCCESS', 'paid'],
  ['TRANSFER_REVERSED', 'reversed'],
  ['TRANSFER_FAILED', 'failed'],
]);
const Transfer = orderBy('transfer', STATES);

/**
 * Payouts (B2C), which are not published. B2C on the platform below telebirr is a transfer from an organisation to a
 * customer's phone, with a later result call. Assumed are the fabric's conventions (token, signed message, notify) and the
 * platform's codes as preOrder uses them: a payee that is an organisation is 5000 and a short code 04, so a customer is 1000
 * and a phone 01. Method names, paths and statuses are assumed as well, and described in
 * src/sandbox/simulator/telebirr/protocol.ts.
 */
export function connectPayouts({ call }: TelebirrWire): Pick<OrderCalls, 'payout' | 'queryPayout'> {
  return {
    payout: async (order) => readReply(await call('transfer', transferContent(order)), Transfer),
    queryPayout: async (orderId) =>
      readReply(await call('queryTransfer', { merch_order_id: toPlainOrderId(orderId) }), Transfer),
  };
}

function transferContent(order: PayoutOrder): SignedMessage {
  return {
    ...commonContent(order),
    trade_type: 'B2C',
    business_type: 'BusinessPayment',
    payee_identifier: order.destination.kind === 'phone' ? order.destination.phone : '',
    payee_identifier_type: '01',
    payee_type: '1000',
    payee_name: order.accountName,
  };
}
