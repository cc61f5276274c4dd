import { createKey, listKeys } from '../../access/api-keys.ts';
import { hashKey, readKey } from '../../access/key-format.ts';
import type { Config } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Knex } from '../../lib/db.ts';
import type { RunInTransaction } from '../../outbox/record.ts';
import { listSubscriptions, rotateSecret } from '../../webhooks/subscriptions/operations.ts';
import { ABYSSINIA } from './demo.ts';
import { followPort, SHOP_DESCRIPTION, subscriptionDeps } from './subscriptions.ts';

/** What is shown only once, of "Abyssinia Coffee". */
export type DemoCredentials = { merchantId: string; sandboxKey: string; webhookSecret: string };

export type RecallInput = {
  config: Pick<Config, 'API_KEY_PEPPER' | 'peppers' | 'keyRing' | 'egress'>;
  /** What an earlier start has shown, as far as it was kept. */
  previous: Partial<DemoCredentials>;
  webhookUrl: string;
};

const { scope } = ABYSSINIA;

/** The key of the demo merchant, which only its finished data has. */
export async function createSandboxKey(trx: Knex.Transaction, pepper: string): Promise<string> {
  const deps = { trx, pepper, clock: systemClock };
  return (await createKey(deps, { ...scope, kind: 'secret', name: 'Local development' })).secret;
}

/** Whether the demo data is complete: the key is made last, and no key is ever deleted. */
export async function hasDemoData(db: Knex): Promise<boolean> {
  return (await listKeys(db, scope)).length > 0;
}

/**
 * The credentials of demo data that is there: the ones that were kept if they still hold, else new ones. The demo shop's
 * subscription follows it to another port.
 */
export async function recallCredentials(
  deps: { db: Knex; runInTransaction: RunInTransaction },
  input: RecallInput,
): Promise<DemoCredentials> {
  const { previous, config, webhookUrl } = input;
  const subscriptions = await listSubscriptions(deps.db, scope);
  const shop = subscriptions.find((one) => one.description === SHOP_DESCRIPTION);
  const storedSecret = shop && previous.webhookSecret?.endsWith(shop.secretHint) ? previous.webhookSecret : undefined;
  const storedKey = await keyThatHolds(deps.db, { text: previous.sandboxKey, peppers: config.peppers });
  return deps.runInTransaction(async (tx) => {
    const subscriptionOps = subscriptionDeps(config, systemClock());
    await followPort(subscriptionOps, tx, { scope, subscriptions, webhookUrl });
    const rotation = { overlapSeconds: 0, force: true };
    const newSecret = async (): Promise<string> =>
      shop ? (await rotateSecret(subscriptionOps, tx, { ...scope, subscriptionId: shop.id, ...rotation })).secret : '';
    return {
      merchantId: scope.merchantId,
      sandboxKey: storedKey ?? (await createSandboxKey(tx.trx, config.API_KEY_PEPPER)),
      webhookSecret: storedSecret ?? (await newSecret()),
    };
  });
}

/** The key's text, if this database knows it and it has not ended. */
async function keyThatHolds(
  db: Knex,
  { text, peppers }: { text: string | undefined; peppers: readonly string[] },
): Promise<string | undefined> {
  const id = text === undefined ? undefined : readKey(text)?.id;
  if (text === undefined || id === undefined) return undefined;
  const [row] = await listKeys(db, { ...scope, id });
  const ended = !row || row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= systemClock());
  return !ended && peppers.some((pepper) => row.secretHash.equals(hashKey(pepper, text))) ? text : undefined;
}
