import type { OrderCalls } from '../orders.ts';
import type { PayoutOrder } from '../provider.ts';
import { commonFields, type CbeBirrWire } from './wire.ts';

/**
 * Payouts and refunds, which are not published: both are assumed to be signed POSTs in the shape of the push
 * (src/sandbox/simulator/cbe-birr/protocol.ts has the fields).
 */
export function connectPayouts({
  callOrder,
}: CbeBirrWire): Pick<OrderCalls, 'payout' | 'queryPayout' | 'refund' | 'queryRefund'> {
  return {
    payout: ({ destination, accountName, ...order }) =>
      callOrder('/payout', { ...commonFields(order), accountName, ...payeeFields(destination) }),
    queryPayout: (transactionId) => callOrder('/payout-status', { transactionId }),
    refund: ({ refundId: orderId, paymentId: originalTransactionId, reason, ...order }) =>
      callOrder('/refund', { ...commonFields({ ...order, orderId }), originalTransactionId, reason }),
    queryRefund: ({ refundId: transactionId }) => callOrder('/refund-status', { transactionId }),
  };
}

function payeeFields(destination: PayoutOrder['destination']): Record<string, string> {
  return destination.kind === 'phone'
    ? { phoneNumber: destination.phone }
    : { bankCode: destination.bankCode, accountNumber: destination.accountNumber };
}
