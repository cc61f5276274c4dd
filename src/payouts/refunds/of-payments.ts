import type { RefundsOfPayments } from '../../payments/refunds-of-payments.ts';
import { listRefundsOf } from './queries.ts';
import { presentRefund, Refund } from './schema.ts';

export const REFUNDS_OF_PAYMENTS: RefundsOfPayments = {
  shape: Refund,
  list: async (db, transactionId) => (await listRefundsOf(db, transactionId)).map(presentRefund),
};
