import { createLogger } from '../../src/lib/log.ts';
import { createAttempt } from '../../src/webhooks/delivery/attempt.ts';
import { createClaim, createReclaim, type ClaimedAttempt } from '../../src/webhooks/delivery/claim.ts';
import { createDispatcher, type DispatcherDeps } from '../../src/webhooks/delivery/dispatcher.ts';
import { createInFlight } from '../../src/webhooks/delivery/in-flight.ts';
import { createRecorder, recordAttempts } from '../../src/webhooks/delivery/record-attempt.ts';
import type { Receiver } from '../support/receiver.ts';
import { cleanUp, later, receiver, sender, until } from '../support/sending.ts';
import { createWorld, type World } from './world.ts';

let world: World;

beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await cleanUp();
  await world.drop();
});

const log = createLogger('silent', 'test');
const pause = async (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const delivery = async (id: string) => world.db('webhookDelivery').where({ id }).first();
const attemptsOf = async (deliveryId: string) => world.db('webhookAttempt').where({ deliveryId }).orderBy('sequence');

/** A merchant with a subscription at this receiver, and what records an event for it. */
async function buildSubscriber(shop: Receiver) {
  const owner = await world.newMerchant();
  const { row } = await world.subscribe(owner);
  await world.db('webhookSubscription').where({ id: row.id }).update({ url: shop.url });
  return {
    subscriptionId: row.id,
    record: async (): Promise<string> => world.deliveryId(await world.record(owner)),
  };
}

const attempting = () => ({
  attempt: createAttempt({ sender: sender(), keyRing: world.deps.keyRing, onDefect: () => {} }),
});
const later1s = () => new Date(Date.now() + 1_000);

function buildDispatcher(other: Partial<DispatcherDeps> = {}) {
  const dispatcher = createDispatcher({
    db: world.db,
    log,
    ...attempting(),
    recorder: createRecorder({ db: world.db, log }),
    inFlight: createInFlight({ perSubscription: 50, perThrottled: 10 }),
    reclaim: createReclaim(),
    workflows: 'failed',
    retryDelaysSeconds: [60],
    onRecorded: () => {},
    onWorkflow: () => {},
    ...other,
  });
  later(dispatcher.stop);
  return dispatcher;
}

/** Waits until the delivery has this status, at most 5 s. */
async function untilStatus(id: string, status: string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await delivery(id)).status === status) return;
    await pause(25);
  }
  throw new Error(`the delivery is ${(await delivery(id)).status}, not ${status}`);
}

const markInFlight = async (id: string, seconds: number, sendingAttemptId = 'wha_before'): Promise<unknown> =>
  world
    .db('webhookDelivery')
    .where({ id })
    .update({
      sendingAttemptId,
      sendingSince: world.db.raw(`now() - make_interval(secs => ${seconds})`),
      attempts: 1,
    });

test('a new delivery is sent once and recorded with its attempt; without need no workflow is started', async () => {
  const shop = await receiver();
  const { record } = await buildSubscriber(shop);
  const id = await record();
  buildDispatcher().trigger();
  await untilStatus(id, 'DELIVERED');
  expect(shop.requests).toHaveLength(1);
  const attempt = { sequence: 1, deliveryNumber: 1, retryNumber: 0, trigger: 'auto', httpStatus: 200, failure: null };
  expect(await attemptsOf(id)).toMatchObject([attempt]);
  expect(await delivery(id)).toMatchObject({ attempts: 1, sendingSince: null, nextAttemptAt: null });
  expect(await world.db('outbox')).toEqual([]);
});

test('in mode "every" the workflow of a delivered one starts with its outcome', async () => {
  const shop = await receiver();
  const { record, subscriptionId } = await buildSubscriber(shop);
  const id = await record();
  buildDispatcher({ workflows: 'every' }).trigger();
  await untilStatus(id, 'DELIVERED');
  const { eventId } = await delivery(id);
  const input = { deliveryId: id, subscriptionId, attemptsMade: 0, nextAttemptAtMs: null, receiverHost: '127.0.0.1' };
  expect(await world.db('outbox')).toMatchObject([
    {
      kind: 'start',
      workflowType: 'webhookDelivery',
      workflowId: `delivery-${eventId}-${subscriptionId}`,
      input: { ...input, lastOutcome: { ok: true, httpStatus: 200, code: null } },
    },
  ]);
});

test('a failed first attempt starts its workflow, which owns the retries, in either mode', async () => {
  const shop = await receiver();
  shop.behave({ kind: 'answer', status: 503 });
  const { record } = await buildSubscriber(shop);
  const id = await record();
  buildDispatcher().trigger();
  await untilStatus(id, 'RETRYING');
  const { nextAttemptAt, rungsUsed } = await delivery(id);
  expect(rungsUsed).toBe(1);
  expect(await world.db('outbox')).toMatchObject([
    {
      input: {
        attemptsMade: 1,
        nextAttemptAtMs: nextAttemptAt.getTime(),
        lastOutcome: { ok: false, httpStatus: 503, code: 'http_status' },
      },
    },
  ]);
});

test('an attempt that has been in flight for 3.5 s is not claimed again; one whose mark ran out ends interrupted', async () => {
  const shop = await receiver();
  const { record } = await buildSubscriber(shop);
  const [alive, dead] = [await record(), await record()];
  await markInFlight(alive, 3.5);
  await markInFlight(dead, 6.5);
  const dispatcher = buildDispatcher();
  dispatcher.trigger();
  await untilStatus(dead, 'DELIVERED');
  await dispatcher.stop();
  expect(shop.requests).toHaveLength(1);
  expect(await delivery(alive)).toMatchObject({ status: 'PENDING', attempts: 1 });
  // Our crash uses up no retry.
  expect(await attemptsOf(dead)).toMatchObject([
    { id: 'wha_before', sequence: 1, retryNumber: 0, failure: { code: 'interrupted' }, httpStatus: null },
    { sequence: 2, retryNumber: 0, failure: null, httpStatus: 200 },
  ]);
});

test('soon after the database was away a mark that ran out may be of a process that has yet to save: nobody claims it', async () => {
  const { record } = await buildSubscriber(await receiver());
  const id = await record();
  await markInFlight(id, 6.5);
  const reclaim = createReclaim();
  reclaim.postpone();
  const claim = createClaim(world.db, reclaim);
  expect(await claim({ deliveryId: id, startedAt: new Date() })).toMatchObject({ inFlight: true });
  const dispatcher = buildDispatcher({ reclaim });
  dispatcher.trigger();
  await pause(200);
  await dispatcher.stop();
  expect(await delivery(id)).toMatchObject({ status: 'PENDING', attempts: 1 });
  expect(await createClaim(world.db)({ deliveryId: id, startedAt: new Date() })).toMatchObject({ sequence: 2 });
});

test('what was sent and cannot be saved is not sent again by any worker, and saved when the database takes it', async () => {
  const shop = await receiver();
  const { record } = await buildSubscriber(shop);
  const id = await record();
  await world.asOwner(`
    CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no'' USING ERRCODE = ''53100''; END';
    CREATE TRIGGER full_disk BEFORE INSERT ON webhook_attempt FOR EACH ROW WHEN (NEW.http_status = 200)
      EXECUTE FUNCTION reject()`);
  const [first, second] = [buildDispatcher(), buildDispatcher()];
  first.trigger();
  await until(() => shop.requests.length === 1);

  // From then on its mark is renewed twice a second, so that it does not run out for the other worker.
  await pause(800);
  await world
    .db('webhookDelivery')
    .where({ id })
    .update({ sendingSince: world.db.raw(`now() - interval '5.9 seconds'`) });
  await pause(600);
  second.trigger();
  first.trigger();
  await pause(200);
  expect(shop.requests).toHaveLength(1);

  // Where the mark has run out all the same, the process that holds the outcome knows it.
  for (let times = 0; times < 20; times += 1) {
    await markInFlight(id, 6.5, String((await delivery(id)).sendingAttemptId));
    first.trigger();
    await pause(50);
  }
  expect(shop.requests).toHaveLength(1);

  await world.asOwner('DROP TRIGGER full_disk ON webhook_attempt');
  await untilStatus(id, 'DELIVERED');
  expect(shop.requests).toHaveLength(1);
  expect(await attemptsOf(id)).toMatchObject([{ sequence: 1, httpStatus: 200 }]);
});

test('an outcome that the database refuses for its contents is saved without the words of the receiver', async () => {
  const shop = await receiver();
  const { record } = await buildSubscriber(shop);
  const id = await record();
  await world.asOwner(`ALTER TABLE webhook_attempt ADD CHECK (response_excerpt = '')`);
  shop.behave({ kind: 'answer', status: 200, body: 'thank you' });
  buildDispatcher().trigger();
  await untilStatus(id, 'DELIVERED');
  expect(await attemptsOf(id)).toMatchObject([{ httpStatus: 200, responseExcerpt: '' }]);
});

test('a receiver that hangs holds its own share and delays nobody else', async () => {
  const [hanging, good] = [await receiver(), await receiver()];
  hanging.behave({ kind: 'hang' });
  const [slow, quick] = [await buildSubscriber(hanging), await buildSubscriber(good)];
  for (let made = 0; made < 30; made += 1) await slow.record();
  const inFlight = createInFlight({ perSubscription: 20, perThrottled: 10 });
  const dispatcher = buildDispatcher({ inFlight });
  dispatcher.trigger();
  await until(() => hanging.requests.length === 20);
  const id = await quick.record();
  dispatcher.trigger();
  await untilStatus(id, 'DELIVERED');
  expect(hanging.requests).toHaveLength(20);
  expect(inFlight.total()).toBe(20);
});

test('a subscription that failed lately has the share of throttled ones', async () => {
  const shop = await receiver();
  shop.behave({ kind: 'hang' });
  const { record, subscriptionId } = await buildSubscriber(shop);
  await world
    .db('webhookSubscription')
    .where({ id: subscriptionId })
    .update({ slowUntil: world.db.raw(`now() + interval '1 minute'`) });
  for (let made = 0; made < 15; made += 1) await record();
  const dispatcher = buildDispatcher();
  dispatcher.trigger();
  await until(() => shop.requests.length === 10);
  dispatcher.trigger();
  await pause(200);
  expect(shop.requests).toHaveLength(10);
});

test('three failures in a row throttle a subscription, a success ends that', async () => {
  const shop = await receiver();
  shop.behave({ kind: 'answer', status: 500 });
  const { record, subscriptionId } = await buildSubscriber(shop);
  const health = async () => world.db('webhookSubscription').where({ id: subscriptionId }).first();
  const dispatcher = buildDispatcher();
  const send = async (status: string): Promise<void> => {
    const id = await record();
    dispatcher.trigger();
    await untilStatus(id, status);
  };
  await send('RETRYING');
  await send('RETRYING');
  expect(await health()).toMatchObject({ failuresInARow: 2, slowUntil: null });
  await send('RETRYING');
  expect(await health()).toMatchObject({ failuresInARow: 3, slowUntil: expect.any(Date) });
  shop.behave({ kind: 'answer', status: 200 });
  await send('DELIVERED');
  expect(await health()).toMatchObject({ failuresInARow: 0, slowUntil: null });
});

test('subscriptions take turns: one with much to send does not keep the others waiting', async () => {
  const [busy, quiet] = [await receiver(), await receiver()];
  const subscribers = [await buildSubscriber(busy), await buildSubscriber(busy)];
  const [first, second] = subscribers.toSorted((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1));
  await world.db('webhookSubscription').where({ id: second?.subscriptionId }).update({ url: quiet.url });
  for (let made = 0; made < 300; made += 1) await first?.record();
  const id = String(await second?.record());
  buildDispatcher({ inFlight: createInFlight({ perSubscription: 1_000, perThrottled: 10 }) }).trigger();
  await until(() => busy.requests.length === 300);
  await untilStatus(id, 'DELIVERED');
  const lastOfBusy = await world.db('webhookAttempt').whereNot({ deliveryId: id }).orderBy('startedAt', 'desc').first();
  expect((await attemptsOf(id))[0].startedAt.getTime()).toBeLessThan(lastOfBusy.startedAt.getTime());
});

test('a success that comes after its mark ran out and was taken for interrupted still counts', async () => {
  const shop = await receiver();
  const { record } = await buildSubscriber(shop);
  const id = await record();
  const claim = createClaim(world.db);
  const claimed = (await claim({ deliveryId: id, startedAt: later1s() })) as ClaimedAttempt;
  const { attempt } = attempting();
  const outcome = await attempt(claimed, { retryDelaysSeconds: [60], jitter: 0 });
  await markInFlight(id, 6.5, claimed.attemptId);
  expect(await claim({ deliveryId: id, startedAt: later1s() })).toMatchObject({ sequence: 2 });
  expect(await attemptsOf(id)).toMatchObject([{ sequence: 1, failure: { code: 'interrupted' } }]);
  await recordAttempts(world.db, [outcome]);
  expect(await delivery(id)).toMatchObject({ status: 'DELIVERED', sendingAttemptId: null });
  expect(await attemptsOf(id)).toMatchObject([{ sequence: 1, failure: null, httpStatus: 200 }]);
});

test('sends that take long count as a full share before their failures are known; retries have two places more', async () => {
  const inFlight = createInFlight({ perSubscription: 20, perThrottled: 2 });
  const start = () => inFlight.start('whs_1');
  const ends = [start(), start(), start()];
  expect(inFlight.counts()).toEqual({ whs_1: 3 });
  await pause(1_050);
  expect(inFlight.counts()).toEqual({ whs_1: 20 });
  expect(inFlight.hasRoom('whs_1')).toBe(true);
  ends.push(start());
  expect(inFlight.hasRoom('whs_1')).toBe(false);
  ends.forEach((end) => end());
  expect(inFlight.hasRoom('whs_1')).toBe(true);
  expect(inFlight.total()).toBe(0);
});

test('what waits for an inactive subscription is skipped', async () => {
  const shop = await receiver();
  const { record, subscriptionId } = await buildSubscriber(shop);
  const id = await record();
  await world.db('webhookSubscription').where({ id: subscriptionId }).update({ active: false });
  buildDispatcher().trigger();
  await untilStatus(id, 'SKIPPED');
  expect(await delivery(id)).toMatchObject({ attempts: 0, nextAttemptAt: null });
  expect(shop.requests).toHaveLength(0);
});

test('two workers send 300 deliveries of 30 subscriptions once each', async () => {
  const shop = await receiver();
  const subscribers = [];
  for (let made = 0; made < 30; made += 1) subscribers.push(await buildSubscriber(shop));
  for (let round = 0; round < 10; round += 1) for (const { record } of subscribers) await record();
  const workers = [buildDispatcher(), buildDispatcher()];
  for (const worker of workers) worker.trigger();
  await until(() => shop.requests.length === 300);
  await Promise.all(workers.map((worker) => worker.stop()));
  expect(new Set(shop.requests.map((request) => request.headers['x-service-event-id'])).size).toBe(300);
  const statuses = await world.db('webhookDelivery').distinct('status');
  expect(statuses).toEqual([{ status: 'DELIVERED' }]);
  expect(shop.requests).toHaveLength(300);
});
