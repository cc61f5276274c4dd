import type { z } from 'zod';

import type { HealthRow, SubscriptionRow } from './model.ts';
import type { Subscription, SubscriptionWithSecret } from './schema.ts';

/** A subscription without its secrets. The expiry of a previous secret is left out once it has passed. */
export function presentSubscription(
  row: SubscriptionRow,
  health: HealthRow | undefined,
  now: Date,
): z.input<typeof Subscription> {
  const previousUntil = row.previousSecretExpiresAt;
  return {
    subscriptionId: row.id,
    url: row.url,
    eventTypes: row.eventTypes,
    active: row.active,
    description: row.description,
    signatureEncoding: row.signatureEncoding,
    headers: row.headerNames,
    secretHint: row.secretHint,
    previousSecretExpiresAt: previousUntil && previousUntil > now ? previousUntil.toISOString() : null,
    createdAt: row.createdAt.toISOString(),
    health: {
      state: row.verifiedAt === null ? 'UNVERIFIED' : row.consecutiveFailures > 0 ? 'FAILING' : 'HEALTHY',
      successRate24h: health?.successRate ?? null,
      lastFailure: health?.lastFailure ?? null,
    },
  };
}

/** The only response with a secret: of create and of rotate. */
export function presentWithSecret(
  row: SubscriptionRow,
  secret: string,
  now: Date,
): z.input<typeof SubscriptionWithSecret> {
  return { ...presentSubscription(row, undefined, now), secret };
}
