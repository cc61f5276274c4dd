import type { Owner } from '../../src/webhooks/queries.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';
import { createWorkerWorld, until, type WorkerWorld } from '../support/worker.ts';

const EVENTS = 120;
const KILLS = 2;
/** Sends of one subscription that a worker has in flight at most: a kill may repeat each of them once. */
const SENDS_IN_FLIGHT = 10;

let world: WorkerWorld;
let receiver: Receiver;
let owner: Owner;
let worker: WorkerProcess;

const settings = () => ({
  DATABASE_URL: world.database.url,
  TEMPORAL_ADDRESS: world.config.TEMPORAL_ADDRESS,
  TASK_QUEUE_PREFIX: world.config.TASK_QUEUE_PREFIX,
  WEBHOOK_SENDS_PER_SUBSCRIPTION_MAX: String(SENDS_IN_FLIGHT),
});

beforeAll(async () => {
  world = await createWorkerWorld();
  receiver = await startReceiver();
  owner = await world.newMerchant();
  await world.subscribe(owner, { url: receiver.url });
  receiver.behave({ kind: 'answer', status: 200, afterMs: 30 });
  worker = await startWorkerProcess(settings());
}, 60_000);
afterAll(async () => {
  await worker.kill();
  await receiver.close();
  await world.close();
}, 30_000);

test('a worker killed twice in a burst loses no event and repeats at most what it was sending', async () => {
  const eventIds: string[] = [];
  for (let kill = 0; kill <= KILLS; kill += 1) {
    for (let made = 0; made < EVENTS / (KILLS + 1); made += 1) eventIds.push(await world.record(owner));
    if (kill === KILLS) break;
    const target = receiver.requests.length + 8;
    await until('some of the burst to arrive', async () => receiver.requests.length >= target);
    await worker.kill();
    worker = await startWorkerProcess(settings());
  }
  const deadlineMs = Date.now() + 45_000;
  for (;;) {
    const open = await world.db('webhookDelivery').whereNot({ status: 'DELIVERED' }).count({ count: '*' }).first();
    if (Number(open?.['count']) === 0) break;
    if (Date.now() > deadlineMs) throw new Error(`${String(open?.['count'])} deliveries are not delivered`);
    await new Promise((settle) => setTimeout(settle, 100));
  }

  const received = receiver.requests.map((request) => String(request.headers['x-service-event-id']));
  expect(new Set(received)).toEqual(new Set(eventIds));
  expect(received.length - eventIds.length).toBeLessThanOrEqual(KILLS * SENDS_IN_FLIGHT);
  const attempts = (await world
    .db('webhookAttempt')
    .join('webhookDelivery', 'webhookDelivery.id', 'webhookAttempt.deliveryId')
    .select('webhookDelivery.eventId')
    .count({ attempts: '*' })
    .groupBy('webhookDelivery.eventId')) as { eventId: string; attempts: bigint }[];
  for (const { eventId, attempts: rows } of attempts) {
    expect(received.filter((id) => id === eventId).length).toBeLessThanOrEqual(Number(rows));
  }
  await until('the outbox to be empty', async () => (await world.db('outbox')).length === 0);
}, 150_000);

test('a worker told to stop finishes what it sends and leaves nothing open behind', async () => {
  const before = receiver.requests.length;
  receiver.behave({ kind: 'answer', status: 200, afterMs: 1_500 });
  const eventId = await world.record(owner);
  await until('the send to begin', async () => receiver.requests.length > before);
  expect(await worker.terminate()).toBe(0);
  expect(await world.db('webhookDelivery').where({ eventId }).first('status', 'attempts')).toEqual({
    status: 'DELIVERED',
    attempts: 1,
  });
}, 60_000);
