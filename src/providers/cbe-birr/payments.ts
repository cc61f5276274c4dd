import type { OrderCalls } from '../orders.ts';
import { commonFields, type CbeBirrWire } from './wire.ts';

/** Payments: a push to the customer's phone, who confirms it there. */
export function connectPayments({ callOrder }: CbeBirrWire): Pick<OrderCalls, 'initiate' | 'query'> {
  return {
    initiate: ({ phone, expiresAt, ...order }) =>
      callOrder('/push', { ...commonFields(order), phoneNumber: phone, expiryTime: expiresAt.toISOString() }),
    query: (transactionId) => callOrder('/status', { transactionId }),
  };
}
