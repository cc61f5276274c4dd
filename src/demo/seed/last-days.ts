import type { KeyRing } from '../../lib/crypto.ts';
import type { Knex } from '../../lib/db.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import { seedItems, type PlannedItem } from './items.ts';
import {
  ALWAYS_BROKEN,
  deliverInThePast,
  findDueDeliveries,
  RETRY_SCHEDULE_MS,
  ONE_RETRY_LEFT,
  type DueDelivery,
} from './webhook-history.ts';

const DEAD_LETTERS = 5;
/** The last retry of these is due: the worker makes it at the first start, in vain, and their workflows park. */
const LAST_RETRY_DUE = 2;

export type RecentDeps = { trx: Knex.Transaction; keyRing: KeyRing; baseUrl: string; pepper: string };

export type RecentItems = {
  scope: MerchantScope;
  items: readonly PlannedItem[];
  /** The end of the plan: everything that is over was over by then. */
  until: Date;
  shopId: string;
  flakyId: string;
};

/**
 * Makes items whose events are delivered: five to the shop in vain until they are dead letters, the flaky ones at the
 * second or third attempt but for two whose last retry is due, the others at once. The successes come last, so that both
 * subscriptions end healthy.
 */
export async function seedRecentItems(deps: RecentDeps, recent: RecentItems): Promise<void> {
  const { trx, baseUrl, pepper } = deps;
  await seedItems({ trx, scope: recent.scope, baseUrl, pepper }, recent.items);
  const due = await findDueDeliveries(trx);
  const toShop = due.filter((one) => one.subscriptionId === recent.shopId);
  const allToFlaky = due.filter((one) => one.subscriptionId === recent.flakyId);
  const dead = chooseDead(toShop, recent.until);
  const lastRetryDue = ripe(allToFlaky, recent.until).slice(-LAST_RETRY_DUE);
  const toFlaky = allToFlaky.filter((one) => !lastRetryDue.includes(one));

  await deliverInThePast(deps, dead, ALWAYS_BROKEN);
  await deliverInThePast(deps, lastRetryDue, ONE_RETRY_LEFT);
  await deliverInThePast(deps, everyThird(toFlaky, 0), ['overloaded', 'overloaded', 'taken']);
  await deliverInThePast(deps, everyThird(toFlaky, 1), ['overloaded', 'taken']);
  await deliverInThePast(deps, everyThird(toFlaky, 2), ['taken']);
  const alive = toShop.filter((one) => !dead.includes(one));
  await deliverInThePast(deps, alive, ['taken']);
}

/** Five of those that have had the time to fail six times, spread evenly. */
function chooseDead(toShop: readonly DueDelivery[], until: Date): DueDelivery[] {
  const candidates = ripe(toShop, until);
  const step = Math.max(1, Math.floor(candidates.length / DEAD_LETTERS));
  return candidates.filter((_one, index) => index % step === 0).slice(0, DEAD_LETTERS);
}

/** Those that have had the time for all their attempts. */
function ripe(deliveries: readonly DueDelivery[], until: Date): DueDelivery[] {
  return deliveries.filter((one) => one.at.getTime() + RETRY_SCHEDULE_MS <= until.getTime());
}

function everyThird(list: readonly DueDelivery[], offset: 0 | 1 | 2): DueDelivery[] {
  return list.filter((_one, index) => index % 3 === offset);
}
