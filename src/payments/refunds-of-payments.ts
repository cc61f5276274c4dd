import type { z } from 'zod';

import { rows, type Queryable, type Trx } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';

/** A refund as the API presents it. */
type PresentedRefund = { refundId: string };

/** What payments show of their refunds, which are payouts and stand above them (src/payouts/refunds/of-payments.ts). */
export type RefundsOfPayments = {
  shape: z.ZodType<PresentedRefund>;
  /** Oldest first. */
  list: (db: Queryable, transactionId: string) => Promise<PresentedRefund[]>;
};

/** Adds what a refund has paid back to its transaction, in the transaction of its change. */
export async function addRefunded(trx: Trx, transactionId: string, paidSantim: Santim): Promise<void> {
  const sql = `UPDATE transaction SET refunded_santim = refunded_santim + :paidSantim, version = version + 1
    WHERE id = :transactionId`;
  await rows(trx, sql, { transactionId, paidSantim });
}
