import type { KeyRing } from '../../lib/crypto.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { createEgressGuard, type EgressOptions } from '../../webhooks/egress/egress.ts';
import {
  changeSubscription,
  createSubscription,
  type SubscriptionDeps,
  type WithSecret,
} from '../../webhooks/subscriptions/operations.ts';
import type { NewSubscription } from '../../webhooks/subscriptions/schema.ts';

/** Identifies the demo shop's subscription. */
export const SHOP_DESCRIPTION = 'Demo shop';
const FLAKY_DESCRIPTION = 'Accounting, overloaded now and then';

/** The flaky receiver beside the demo shop's own. */
const flakyUrl = (webhookUrl: string): string => new URL('/flaky', webhookUrl).href;

/** The dependencies of the subscription operations, from the settings. */
export function subscriptionDeps(settings: { keyRing: KeyRing; egress: EgressOptions }, at: Date): SubscriptionDeps {
  return { clock: () => at, keyRing: settings.keyRing, checkUrl: createEgressGuard(settings.egress).checkUrl };
}

/** Three subscriptions: healthy, flaky and inactive. `webhookUrl` is the demo shop's. */
export async function subscribe(
  deps: SubscriptionDeps,
  tx: UnitOfWork,
  input: { scope: MerchantScope; webhookUrl: string },
): Promise<{ shop: WithSecret; flaky: WithSecret }> {
  const add = async (wanted: Pick<NewSubscription, 'url' | 'eventTypes' | 'active' | 'description'>) =>
    createSubscription(deps, tx, { ...input.scope, ...wanted, signatureEncoding: 'base64', headers: {} });
  const shop = await add({
    url: input.webhookUrl,
    eventTypes: ['*'],
    active: true,
    description: SHOP_DESCRIPTION,
  });
  const flaky = await add({
    url: flakyUrl(input.webhookUrl),
    eventTypes: ['checkout.completed', 'checkout.failed', 'checkout.canceled'],
    active: true,
    description: FLAKY_DESCRIPTION,
  });
  await add({
    url: 'https://old-shop.example.com/webhooks',
    eventTypes: ['payment.succeeded'],
    active: false,
    description: 'Old shop, switched off',
  });
  return { shop, flaky };
}

/**
 * Updates the two subscriptions above when the demo shop has another port than before. A subscription that differs in
 * more than the port was changed by the developer and stays as it is.
 */
export async function followPort(
  deps: SubscriptionDeps,
  tx: UnitOfWork,
  input: { scope: MerchantScope; subscriptions: readonly SeededRow[]; webhookUrl: string },
): Promise<void> {
  const wanted = new Map([
    [SHOP_DESCRIPTION, input.webhookUrl],
    [FLAKY_DESCRIPTION, flakyUrl(input.webhookUrl)],
  ]);
  for (const { id, url, description } of input.subscriptions) {
    const target = wanted.get(description);
    if (target === undefined || url === target || !differsInPortOnly(url, target)) continue;
    await changeSubscription(deps, tx, { ...input.scope, subscriptionId: id, changes: { url: target } });
  }
}

type SeededRow = { id: string; url: string; description: string };

function differsInPortOnly(url: string, target: string): boolean {
  const changed = new URL(url);
  changed.port = new URL(target).port;
  return changed.href === target;
}
