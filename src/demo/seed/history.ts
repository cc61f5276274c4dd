import { type Database, rows } from '../../lib/db.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import type { SeedDeps } from './context.ts';
import { endOf, seedPayment } from './payment-scenarios.ts';
import type { PlannedPayout } from './payout-plan.ts';
import { seedPayout } from './payouts.ts';
import type { PlannedPayment } from './plan.ts';

/** Payments seeded side by side on one connection, where each statement waits for those before it. */
const BATCH = 25;

/** A customer's payment, or money that goes out. */
export type PlannedItem = PlannedPayment | PlannedPayout;

/** When an item is complete. A successful payment is posted then, so items are seeded in this order. */
export function completedAt(item: PlannedItem): Date {
  return 'kind' in item ? item.createdAt : endOf(item);
}

type HistoryDeps = Omit<SeedDeps, 'trx' | 'scope'> & {
  db: Database;
  /** Called with the number of payments just seeded. */
  onSeeded: (count: number) => void;
};

/**
 * Seeds a merchant's missing history in order, one transaction per batch. Idempotent: after a kill the next run skips
 * existing payments and payouts. The merchant must have no subscriptions, since nothing is delivered.
 */
export async function seedHistory(
  deps: HistoryDeps,
  scope: MerchantScope,
  items: readonly PlannedItem[],
): Promise<void> {
  const { baseUrl, pepper } = deps;
  const found = await rows<{ checkoutOrderNo: string }>(
    deps.db,
    'SELECT checkout_order_no FROM transaction WHERE merchant_id = :merchantId AND environment = :environment',
    scope,
  );
  const existing = new Set(found.map((row) => row.checkoutOrderNo));
  const missing = items.filter((item) => 'kind' in item || !existing.has(item.session.checkoutOrderNo));
  deps.onSeeded(items.length - missing.length);
  for (const batch of batchesOf(missing)) {
    await deps.db.transaction(async (trx) => seedBatch({ trx, scope, baseUrl, pepper }, batch));
    deps.onSeeded(batch.filter((item) => !('kind' in item)).length);
  }
}

/** Seeds items in one transaction. */
export async function seedItems(deps: SeedDeps, items: readonly PlannedItem[]): Promise<void> {
  for (const batch of batchesOf(items)) await seedBatch(deps, batch);
}

/** Payments in batches; a payout, which needs the balance before it, in a batch of its own. */
function batchesOf(items: readonly PlannedItem[]): PlannedItem[][] {
  const batches: PlannedItem[][] = [];
  for (const item of items) {
    const last = batches.at(-1);
    const isFull = !last || last.length === BATCH || last.some((one) => 'kind' in one);
    if (isFull || 'kind' in item) batches.push([item]);
    else last.push(item);
  }
  return batches;
}

/**
 * Seeds items by today's operations, each on its own clock. Deferred writes, journals above all, follow in the order of
 * the items' completion, so that the balance changes as it did.
 */
async function seedBatch(deps: SeedDeps, batch: readonly PlannedItem[]): Promise<void> {
  const { trx } = deps;
  const outboxIds: string[] = [];
  const seedItem = async (item: PlannedItem): Promise<(() => Promise<unknown>)[]> => {
    const writes: (() => Promise<unknown>)[] = [];
    const tx: UnitOfWork = {
      trx,
      writeDeferred: async (sql, values) => void writes.push(() => rows(trx, sql, values)),
      // The items are what the workflows did. What is still open at the end is enqueued then.
      enqueue: async () => {},
      enqueued: (messages) => outboxIds.push(...messages.map(({ id }) => id)),
      triggerDispatcher: () => {},
    };
    const runInTransaction: RunInTransaction = async (work) => work(tx);
    const context = { ...deps, tx, runInTransaction, time: { now: item.createdAt } };
    await ('kind' in item ? seedPayout(context, item) : seedPayment(context, item));
    return writes;
  };
  const writes = await Promise.all(batch.map(seedItem));
  await Promise.all(writes.flat().map((write) => write()));
  await rows(trx, 'DELETE FROM outbox WHERE id = ANY(:outboxIds)', { outboxIds });
}
