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

/** What the demo shop's subscription is known by. */
export const SHOP_DESCRIPTION = 'Demo shop';
const FLAKY_DESCRIPTION = 'Accounting, overloaded now and then';

/** Where the flaky receiver is, beside the demo shop's own. */
const flakyUrl = (webhookUrl: string): string => new URL('/flaky', webhookUrl).href;

/** How deliveries to the three go: the shop takes them, the accounting is overloaded now and then, nobody uses the last. */
export type DemoSubscriptions = { shop: WithSecret; flaky: WithSecret };

/** What the operations on subscriptions take, from the settings. */
export function subscriptionDeps(settings: { keyRing: KeyRing; egress: EgressOptions }, at: Date): SubscriptionDeps {
  return { clock: () => at, keyRing: settings.keyRing, checkUrl: createEgressGuard(settings.egress).checkUrl };
}

/** Three subscriptions: healthy, flaky and inactive. `webhookUrl` is the demo shop's. */
export async function subscribe(
  deps: SubscriptionDeps,
  tx: UnitOfWork,
  input: { scope: MerchantScope; webhookUrl: string },
): Promise<DemoSubscriptions> {
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
 * Follows the demo shop to another port: it takes the next free one when its own is taken. Only the two rows made above
 * move, and only while they are as they were made but for the port: a subscription somebody points elsewhere is theirs.
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
  const isMoved = new URL(url);
  isMoved.port = new URL(target).port;
  return isMoved.href === target;
}
