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
  /** An attempt of it is on its way to the receiver. */
  sending: boolean;
};

/**
 * What a resend does: `send` asks for one POST off the ladder, `hasten` brings the ladder's next rung forward.
 * `refuse` says why not, in words for the merchant.
 */
export type ResendStep = { do: 'send' } | { do: 'hasten' } | { do: 'refuse'; because: string };

/** The rules of a resend. `force` sends again what was delivered. */
export function resendStep(facts: ResendFacts, force: boolean): ResendStep {
  if (facts.subscription === 'deleted') return refuse('its subscription is deleted');
  if (facts.subscription === 'inactive') return refuse('its subscription is inactive: activate it first');
  if (facts.sending) return refuse('an attempt is being sent right now: wait for its outcome');
  switch (facts.status) {
    case 'FAILED':
    case 'SKIPPED':
      return { do: 'send' };
    case 'RETRYING':
      return { do: 'hasten' };
    case 'DELIVERED':
      return force ? { do: 'send' } : refuse('it was delivered: pass "force": true to send it again');
    case 'PENDING':
      return refuse('it is already waiting to be sent');
  }
}

function refuse(because: string): ResendStep {
  return { do: 'refuse', because };
}
