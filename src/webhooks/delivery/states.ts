/** States of one delivery, an event to one subscription. */
export const DELIVERY_STATUSES = ['PENDING', 'RETRYING', 'DELIVERED', 'FAILED', 'SKIPPED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** An event's own status, worst delivery first; without a matching subscription it has none to tell of. */
export const EVENT_STATUSES = [...DELIVERY_STATUSES, 'NO_SUBSCRIBERS'] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];

/** All that decides whether a delivery may be sent again now. */
export type ResendFacts = {
  status: DeliveryStatus;
  subscription: 'active' | 'inactive' | 'deleted';
  /** An attempt is on its way to the receiver. */
  inFlight: boolean;
};

/** Whether a resend makes one attempt beside the schedule; if not, why, in words for the merchant. */
export type ResendDecision = { allowed: true } | { allowed: false; because: string };

/** The rules of a resend. `force` sends again what was delivered. */
export function decideResend(facts: ResendFacts, force: boolean): ResendDecision {
  if (facts.subscription === 'deleted') return reject('its subscription is deleted');
  if (facts.subscription === 'inactive') return reject('its subscription is inactive: activate it first');
  if (facts.inFlight) return reject('an attempt is being sent right now: wait for its outcome');
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
