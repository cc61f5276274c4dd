import type { z } from 'zod';

import type { AttemptRow, DeliveryRow } from './queries.ts';
import type { ResendJobRow } from './resend-jobs.ts';
import type { Attempt, Delivery, ResendJob } from './schema.ts';

const isoOrNull = (instant: Date | null): string | null => instant && instant.toISOString();

/** One delivery in the API. */
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

/** One line of an event's log. */
export function presentAttempt(row: AttemptRow): z.input<typeof Attempt> {
  const { id, startedAt, source, position: _position, ...rest } = row;
  return { attemptId: id, trigger: source, startedAt: startedAt.toISOString(), ...rest };
}

/** A bulk resend and its progress. */
export function presentResendJob(row: ResendJobRow): z.input<typeof ResendJob> {
  const { id, createdAt, endedAt, ...rest } = row;
  return { jobId: id, ...rest, createdAt: createdAt.toISOString(), endedAt: isoOrNull(endedAt) };
}
