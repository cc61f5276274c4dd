import { rows } from '../../lib/db.ts';
import type { UnitOfWork, RunInTransaction } from '../../outbox/record.ts';
import type { PastDeps } from './context.ts';
import { seedPayout } from './money.ts';
import { endOf, seedPayment } from './payment-scenarios.ts';
import type { PlannedMove } from './payout-plan.ts';
import type { PlannedPayment } from './plan.ts';

/** At most so many statements wait for each other on one connection: each has 6 s. */
const SIDE_BY_SIDE = 25;

/** What happens in the demo: a customer's payment, or money that goes out. */
export type PlannedItem = PlannedPayment | PlannedMove;

/** When an item is complete: a payment that succeeds is booked then. Items are made in this order. */
export function completedAt(item: PlannedItem): Date {
  return 'move' in item ? item.createdAt : endOf(item);
}

/** SQL whose answer nobody needs. */
type Write = () => Promise<unknown>;

/**
 * Makes what happened in the past by the operations that make it today, each with its own clock. Nothing is told to
 * Temporal: the items themselves are what the workflows would have done. Payments are made side by side, which `trx` must
 * pipeline, and what takes from the balance alone. What they write last, journals above all, is written in the order of
 * the items, which is that of their completion: so the balance moves as it did.
 */
export async function seedItems(deps: PastDeps, items: readonly PlannedItem[]): Promise<void> {
  for (let from = 0; from < items.length;) {
    const until = items.findIndex((item, index) => index >= from && 'move' in item);
    const payments = items.slice(from, until === -1 ? items.length : until);
    await seedInOrder(deps, payments);
    const move = items[from + payments.length];
    if (move) await seedInOrder(deps, [move]);
    from += payments.length + 1;
  }
}

async function seedInOrder(deps: PastDeps, items: readonly PlannedItem[]): Promise<void> {
  const made: Write[][] = [];
  const written: Promise<unknown>[] = [];
  let next = 0;
  const writeWhatIsNext = (): void => {
    for (let writes = made[next]; writes; writes = made[next]) {
      for (const write of writes) {
        const done = write();
        done.catch(() => {});
        written.push(done);
      }
      next += 1;
    }
  };
  const waiting = items.entries();
  const seedNext = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      made[index] = await seedItem(deps, item);
      writeWhatIsNext();
    }
  };
  try {
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, seedNext));
  } finally {
    // A write that failed is why all after it did.
    await Promise.all(written);
  }
}

async function seedItem(deps: PastDeps, item: PlannedItem): Promise<Write[]> {
  const writes: Write[] = [];
  const forWorkflows: string[] = [];
  const time = { now: item.createdAt };
  const tx: UnitOfWork = {
    trx: deps.trx,
    writeDeferred: async (sql, values) => void writes.push(() => rows(deps.trx, sql, values)),
    enqueue: async () => {},
    enqueued: (messages) => {
      for (const { id } of messages) forWorkflows.push(id);
    },
    triggerDispatcher: () => {},
  };
  const past = { ...deps, tx, runInTransaction: inside(tx), time };
  if ('move' in item) await seedPayout(past, item);
  else await seedPayment(past, item);
  // What is still open when all is made is told to Temporal then.
  if (forWorkflows.length > 0) {
    writes.push(() => rows(deps.trx, 'DELETE FROM outbox WHERE id = ANY(:forWorkflows)', { forWorkflows }));
  }
  return writes;
}

function inside(tx: UnitOfWork): RunInTransaction {
  return async (work) => work(tx);
}
