import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { TRANSACTION_EVENTS } from '../payments/events.ts';
import { REPORT_EVENTS } from '../reports/events.ts';
import { SETTLEMENT_EVENTS } from '../settlements/events.ts';
import { EVENT_TYPE_NAMES, SUBSCRIPTION_EVENTS, type EventCatalogue } from '../webhooks/events/catalogue.ts';
import { WITHDRAWAL_EVENTS } from '../withdrawals/events.ts';

const TYPES = {
  ...TRANSACTION_EVENTS,
  ...WITHDRAWAL_EVENTS,
  ...SETTLEMENT_EVENTS,
  ...REPORT_EVENTS,
  ...SUBSCRIPTION_EVENTS,
};

/** Every event type, from the slice that records it, with its example from the folder of the docs. */
export function readEventCatalogue(docsFolder: string): EventCatalogue {
  const examples = JSON.parse(readFileSync(join(docsFolder, 'events.json'), 'utf8')) as Record<string, object>;
  const catalogue = EVENT_TYPE_NAMES.map((name) => [name, { ...TYPES[name], example: examples[name] }]);
  return Object.fromEntries(catalogue) as EventCatalogue;
}
