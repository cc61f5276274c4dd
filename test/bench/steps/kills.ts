import { randomUUID } from 'node:crypto';

import { Pool } from 'undici';

import { until } from '../../support/until.ts';
import { inFixture, type Bench, type Fixture } from '../fixture.ts';
import { nowMs } from '../numbers.ts';
import { startReceiver, type Receiver } from '../receiver.ts';
import { headersOf, subscribe, type Subscription } from '../subjects.ts';

const SUBSCRIPTIONS = 10;
const CONNECTIONS = 16;
/** Every n-th call is repeated after its response, as by clients that lost a response. */
const REPEATED = 10;
const ARRIVED_WITHIN_MS = 90_000;
const ANSWERED_WITHIN_MS = 10_000;
const AGAIN_MS = 50;

/** kill -9 in a burst; the calls are repeated with their Idempotency-Key until they succeed. */
export async function kills(bench: Bench): Promise<void> {
  const count = bench.size(2_000, 400);
  const row = bench.sheet.table(`kill -9 in a burst of ${count}, published with idempotent repeats`);
  const all = { lost: 0, seconds: 0 };
  for (const killed of ['worker', 'api'] as const) {
    for (let round = 1; round <= bench.size(killed === 'worker' ? 3 : 1, 1); round += 1) {
      bench.say(`kill -9 of the ${killed}, round ${round}`);
      const found = await inFixture(bench, (fixture) => killOne(fixture, { killed, count }));
      row({ killed, round, ...found });
      all.lost += found.lost;
      all.seconds = Math.max(all.seconds, found['restart to last, s']);
      bench.sheet.measured('lost', all.lost);
      bench.sheet.measured('recovered', all.seconds);
    }
  }
}

async function killOne(fixture: Fixture, { killed, count }: { killed: 'worker' | 'api'; count: number }) {
  const receiver = await startReceiver();
  const [api, worker] = [await fixture.startApi(), await fixture.startWorker()];
  const subscriptions = await subscribe({ ...fixture, ...api }, { count: SUBSCRIPTIONS, url: receiver.url });
  try {
    const publishing = publishOnce(api.origin, { subscriptions, count });
    // Reported below, when it is awaited.
    publishing.catch(() => {});
    await until('a third of the burst', () => receiver.arrivals.size >= count / 3, ARRIVED_WITHIN_MS);
    const victim = killed === 'api' ? api : worker;
    victim.kill();
    const restartMs = nowMs();
    const [{ eventIds, changedResponses, endMs }] = await Promise.all([
      publishing,
      killed === 'api' ? fixture.startApi() : fixture.startWorker(),
    ]);
    await allArrived(receiver, eventIds);
    return {
      published: eventIds.size,
      lost: [...eventIds].filter((id) => !receiver.arrivals.has(id)).length + changedResponses,
      duplicates: receiver.duplicates(),
      'publishing went on, s': (endMs - restartMs) / 1_000,
      'restart to last, s': (Math.max(...receiver.arrivals.values()) - restartMs) / 1_000,
    };
  } finally {
    await receiver.close();
  }
}

/** Waits for all events, and then for late duplicates; missing events count as lost. */
async function allArrived({ arrivals }: Receiver, eventIds: ReadonlySet<string>): Promise<void> {
  const isAll = () => [...eventIds].every((id) => arrivals.has(id));
  await until('all events', isAll, ARRIVED_WITHIN_MS).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 2_000));
}

/** Publishes each event with a key of its own until it succeeds; every tenth once more. */
async function publishOnce(
  origin: string,
  { subscriptions, count }: { subscriptions: readonly Subscription[]; count: number },
): Promise<{ eventIds: Set<string>; changedResponses: number; endMs: number }> {
  const pool = new Pool(origin, { connections: CONNECTIONS, headersTimeout: ANSWERED_WITHIN_MS });
  const eventIds = new Set<string>();
  let changedResponses = 0;
  const publish = async (number: number): Promise<void> => {
    const { subscriptionId, key } = subscriptions[number % subscriptions.length]!;
    const path = `/api/checkout/webhooks/subscriptions/${subscriptionId}/test`;
    const headers = { ...headersOf(key), 'idempotency-key': randomUUID() };
    const publish = async (): Promise<string> => postUntilAccepted(pool, { path, headers });
    const eventId = await publish();
    eventIds.add(eventId);
    // Another event id in a repeat means that the first response was wrong.
    if (number % REPEATED === 0 && (await publish()) !== eventId) changedResponses += 1;
  };
  let next = 0;
  const publishOn = async (): Promise<void> => {
    while (next < count) await publish(next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, publishOn));
  const endMs = nowMs();
  await pool.close();
  return { eventIds, changedResponses, endMs };
}

async function postUntilAccepted(
  pool: Pool,
  { path, headers }: { path: string; headers: Record<string, string> },
): Promise<string> {
  for (const deadlineMs = Date.now() + ARRIVED_WITHIN_MS; ;) {
    const response = await pool.request({ method: 'POST', path, headers, body: '{}' }).catch(() => null);
    const words = (await response?.body.text().catch(() => '')) ?? '';
    if (response?.statusCode === 202 && words !== '') {
      return (JSON.parse(words) as { data: { eventId: string } }).data.eventId;
    }
    // In progress in the lost call, or unavailable: repeated. Any other error throws.
    if (response && response.statusCode < 500 && ![202, 409].includes(response.statusCode)) throw new Error(words);
    if (Date.now() > deadlineMs) throw new Error(`${path} had no successful response: ${words}`);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
