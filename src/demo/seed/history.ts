import { rows, type Knex } from '../../lib/db.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import { seedItems, type PlannedItem } from './items.ts';

/** One transaction's worth of items: large enough to commit seldom, small enough to show progress. */
const ITEMS_PER_TRANSACTION = 150;

export type HistoryDeps = {
  /** Its connections pipeline. */
  db: Knex;
  baseUrl: string;
  pepper: string;
  /** Called with how many more payments are made. */
  onMade: (count: number) => void;
};

/**
 * Makes what a merchant's history lacks, in its order. Each set of items is one transaction, so that a run that was
 * killed is taken up by the next one: payments that are there are left out, and moves of money that were made stay as
 * they are. The merchant must have no subscriptions: nobody would deliver.
 */
export async function seedHistory(
  deps: HistoryDeps,
  scope: MerchantScope,
  items: readonly PlannedItem[],
): Promise<void> {
  const { baseUrl, pepper } = deps;
  const made = await madeOrders(deps.db, scope);
  const missing = items.filter((item) => !('session' in item) || !made.has(item.session.checkoutOrderNo));
  deps.onMade(items.length - missing.length);
  for (let from = 0; from < missing.length; from += ITEMS_PER_TRANSACTION) {
    const set = missing.slice(from, from + ITEMS_PER_TRANSACTION);
    await deps.db.transaction(async (trx) => seedItems({ trx, scope, baseUrl, pepper }, set));
    deps.onMade(set.filter((item) => 'session' in item).length);
  }
}

async function madeOrders(db: Knex, scope: MerchantScope): Promise<Set<string>> {
  const found = await rows<{ checkoutOrderNo: string }>(
    db,
    'SELECT checkout_order_no FROM transaction WHERE merchant_id = :merchantId AND environment = :environment',
    scope,
  );
  return new Set(found.map((row) => row.checkoutOrderNo));
}
