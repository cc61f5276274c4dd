import { rows } from '../../src/lib/db.ts';
import type { ReceivedRequest } from '../support/receiver.ts';
import type { Evidence, ReceiverJournal } from './evidence.ts';

const IN_TIME_MS = 3_000;

/** One event at one receiver, with our rows for it. */
type Seen = {
  eventId: string;
  url: string;
  requests: ReceivedRequest[];
  event: EventRow | undefined;
  deliveries: DeliveryRow[];
};
type EventRow = { id: string; merchantId: string; environment: string; payload: Buffer };
type DeliveryRow = { id: string; eventId: string; status: string; url: string; attempts: number; manual: number };

/** I6, second half: all attempts of an event have the same bytes. */
export async function bytesNeverChange(evidence: Evidence): Promise<string[]> {
  return checkEvents(evidence, ({ event, requests, eventId, url }) => {
    const signedFrom = event?.payload.subarray(0, -1);
    const changed = requests.filter(({ body }) => signedFrom && !isSigned(body, signedFrom));
    return changed.length > 0
      ? [`${changed.length} requests of event ${eventId} to ${url} carried other bytes than recorded`]
      : [];
  });
}

/** The recorded envelope with `signature` as its last member, and nothing else. */
function isSigned(body: Buffer, envelope: Buffer): boolean {
  const rest = body.subarray(envelope.length).toString();
  return body.subarray(0, envelope.length).equals(envelope) && /^,"signature":"sha256=[A-Za-z0-9+/=]+"}$/.test(rest);
}

/** I8: a delivery is DELIVERED if the receiver responded with 2xx in time, and only then. */
export async function deliveredMeansAccepted(evidence: Evidence): Promise<string[]> {
  return checkEvents(evidence, ({ deliveries, requests, eventId, url }) => {
    const accepted = requests.some((request) => isAccepted(request) && request.response?.delivered);
    return deliveries.flatMap(({ id, status }) => {
      if (status === 'DELIVERED' && !accepted)
        return [`delivery ${id} is DELIVERED, but ${url} never responded with 2xx in time to ${eventId}`];
      if (status === 'FAILED' && accepted)
        return [`delivery ${id} is FAILED, but ${url} responded with 2xx in time to ${eventId}`];
      return [];
    });
  });
}

/** I10: each request at a receiver has an attempt row. */
export async function everyRequestHasItsRow(evidence: Evidence): Promise<string[]> {
  return checkEvents(evidence, ({ event, deliveries, requests, eventId, url }) => {
    const attempts = deliveries.reduce((sum, delivery) => sum + delivery.attempts, 0);
    if (!event || requests.length <= attempts) return [];
    return [`${url} received ${requests.length} requests of event ${eventId}, which has ${attempts} attempt rows`];
  });
}

/** I11: no receiver gets an event of another merchant or environment. */
export async function nobodyElsesEvents(evidence: Evidence): Promise<string[]> {
  const inRows = await rows<{ violation: string }>(
    evidence.db,
    `SELECT 'delivery ' || d.id || ' joins an event and a subscription of different merchants or environments' AS violation
     FROM webhook_delivery d JOIN webhook_event e ON e.id = d.event_id JOIN webhook_subscription s ON s.id = d.subscription_id
     WHERE (e.merchant_id, e.environment) <> (s.merchant_id, s.environment)
        OR (e.merchant_id, e.environment) <> (d.merchant_id, d.environment)`,
  );
  const events = await readEvents(evidence);
  const strangers = evidence.receivers.flatMap((receiver) =>
    [...new Set(receiver.requests.map(eventIdOf))]
      .filter((eventId) => !isOwn(receiver, events.get(eventId)))
      .map((eventId) => `${receiver.url} received event ${eventId}, which is not its merchant's`),
  );
  return [...inRows.map(({ violation }) => violation), ...strangers];
}

/** I15: there are at most as many repeated deliveries as the faults explain. */
export async function noDuplicates(evidence: Evidence): Promise<string[]> {
  let duplicates = 0;
  const repeated = await checkEvents(evidence, ({ deliveries, requests, eventId, url }) => {
    const wanted = deliveries.reduce((sum, { manual }) => sum + 1 + manual, 0);
    const extra = requests.filter(isAccepted).length - Math.max(wanted, 1);
    if (extra <= 0) return [];
    duplicates += extra;
    return [`${url} accepted event ${eventId} ${extra + 1} times`];
  });
  return duplicates > evidence.duplicatesMax ? repeated : [];
}

function isAccepted({ at, response }: ReceivedRequest): boolean {
  if (!response || response.status < 200 || response.status > 299) return false;
  return response.at.getTime() - at.getTime() <= IN_TIME_MS;
}

function eventIdOf(request: ReceivedRequest): string {
  return String(request.headers['x-service-event-id']);
}

function isOwn({ scope }: ReceiverJournal, event: EventRow | undefined): boolean {
  return event !== undefined && event.merchantId === scope.merchantId && event.environment === scope.environment;
}

async function readEvents({ db, receivers }: Evidence): Promise<Map<string, EventRow>> {
  const ids = [...new Set(receivers.flatMap(({ requests }) => requests.map(eventIdOf)))];
  const found = await rows<EventRow>(
    db,
    'SELECT id, merchant_id, environment, payload FROM webhook_event WHERE id = ANY(:ids)',
    { ids },
  );
  return new Map(found.map((event) => [event.id, event]));
}

/** Runs a check for each event and each receiver that got it or should have got it. */
async function checkEvents(evidence: Evidence, judge: (seen: Seen) => string[]): Promise<string[]> {
  const events = await readEvents(evidence);
  const deliveries = await rows<DeliveryRow>(
    evidence.db,
    `SELECT d.id, d.event_id, d.status, s.url, CAST(count(a.id) AS integer) AS attempts,
            CAST(count(a.id) FILTER (WHERE a.source = 'manual') AS integer) AS manual
     FROM webhook_delivery d JOIN webhook_subscription s ON s.id = d.subscription_id
     LEFT JOIN webhook_attempt a ON a.delivery_id = d.id
     WHERE s.url = ANY(:urls) GROUP BY d.id, s.url`,
    { urls: evidence.receivers.map(({ url }) => url) },
  );
  return evidence.receivers.flatMap((receiver) => {
    const { url } = receiver;
    const seen = new Map<string, Seen>();
    const of = (eventId: string): Seen => {
      const known = seen.get(eventId) ?? { eventId, url, requests: [], event: events.get(eventId), deliveries: [] };
      seen.set(eventId, known);
      return known;
    };
    for (const delivery of deliveries) if (delivery.url === url) of(delivery.eventId).deliveries.push(delivery);
    for (const request of receiver.requests)
      if (isOwn(receiver, events.get(eventIdOf(request)))) of(eventIdOf(request)).requests.push(request);
    return [...seen.values()].flatMap(judge);
  });
}
