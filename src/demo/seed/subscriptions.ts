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

type Wanted = Pick<NewSubscription, 'url' | 'eventTypes' | 'active' | 'description'>;

/** A healthy, a flaky and an inactive subscription. `webhookUrl` is the demo shop's. */
const demoSubscriptions = (webhookUrl: string): Record<'shop' | 'flaky' | 'old', Wanted> => ({
  shop: { description: SHOP_DESCRIPTION, url: webhookUrl, eventTypes: ['*'], active: true },
  flaky: {
    description: 'Accounting, overloaded now and then',
    url: new URL('/flaky', webhookUrl).href,
    eventTypes: ['checkout.completed', 'checkout.failed', 'checkout.canceled'],
    active: true,
  },
  old: {
    description: 'Old shop, switched off',
    url: 'https://old-shop.example.com/webhooks',
    eventTypes: ['payment.succeeded'],
    active: false,
  },
});

/** The dependencies of the subscription operations, from the settings. */
export function subscriptionDeps(settings: { keyRing: KeyRing; egress: EgressOptions }, at: Date): SubscriptionDeps {
  return { clock: () => at, keyRing: settings.keyRing, checkUrl: createEgressGuard(settings.egress).checkUrl };
}

/** Creates the three subscriptions. */
export async function subscribe(
  deps: SubscriptionDeps,
  tx: UnitOfWork,
  input: { scope: MerchantScope; webhookUrl: string },
): Promise<{ shop: WithSecret; flaky: WithSecret }> {
  const add = async (wanted: Wanted) =>
    createSubscription(deps, tx, { ...input.scope, ...wanted, signatureEncoding: 'base64', headers: {} });
  const wanted = demoSubscriptions(input.webhookUrl);
  const [shop, flaky] = [await add(wanted.shop), await add(wanted.flaky)];
  await add(wanted.old);
  return { shop, flaky };
}

/**
 * Updates the subscriptions when the demo shop has another port than before. One that differs in more than the port was
 * changed by the developer and stays as it is.
 */
export async function followPort(
  deps: SubscriptionDeps,
  tx: UnitOfWork,
  input: { scope: MerchantScope; subscriptions: readonly SeededRow[]; webhookUrl: string },
): Promise<void> {
  const wanted = Object.values(demoSubscriptions(input.webhookUrl));
  for (const { id, url, description } of input.subscriptions) {
    const target = wanted.find((one) => one.description === description)?.url;
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
