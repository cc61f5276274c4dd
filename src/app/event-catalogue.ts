import { TRANSACTION_EVENTS } from '../payments/events.ts';
import { REPORT_EVENTS } from '../reports/events.ts';
import { SETTLEMENT_EVENTS } from '../settlements/events.ts';
import { SUBSCRIPTION_EVENTS, type EventCatalogue } from '../webhooks/events/catalogue.ts';
import { WITHDRAWAL_EVENTS } from '../withdrawals/events.ts';

/** The payload schema and an example of every event type, each from the slice that records it. */
export const EVENT_CATALOGUE: EventCatalogue = {
  ...TRANSACTION_EVENTS,
  ...WITHDRAWAL_EVENTS,
  ...SETTLEMENT_EVENTS,
  ...REPORT_EVENTS,
  ...SUBSCRIPTION_EVENTS,
};
