import { rows, type Knex } from '../lib/db.ts';
import type { Owner } from '../lib/owner.ts';
import { makePayments } from './journeys.ts';
import type { PlannedPayment } from './plan.ts';

/** One transaction's worth of payments: large enough to commit seldom, small enough to show progress. */
const PAYMENTS_PER_TRANSACTION = 50;
/** Connections that work side by side: one for each core that seeding can keep busy. */
export const LANES = 2;

export type HistoryDeps = {
  /** Its pool must have {@link LANES} connections, which pipeline. */
  db: Knex;
  baseUrl: string;
  /** Called with how many more payments are made. */
  onMade: (count: number) => void;
};

/**
 * Makes those of a merchant's payments that are not there yet. Each set of them is one transaction, so that a run that
 * was killed is taken up by the next one. The merchant must have no subscriptions: nobody would deliver.
 */
export async function makeHistory(deps: HistoryDeps, owner: Owner, payments: PlannedPayment[]): Promise<void> {
  const made = await madeOrders(deps.db, owner);
  const missing = payments.filter((payment) => !made.has(payment.session.checkoutOrderNo));
  deps.onMade(payments.length - missing.length);
  const lane = async (): Promise<void> => {
    for (;;) {
      const set = missing.splice(0, PAYMENTS_PER_TRANSACTION);
      if (set.length === 0) return;
      await deps.db.transaction(async (trx) => makePayments({ trx, owner, baseUrl: deps.baseUrl }, set));
      deps.onMade(set.length);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function madeOrders(db: Knex, owner: Owner): Promise<Set<string>> {
  const found = await rows<{ checkoutOrderNo: string }>(
    db,
    'SELECT checkout_order_no FROM transaction WHERE merchant_id = :merchantId AND environment = :environment',
    owner,
  );
  return new Set(found.map((row) => row.checkoutOrderNo));
}
