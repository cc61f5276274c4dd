import type { Route } from '../http/route.ts';
import type { Knex } from '../lib/db.ts';
import { eventRoutes } from './events/routes.ts';
import type { SubscriptionDeps } from './subscriptions/operations.ts';
import { subscriptionRoutes } from './subscriptions/routes.ts';

/** What the webhook routes need besides the change they are given. */
export type WebhookDeps = SubscriptionDeps & { db: Knex };

/** The webhook management API: everything under /api/checkout/webhooks. */
export function webhookRoutes(deps: WebhookDeps): Route[] {
  return [...eventRoutes(deps), ...subscriptionRoutes(deps)];
}
