/** States of one delivery, an event to one subscription. */
export const DELIVERY_STATUSES = ['PENDING', 'RETRYING', 'DELIVERED', 'FAILED', 'SKIPPED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** An event's own status is that of its worst delivery; NO_SUBSCRIBERS without any delivery. */
export const EVENT_STATUSES = [...DELIVERY_STATUSES, 'NO_SUBSCRIBERS'] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];

/** The facts that decide whether a delivery may be resent now. */
export type ResendFacts = {
  status: DeliveryStatus;
  subscription: 'active' | 'inactive' | 'deleted';
  /** An attempt is being sent to the receiver. */
  inFlight: boolean;
};

/** Whether a resend makes one attempt outside the schedule; if not, the reason for the merchant. */
export type ResendDecision = { allowed: true } | { allowed: false; because: string };

/** The rules of a resend. `force` allows a delivered one. */
export function decideResend(facts: ResendFacts, force: boolean): ResendDecision {
  if (facts.subscription === 'deleted') return reject('its subscription is deleted');
  if (facts.subscription === 'inactive') return reject('its subscription is inactive: activate it first');
  if (facts.inFlight) return reject('an attempt is in flight: wait for its outcome');
  switch (facts.status) {
    case 'FAILED':
    case 'SKIPPED':
    case 'RETRYING':
      return { allowed: true };
    case 'DELIVERED':
      return force ? { allowed: true } : reject('it was delivered: pass "force": true to send it again');
    case 'PENDING':
      return reject('it is already waiting to be sent');
  }
}

function reject(because: string): ResendDecision {
  return { allowed: false, because };
}
