import { createKey, isValidKey, listKeys } from '../../access/api-keys.ts';
import type { Config } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Database, Trx } from '../../lib/db.ts';
import type { RunInTransaction } from '../../outbox/record.ts';
import { listSubscriptions, rotateSecret } from '../../webhooks/subscriptions/operations.ts';
import { ABYSSINIA } from './demo.ts';
import { followPort, SHOP_DESCRIPTION, subscriptionDeps } from './subscriptions.ts';

/** The credentials of "Abyssinia Coffee", which the API presents only once. */
export type DemoCredentials = { merchantId: string; sandboxKey: string; webhookSecret: string };

type RecallInput = {
  config: Config;
  /** The stored credentials of an earlier start. */
  previous: Partial<DemoCredentials>;
  webhookUrl: string;
};

const { scope } = ABYSSINIA;

/** Creates the demo merchant's key, the last step of the demo data. */
export async function createSandboxKey(trx: Trx, pepper: string): Promise<string> {
  const deps = { trx, pepper, clock: systemClock };
  return (await createKey(deps, { ...scope, kind: 'secret', name: 'Local development' })).secret;
}

/** Whether the demo data is complete: the key is created last, and keys are never deleted. */
export async function hasDemoData(db: Database): Promise<boolean> {
  return (await listKeys(db, scope)).length > 0;
}

/**
 * The credentials of existing demo data: the stored ones if they are still valid, else new ones. Updates the port of the
 * demo shop's subscription.
 */
export async function recallCredentials(
  deps: { db: Database; runInTransaction: RunInTransaction },
  input: RecallInput,
): Promise<DemoCredentials> {
  const { previous, config, webhookUrl } = input;
  const subscriptions = await listSubscriptions(deps.db, scope);
  const shop = subscriptions.find((one) => one.description === SHOP_DESCRIPTION);
  const storedSecret = shop && previous.webhookSecret?.endsWith(shop.secretHint) ? previous.webhookSecret : undefined;
  const { sandboxKey } = previous;
  const isValid = sandboxKey !== undefined && (await isValidKey(deps.db, sandboxKey, config.peppers));
  return deps.runInTransaction(async (tx) => {
    const subscriptionOps = subscriptionDeps(config, systemClock());
    await followPort(subscriptionOps, tx, { scope, subscriptions, webhookUrl });
    const rotation = { overlapSeconds: 0, force: true };
    const newSecret = async (): Promise<string> =>
      shop ? (await rotateSecret(subscriptionOps, tx, { ...scope, subscriptionId: shop.id, ...rotation })).secret : '';
    return {
      merchantId: scope.merchantId,
      sandboxKey: isValid ? sandboxKey : await createSandboxKey(tx.trx, config.API_KEY_PEPPER),
      webhookSecret: storedSecret ?? (await newSecret()),
    };
  });
}
