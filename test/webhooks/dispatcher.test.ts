import { createRecorder } from '../../src/webhooks/delivery/record-attempt.ts';
import { later, receiver } from '../support/sending.ts';
import { until } from '../support/until.ts';
import {
  attemptsOf,
  buildDispatcher,
  buildInFlight,
  buildSubscriber,
  delivery,
  log,
  pause,
  untilStatus,
  useFixtures,
  fixture,
} from './dispatching.ts';

useFixtures();

test('a new delivery is sent once and recorded with its attempt; after a success no workflow starts', async () => {
  const shop = await receiver();
  const { record } = await buildSubscriber(shop);
  const id = await record();
  buildDispatcher().trigger();
  await untilStatus(id, 'DELIVERED');
  expect(shop.requests).toHaveLength(1);
  const attempt = { sequence: 1, deliveryNumber: 1, retryNumber: 0, source: 'auto', httpStatus: 200, failure: null };
  expect(await attemptsOf(id)).toMatchObject([attempt]);
  expect(await delivery(id)).toMatchObject({ attempts: 1, inFlightSince: null, nextAttemptAt: null });
  expect(await fixture.db.knex()('outbox')).toEqual([]);
});

test('in mode "every" the workflow of a successful delivery waits to be started, apart from the outbox', async () => {
  const shop = await receiver();
  const { record, subscriptionId } = await buildSubscriber(shop);
  const id = await record();
  buildDispatcher({ workflows: 'every' }).trigger();
  await untilStatus(id, 'DELIVERED');
  const { eventId } = await delivery(id);
  expect(await fixture.db.knex()('outbox')).toEqual([]);
  const input = {
    eventId,
    deliveryId: id,
    subscriptionId,
    attemptsMade: 0,
    nextAttemptAtMs: null,
    receiverHost: '127.0.0.1',
  };
  expect(await fixture.db.knex()('webhookWorkflowStart')).toMatchObject([
    {
      deliveryId: id,
      leaseUntil: null,
      input: { ...input, lastOutcome: { ok: true, httpStatus: 200, code: null } },
    },
  ]);
});

test('a failed first attempt starts the workflow that makes the retries, in either mode', async () => {
  const shop = await receiver();
  shop.behave({ kind: 'answer', status: 503 });
  const { record } = await buildSubscriber(shop);
  const id = await record();
  buildDispatcher().trigger();
  await untilStatus(id, 'RETRYING');
  const { nextAttemptAt, retryCount } = await delivery(id);
  expect(retryCount).toBe(1);
  expect(await fixture.db.knex()('outbox')).toMatchObject([
    {
      input: {
        attemptsMade: 1,
        nextAttemptAtMs: nextAttemptAt.getTime(),
        lastOutcome: { ok: false, httpStatus: 503, code: 'http_status' },
      },
    },
  ]);
});

test('a receiver that hangs uses up its own share and delays no other', async () => {
  const [hanging, good] = [await receiver(), await receiver()];
  hanging.behave({ kind: 'hang' });
  const [slow, quick] = [await buildSubscriber(hanging), await buildSubscriber(good)];
  for (let made = 0; made < 30; made += 1) await slow.record();
  const inFlight = buildInFlight({ perSubscription: 20 });
  const dispatcher = buildDispatcher({ inFlight });
  dispatcher.trigger();
  await until('20 requests', () => hanging.requests.length === 20);
  const id = await quick.record();
  dispatcher.trigger();
  await untilStatus(id, 'DELIVERED');
  expect(hanging.requests).toHaveLength(20);
  expect(inFlight.counts()).toEqual({ [slow.subscriptionId]: 20 });
});

test('a subscription that failed recently has the share of throttled ones', async () => {
  const shop = await receiver();
  shop.behave({ kind: 'hang' });
  const { record, subscriptionId } = await buildSubscriber(shop);
  await fixture.db
    .knex()('webhookSubscription')
    .where({ id: subscriptionId })
    .update({ throttledUntil: fixture.db.knex().raw(`now() + interval '1 minute'`) });
  for (let made = 0; made < 15; made += 1) await record();
  const dispatcher = buildDispatcher();
  dispatcher.trigger();
  await until('10 requests', () => shop.requests.length === 10);
  dispatcher.trigger();
  await pause(200);
  expect(shop.requests).toHaveLength(10);
});

test('a send that is spread out is recorded with the time when it was sent', async () => {
  const shop = await receiver();
  shop.behave({ kind: 'answer', status: 500 });
  const { record, subscriptionId } = await buildSubscriber(shop);
  await fixture.db
    .knex()('webhookSubscription')
    .where({ id: subscriptionId })
    .update({ throttledUntil: fixture.db.knex().raw(`now() + interval '1 minute'`) });
  const ids = await Promise.all(Array.from({ length: 10 }, record));
  buildDispatcher().trigger();
  for (const id of ids) await untilStatus(id, 'RETRYING');
  const attempts = (await Promise.all(ids.map(attemptsOf))).flat();
  const spreadMs = (times: Date[]) => {
    const ms = times.map((at) => at.getTime());
    return Math.max(...ms) - Math.min(...ms);
  };
  const sentMs = spreadMs(shop.requests.map(({ at }) => at));
  expect(sentMs).toBeGreaterThan(20);
  // All were claimed at once: what is recorded is when each was sent.
  expect(spreadMs(attempts.map(({ startedAt }) => startedAt))).toBeGreaterThan(sentMs / 2);
});

test('three consecutive failures throttle a subscription, and a success ends the throttling', async () => {
  const shop = await receiver();
  shop.behave({ kind: 'answer', status: 500 });
  const { record, subscriptionId } = await buildSubscriber(shop);
  const health = async () => fixture.db.knex()('webhookSubscription').where({ id: subscriptionId }).first();
  const dispatcher = buildDispatcher();
  const send = async (status: string): Promise<void> => {
    const id = await record();
    dispatcher.trigger();
    await untilStatus(id, status);
  };
  await send('RETRYING');
  await send('RETRYING');
  expect(await health()).toMatchObject({ consecutiveFailures: 2, throttledUntil: null });
  await send('RETRYING');
  expect(await health()).toMatchObject({ consecutiveFailures: 3, throttledUntil: expect.any(Date) });
  shop.behave({ kind: 'answer', status: 200 });
  await send('DELIVERED');
  expect(await health()).toMatchObject({ consecutiveFailures: 0, throttledUntil: null });
});

test('claims alternate between subscriptions: one with a backlog does not delay the others', async () => {
  const [busy, quiet] = [await receiver(), await receiver()];
  const subscribers = [await buildSubscriber(busy), await buildSubscriber(busy)];
  const [first, second] = subscribers.toSorted((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1));
  await fixture.db.knex()('webhookSubscription').where({ id: second?.subscriptionId }).update({ url: quiet.url });
  for (let made = 0; made < 300; made += 1) await first?.record();
  const id = String(await second?.record());
  buildDispatcher({ inFlight: buildInFlight({ perSubscription: 1_000 }) }).trigger();
  await until('300 requests', () => busy.requests.length === 300);
  await untilStatus(id, 'DELIVERED');
  const lastOfBusy = await fixture.db
    .knex()('webhookAttempt')
    .whereNot({ deliveryId: id })
    .orderBy('startedAt', 'desc')
    .first();
  expect((await attemptsOf(id))[0].startedAt.getTime()).toBeLessThan(lastOfBusy.startedAt.getTime());
});

test('a slow receiver has the share of throttled ones before its failures are known', async () => {
  const shop = await receiver();
  shop.behave({ kind: 'hang' });
  const { record, subscriptionId } = await buildSubscriber(shop);
  await Promise.all(Array.from({ length: 12 }, record));
  const inFlight = buildInFlight({ perSubscription: 20 });
  const dispatcher = buildDispatcher({ inFlight });
  dispatcher.trigger();
  await until('12 requests', () => shop.requests.length === 12);
  expect(inFlight.slow()).toEqual([]);
  await pause(1_050);
  expect(inFlight.slow()).toEqual([subscriptionId]);
  await record();
  dispatcher.trigger();
  await pause(200);
  expect(shop.requests).toHaveLength(12);
});

test('retries and resends of a subscription have a share of their own, as large as a throttled one', async () => {
  const inFlight = buildInFlight({ perSubscription: 20, perThrottled: 2 });
  for (let sends = 0; sends < 20; sends += 1) inFlight.startFirst('whs_1');
  const [first, second, third] = [1, 2, 3].map(() => inFlight.startRetry('whs_1'));
  expect([first, second, third]).toEqual([expect.any(Function), expect.any(Function), null]);
  expect(inFlight.counts()).toEqual({ whs_1: 20 });
  first?.();
  expect(inFlight.startRetry('whs_1')).not.toBeNull();
  expect(inFlight.startRetry('whs_2')).not.toBeNull();
});

test('all waiting deliveries of an inactive subscription are skipped, also beyond its share', async () => {
  const shop = await receiver();
  const { record, subscriptionId } = await buildSubscriber(shop);
  const id = await record();
  for (let made = 0; made < 250; made += 1) await record();
  await fixture.db.knex()('webhookSubscription').where({ id: subscriptionId }).update({ active: false });
  const dispatcher = buildDispatcher();
  dispatcher.trigger();
  const pending = async () => fixture.db.knex()('webhookDelivery').where({ status: 'PENDING' });
  for (let tries = 0; tries < 100 && (await pending()).length > 0; tries += 1) await pause(20);
  await dispatcher.stop();
  expect(await pending()).toEqual([]);
  expect(await delivery(id)).toMatchObject({ attempts: 0, nextAttemptAt: null });
  expect(shop.requests).toHaveLength(0);
});

test('unsaved outcomes of sent attempts limit further claims', async () => {
  const { record } = await buildSubscriber(await receiver());
  for (let made = 0; made < 1_020; made += 20) await Promise.all(Array.from({ length: 20 }, record));
  let recorded = 0;
  let save = (): void => {};
  const isSaved = new Promise<void>((resolve) => (save = resolve));
  const isRecorded = createRecorder({ db: fixture.db, log, inFlight: buildInFlight() });
  const dispatcher = buildDispatcher({
    record: async (outcome) => {
      recorded += 1;
      await isSaved;
      return isRecorded(outcome);
    },
  });
  later(async () => save());
  for (let tries = 0; recorded < 1_000 && tries < 600; tries += 1) {
    // As the worker's sweep does.
    dispatcher.trigger();
    await pause(100);
  }
  dispatcher.trigger();
  await pause(200);
  expect(await fixture.db.knex()('webhookDelivery').whereNull('inFlightSince')).toHaveLength(20);
  save();
  await until('1,020 recorded attempts', () => recorded === 1_020);
}, 90_000);

test('two workers send 300 deliveries of 30 subscriptions exactly once', async () => {
  const shop = await receiver();
  const subscribers = [];
  for (let made = 0; made < 30; made += 1) subscribers.push(await buildSubscriber(shop));
  for (let round = 0; round < 10; round += 1) for (const { record } of subscribers) await record();
  const workers = [buildDispatcher(), buildDispatcher()];
  for (const worker of workers) worker.trigger();
  await until('300 requests', () => shop.requests.length === 300);
  await Promise.all(workers.map((worker) => worker.stop()));
  expect(new Set(shop.requests.map((request) => request.headers['x-service-event-id'])).size).toBe(300);
  const statuses = await fixture.db.knex()('webhookDelivery').distinct('status');
  expect(statuses).toEqual([{ status: 'DELIVERED' }]);
  expect(shop.requests).toHaveLength(300);
});
