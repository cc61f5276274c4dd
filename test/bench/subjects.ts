import type { Merchant, Server, Fixture } from './fixture.ts';
import { createLoad, type Load } from './load.ts';
import type { Subject } from './measure.ts';
import { startReceiver, type Receiver } from './receiver.ts';
import type { Running } from './stack.ts';

const CONNECTIONS = 16;
const SUBSCRIPTIONS_OF_A_MERCHANT = 16;
const ROUTE = '/api/checkout/webhooks/subscriptions';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** A subscription, and a key of its merchant. */
export type Subscription = { subscriptionId: string; key: string };

export const headersOf = (key: string): Record<string, string> => ({
  'x-api-key': key,
  'content-type': 'application/json',
});

/** Creates subscriptions to test events through the API, with as many merchants as they need. */
export async function subscribe(
  { origin, newMerchant }: Pick<Server, 'origin'> & Pick<Fixture, 'newMerchant'>,
  { count, url, eventType = 'webhook.test' }: { count: number; url: string; eventType?: string },
): Promise<Subscription[]> {
  const made: Subscription[] = [];
  let merchant: Merchant | null = null;
  for (let number = 0; number < count; number += 1) {
    if (number % SUBSCRIPTIONS_OF_A_MERCHANT === 0 || merchant === null) merchant = await newMerchant();
    const { key } = merchant;
    const body = JSON.stringify({ url, eventTypes: [eventType] });
    const response = await fetch(`${origin}${ROUTE}`, { method: 'POST', headers: headersOf(key), body });
    const { data, message } = (await response.json()) as { data: { subscriptionId: string } | null; message: string };
    if (!data) throw new Error(`no subscription was made: ${message}`);
    made.push({ subscriptionId: data.subscriptionId, key });
  }
  return made;
}

/** Publishes test events through the API to these subscriptions in turn. */
export function publishTo(origin: string, subscriptions: readonly Subscription[]): Load {
  const requests = subscriptions.map(({ subscriptionId, key }) => ({
    method: 'POST' as const,
    path: `${ROUTE}/${subscriptionId}/test`,
    headers: headersOf(key),
    body: '{}',
  }));
  return createLoad({ origin, request: (number) => requests[number % requests.length]!, status: 202 }, CONNECTIONS);
}

const ALL_DELIVERED = `NOT EXISTS (SELECT 1 FROM webhook_delivery WHERE status = 'PENDING' AND status_before_resend IS NULL)
  AND NOT EXISTS (SELECT 1 FROM webhook_delivery WHERE status = 'RETRYING')
  AND NOT EXISTS (SELECT 1 FROM outbox WHERE available_at < now() + interval '1 hour')
  AND NOT EXISTS (SELECT 1 FROM webhook_workflow_start)`;

/** Our system with this many subscriptions to a healthy receiver; `with` selects the worker. */
export async function subjectOfOurs(fixture: Fixture, { api, count }: { api: Server; count: number }) {
  const receiver = await startReceiver();
  const subscriptions = await subscribe({ ...fixture, ...api }, { count, url: receiver.url });
  const publish = publishTo(api.origin, subscriptions);
  const shared = { publish, receiver, db: fixture.db, eventTable: 'webhook_event', isQuiet: ALL_DELIVERED } as const;
  const withWorker = (name: string, worker: Running): Subject => ({ ...shared, name, gateway: { api, worker } });
  return {
    ...shared,
    with: withWorker,
    inMode: (mode: 'failed' | 'every', worker: Running): Subject => ({
      ...withWorker(`mode "${mode}"`, worker),
      isSettled: mode === 'every' ? fixture.workflowsEnded : undefined,
    }),
  };
}

/** The baseline with as many subscriptions. */
export async function subjectOfBaseline(
  fixture: Fixture,
  { baseline, count }: { baseline: Server; count: number },
): Promise<Subject> {
  const receiver = await startReceiver();
  await fixture.asOwner(
    `INSERT INTO baseline_subscription (id, url, secret)
     SELECT n, '${receiver.url}', '${SECRET}' FROM generate_series(0, ${count - 1}) AS n`,
  );
  const request = (number: number) => ({
    method: 'POST' as const,
    path: `/events?subscription=${number % count}`,
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  return {
    name: 'bare baseline',
    publish: createLoad({ origin: baseline.origin, request, status: 202 }, CONNECTIONS),
    gateway: { baseline },
    db: fixture.db,
    receiver,
    eventTable: 'baseline_event',
    isQuiet: `NOT EXISTS (SELECT 1 FROM baseline_delivery WHERE status = 'PENDING')`,
  };
}

/** Closes the connections of the subjects in this process. */
export async function release(...subjects: { publish: Load; receiver: Receiver }[]): Promise<void> {
  await Promise.all(subjects.flatMap(({ publish, receiver }) => [publish.close(), receiver.close()]));
}
