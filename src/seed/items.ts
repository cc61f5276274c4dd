import { rows } from '../lib/db.ts';
import type { Change, RunChange } from '../lib/outbox.ts';
import { makePayment } from './journeys.ts';
import type { PlannedMove } from './money-plan.ts';
import { makeMove } from './money.ts';
import type { PastDeps } from './past.ts';
import type { PlannedPayment } from './plan.ts';

/** At most so many statements wait for each other on one connection: each has 6 s. */
const SIDE_BY_SIDE = 25;

/** What happens in the demo: a customer's payment, or money that goes out. */
export type PlannedItem = PlannedPayment | PlannedMove;

/**
 * Makes what happened in the past by the operations that make it today, each with its own clock. Nothing is told to
 * Temporal: the items themselves are what the workflows would have done. They begin in their order, so that the balance
 * moves as it did: payments side by side, which `trx` must pipeline, and what takes from the balance alone.
 */
export async function makeItems(deps: PastDeps, items: readonly PlannedItem[]): Promise<void> {
  for (let from = 0; from < items.length;) {
    const until = items.findIndex((item, index) => index >= from && 'move' in item);
    const payments = items.slice(from, until === -1 ? items.length : until);
    const waiting = payments.values();
    const makeNext = async (): Promise<void> => {
      for (const payment of waiting) await makeItem(deps, payment);
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, makeNext));
    const move = items[from + payments.length];
    if (move) await makeItem(deps, move);
    from += payments.length + 1;
  }
}

async function makeItem(deps: PastDeps, item: PlannedItem): Promise<void> {
  const forWorkflows: string[] = [];
  const time = { now: item.createdAt };
  const change: Change = {
    trx: deps.trx,
    write: async (sql, values) => void (await rows(deps.trx, sql, values)),
    tell: async () => {},
    told: (messages) => {
      for (const { id } of messages) forWorkflows.push(id);
    },
    triggerDispatcher: () => {},
  };
  const past = { ...deps, change, runChange: inside(change), time };
  if ('move' in item) await makeMove(past, item);
  else await makePayment(past, item);
  // What is still open when all is made is told to Temporal then.
  if (forWorkflows.length > 0)
    await rows(deps.trx, 'DELETE FROM outbox WHERE id = ANY(:forWorkflows)', { forWorkflows });
}

function inside(change: Change): RunChange {
  return async (work) => work(change);
}
