import { type Queryable, rows, type Trx } from '../../lib/db.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import type { Provider } from '../../providers/provider.ts';

/** Items seeded side by side on one connection, where each statement waits for those before it. */
const BATCH = 25;

/** What a customer, the merchant or the bank did in the past. */
export type HistoryItem = {
  /** The order number or request id; one that exists is not seeded again. */
  key: string;
  begunAt: Date;
  /** A successful payment is posted then, so items are seeded in this order. */
  completedAt: Date;
  /** It needs the balance after all items before it, so none is seeded beside it. */
  isAlone: boolean;
  /** Calls today's operations. */
  seed: (context: SeedContext) => Promise<unknown>;
};

/** What operations need, with the item's own clock, which its steps advance. */
export type SeedContext = {
  tx: UnitOfWork;
  /** Runs nested transactions inside this one. */
  runInTransaction: RunInTransaction;
  scope: MerchantScope;
  baseUrl: string;
  clock: () => Date;
  advanceTo: (instant: Date) => void;
};

export type HistoryDeps = Pick<SeedContext, 'scope' | 'baseUrl'> & {
  db: Queryable;
  inTransaction: (work: (trx: Trx) => Promise<void>) => Promise<void>;
  /** Called with the number of items just seeded, or seeded by an earlier run. */
  onSeeded: (count: number) => void;
};

/** Operations warn about what is unusual; the past is. */
export const silentLogger = { warn: () => {}, error: () => {} };

export function advance({ clock, advanceTo }: SeedContext, ms: number): void {
  advanceTo(new Date(clock().getTime() + ms));
}

/** A provider that responds by a script; any other call fails. */
export function scriptedProvider(channel: Provider['channel'], script: Partial<Provider>): () => Provider {
  return () => ({ capabilities: { payoutTo: [], refunds: false }, ...script, channel }) as Provider;
}

/** Seeds a merchant's missing items in order, one transaction per batch. */
export async function seedHistory(deps: HistoryDeps, items: readonly HistoryItem[]): Promise<void> {
  const found = await rows<{ key: string }>(
    deps.db,
    `SELECT checkout_order_no AS key FROM transaction WHERE merchant_id = :merchantId AND environment = :environment
     UNION ALL SELECT request_id FROM settlement WHERE merchant_id = :merchantId AND environment = :environment
     UNION ALL SELECT reference FROM payout WHERE merchant_id = :merchantId AND environment = :environment`,
    deps.scope,
  );
  const existing = new Set(found.map(({ key }) => key));
  const missing = items
    .filter(({ key }) => !existing.has(key))
    .toSorted((a, b) => a.completedAt.getTime() - b.completedAt.getTime());
  deps.onSeeded(items.length - missing.length);
  for (const batch of batchesOf(missing)) {
    await deps.inTransaction((trx) => seedBatch(trx, deps, batch));
    deps.onSeeded(batch.length);
  }
}

function batchesOf(items: readonly HistoryItem[]): HistoryItem[][] {
  const batches: HistoryItem[][] = [];
  for (const item of items) {
    const last = batches.at(-1);
    if (!last || last.length === BATCH || item.isAlone || last[0]?.isAlone) batches.push([item]);
    else last.push(item);
  }
  return batches;
}

/**
 * Deferred writes, journals above all, follow in the order of the items' completion, so that the balance changes as it
 * did.
 */
async function seedBatch(trx: Trx, { scope, baseUrl }: HistoryDeps, batch: readonly HistoryItem[]): Promise<void> {
  const outboxIds: string[] = [];
  const seedItem = async (item: HistoryItem): Promise<(() => Promise<unknown>)[]> => {
    const writes: (() => Promise<unknown>)[] = [];
    const tx: UnitOfWork = {
      trx,
      writeDeferred: async (sql, values) => void writes.push(() => rows(trx, sql, values)),
      // The items are what the workflows did. What is still open at the end is enqueued then.
      enqueue: async () => {},
      enqueued: (messages) => outboxIds.push(...messages.map(({ id }) => id)),
      triggerDispatcher: () => {},
      traceparent: null,
    };
    let now = item.begunAt;
    const advanceTo = (instant: Date): void => void (now = instant);
    await item.seed({ tx, runInTransaction: (work) => work(tx), scope, baseUrl, clock: () => now, advanceTo });
    return writes;
  };
  const writes = await Promise.all(batch.map(seedItem));
  await Promise.all(writes.flat().map((write) => write()));
  await rows(trx, 'DELETE FROM outbox WHERE id = ANY(:outboxIds)', { outboxIds });
}
