/** States of one delivery, an event to one subscription. */
export const DELIVERY_STATUSES = ['PENDING', 'RETRYING', 'DELIVERED', 'FAILED', 'SKIPPED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * The transitions. A final status is left by a resend, which is PENDING; SKIPPED: the subscription is inactive. FAILED →
 * DELIVERED: the outcome of an attempt that was recorded as interrupted is known late.
 */
export const DELIVERY_TRANSITIONS: Readonly<Record<DeliveryStatus, readonly DeliveryStatus[]>> = {
  PENDING: ['DELIVERED', 'RETRYING', 'FAILED', 'SKIPPED'],
  RETRYING: ['DELIVERED', 'FAILED', 'SKIPPED'],
  DELIVERED: ['PENDING'],
  FAILED: ['PENDING', 'DELIVERED'],
  SKIPPED: ['PENDING'],
};

/** An event's own status is that of its worst delivery; NO_SUBSCRIBERS without any delivery. */
export const WORST_FIRST: readonly DeliveryStatus[] = ['FAILED', 'RETRYING', 'PENDING', 'DELIVERED', 'SKIPPED'];
export const EVENT_STATUSES = [...DELIVERY_STATUSES, 'NO_SUBSCRIBERS'] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];

/** The facts that decide whether a delivery may be resent now. */
export type ResendFacts = {
  status: DeliveryStatus;
  subscription: 'active' | 'inactive' | 'deleted';
  /** An attempt is being sent to the receiver. */
  inFlight: boolean;
};

/** The reason, for the merchant, why a delivery cannot be resent now; null when it can. `force` allows a delivered one. */
export function resendProblem({ status, subscription, inFlight }: ResendFacts, force: boolean): string | null {
  if (subscription === 'deleted') return 'its subscription is deleted';
  if (subscription === 'inactive') return 'its subscription is inactive: activate it first';
  if (inFlight) return 'an attempt is in flight: wait for its outcome';
  if (status === 'PENDING') return 'it is already waiting to be sent';
  if (status === 'DELIVERED' && !force) return 'it was delivered: pass "force": true to send it again';
  return null;
}
