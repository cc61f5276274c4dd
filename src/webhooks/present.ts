import type { z } from 'zod';

import type { ResendJobRow } from './delivery/resend-jobs.ts';
import type { AttemptRow, DeliveryRow, EventRow, HealthRow } from './events/queries.ts';
import type { Attempt, Delivery, Event, ResendJob, Subscription, SubscriptionWithSecret } from './schema.ts';
import type { SubscriptionRow } from './subscriptions/model.ts';

const iso = (instant: Date): string => instant.toISOString();
const isoOrNull = (instant: Date | null): string | null => instant && iso(instant);

/** One delivery as the API shows it. */
export function presentDelivery(row: DeliveryRow): z.input<typeof Delivery> {
  return {
    deliveryId: row.id,
    subscriptionId: row.subscriptionId,
    url: row.url,
    status: row.status,
    attempts: row.attempts,
    lastAttemptAt: isoOrNull(row.lastAttemptAt),
    lastHttpStatus: row.lastHttpStatus,
    lastFailure: row.lastFailure,
    nextAttemptAt: isoOrNull(row.nextAttemptAt),
    deadLetteredAt: isoOrNull(row.deadLetteredAt),
    deliveredAt: isoOrNull(row.deliveredAt),
  };
}

/** An event with its deliveries; with its payload if that was read. */
export function presentEvent(row: EventRow): z.input<typeof Event> {
  return {
    eventId: row.id,
    event: row.event,
    apiVersion: row.apiVersion,
    merchantId: row.merchantId,
    environment: row.environment,
    resourceType: row.resourceType,
    resourceId: row.resourceId,
    status: row.status,
    createdAt: iso(row.createdAt),
    deliveries: row.deliveries.map(presentDelivery),
    ...(row.payload && { payload: JSON.parse(row.payload.toString()) as Record<string, unknown> }),
  };
}

/** One line of an event's log. */
export function presentAttempt(row: AttemptRow): z.input<typeof Attempt> {
  const { id, startedAt, source, position: _position, ...rest } = row;
  return { attemptId: id, trigger: source, startedAt: iso(startedAt), ...rest };
}

/** A subscription without anything secret. An expired previous secret is not mentioned any more. */
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
    previousSecretExpiresAt: previousUntil && previousUntil > now ? iso(previousUntil) : null,
    createdAt: iso(row.createdAt),
    health: {
      state: row.verifiedAt === null ? 'UNVERIFIED' : row.consecutiveFailures > 0 ? 'FAILING' : 'HEALTHY',
      successRate24h: health?.successRate ?? null,
      lastFailure: health?.lastFailure ?? null,
    },
  };
}

/** The one answer that shows a secret: of create and of rotate. */
export function presentWithSecret(
  row: SubscriptionRow,
  secret: string,
  now: Date,
): z.input<typeof SubscriptionWithSecret> {
  return { ...presentSubscription(row, undefined, now), secret };
}

/** A bulk resend and how far it is. */
export function presentResendJob(row: ResendJobRow): z.input<typeof ResendJob> {
  const { id, createdAt, endedAt, ...rest } = row;
  return { jobId: id, ...rest, createdAt: iso(createdAt), endedAt: isoOrNull(endedAt) };
}
