import { grantChannels } from '../channels/operations.ts';
import type { Config } from '../config.ts';
import { createKey } from '../keys/operations.ts';
import { systemClock } from '../lib/clock.ts';
import { openDatabase } from '../lib/db.ts';
import { createEgressGuard } from '../lib/egress.ts';
import { createRunChange, type Change } from '../lib/outbox.ts';
import { createMerchant } from '../merchants/operations.ts';
import { createSubscription } from '../webhooks/subscriptions.ts';
import type { Facts } from './state.ts';

type Seed = { config: Config; previous: Facts; webhookUrl: string };

/** Makes the demo merchant with its key and subscription, unless the last start has; returns what is shown only once. */
export async function seedOnce({ config, previous, webhookUrl }: Seed): Promise<Facts> {
  const { sandboxKey, merchantId, webhookSecret } = previous;
  if (sandboxKey && merchantId && webhookSecret) return { sandboxKey, merchantId, webhookSecret };
  const db = openDatabase({ url: config.DATABASE_URL, poolMax: 2, applicationName: 'meskot-seed' });
  try {
    const runChange = createRunChange(db, () => {});
    return await runChange((change) => seed(config, change, webhookUrl));
  } finally {
    await db.destroy();
  }
}

async function seed(config: Config, change: Change, webhookUrl: string): Promise<Facts> {
  const clock = systemClock;
  const merchant = await createMerchant(change.trx, { name: 'Abyssinia Coffee', kycStatus: 'APPROVED' });
  const owner = { merchantId: merchant.id, environment: 'sandbox' } as const;
  await grantChannels(change.trx, owner);
  const key = await createKey(
    { trx: change.trx, pepper: config.KEY_PEPPER, clock },
    { ...owner, kind: 'secret', name: 'Local development' },
  );
  const { checkUrl } = createEgressGuard(config.egress);
  const subscription = await createSubscription({ clock, keyRing: config.keyRing, checkUrl }, change, {
    ...owner,
    url: webhookUrl,
    eventTypes: ['*'],
    active: true,
    description: 'Demo shop',
    signatureEncoding: 'base64',
    headers: {},
  });
  return { merchantId: merchant.id, sandboxKey: key.secret, webhookSecret: subscription.secret };
}

/** A session that waits to be paid, made as any merchant makes one. */
export async function openCheckout(config: Config, { sandboxKey }: Facts): Promise<Facts> {
  if (!sandboxKey) return {};
  const response = await fetch(`${config.BASE_URL}/api/checkout/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': sandboxKey },
    body: JSON.stringify({
      checkoutOrderNo: `WELCOME-${Date.now()}`,
      amount: 100.5,
      currency: 'ETB',
      expiresInMinutes: 1_440,
    }),
  });
  const { data } = (await response.json()) as { data: { checkoutUrl: string } | null };
  return data ? { checkoutUrl: data.checkoutUrl } : {};
}
