import { claimOne, type ClaimedAttempt } from '../../src/webhooks/delivery/claim.ts';
import { createRecorder, recordAttempts } from '../../src/webhooks/delivery/record-attempt.ts';
import { receiver } from '../support/sending.ts';
import { until } from '../support/until.ts';
import {
  attemptsOf,
  buildAttempt,
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

const REJECT = `
  CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no'' USING ERRCODE = ''53100''; END';`;

const markInFlight = async (id: string, seconds: number, inFlightAttemptId = 'wha_before'): Promise<unknown> =>
  fixture.db
    .knex()('webhookDelivery')
    .where({ id })
    .update({
      inFlightAttemptId,
      inFlightSince: fixture.db.knex().raw(`now() - make_interval(secs => ${seconds})`),
      attempts: 1,
    });

test('an attempt in flight for 3.5 s is not claimed again; one with an expired mark is recorded as interrupted', async () => {
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

test('soon after a database outage an expired mark is not claimed: its process may still save the outcome', async () => {
  const { record } = await buildSubscriber(await receiver());
  const id = await record();
  await markInFlight(id, 6.5);
  const inFlight = buildInFlight();
  inFlight.noteFailure();
  expect(inFlight.mayReclaim()).toBe(false);
  expect(await claimOne(fixture.db, { deliveryId: id, startedAt: new Date(), reclaim: false })).toBeNull();
  const dispatcher = buildDispatcher({ inFlight });
  dispatcher.trigger();
  await pause(200);
  await dispatcher.stop();
  expect(await delivery(id)).toMatchObject({ status: 'PENDING', attempts: 1 });
  const claimed = await claimOne(fixture.db, { deliveryId: id, startedAt: new Date(), reclaim: true });
  expect(claimed).toMatchObject({ sequence: 2 });
});

test('a sent attempt whose outcome cannot be saved is not sent again by any worker, and is saved after the outage', async () => {
  const shop = await receiver();
  const { record } = await buildSubscriber(shop);
  const id = await record();
  await fixture.asOwner(`${REJECT}
    CREATE TRIGGER full_disk BEFORE INSERT ON webhook_attempt FOR EACH ROW WHEN (NEW.http_status = 200)
      EXECUTE FUNCTION reject()`);
  const inFlight = buildInFlight();
  const [first, second] = [buildDispatcher({ inFlight }), buildDispatcher()];
  first.trigger();
  await until('the first request', () => shop.requests.length === 1);

  // Nothing is renewed while a send takes its time; afterwards its mark does not run out for the other worker.
  const age = async (): Promise<number> => Date.now() - (await delivery(id)).inFlightSince.getTime();
  await pause(3_500);
  expect(await age()).toBeGreaterThan(3_400);
  await pause(1_700);
  expect(await age()).toBeLessThan(1_500);
  second.trigger();
  await pause(200);
  expect(shop.requests).toHaveLength(1);

  // Where the mark has run out all the same, the process that holds the outcome uses it.
  for (let times = 0; times < 20; times += 1) {
    await markInFlight(id, 6.5, String((await delivery(id)).inFlightAttemptId));
    first.trigger();
    await pause(50);
  }
  expect(shop.requests).toHaveLength(1);

  await fixture.asOwner('DROP TRIGGER full_disk ON webhook_attempt');
  await untilStatus(id, 'DELIVERED');
  expect(shop.requests).toHaveLength(1);
  expect(await attemptsOf(id)).toMatchObject([{ sequence: 1, httpStatus: 200 }]);
  expect(inFlight.held()).toEqual([]);
}, 15_000);

test('the mark of an attempt that another worker has made meanwhile is not renewed', async () => {
  const { record } = await buildSubscriber(await receiver());
  const [own, taken] = [await record(), await record()];
  await markInFlight(own, 5, 'wha_own');
  await markInFlight(taken, 5, 'wha_other');
  const before = (await delivery(taken)).inFlightSince;
  const inFlight = buildInFlight();
  for (const deliveryId of [taken, own]) inFlight.hold({ attemptId: 'wha_own', deliveryId }, performance.now() - 5_000);
  await until('the own mark to be renewed', async () => (await delivery(own)).inFlightSince > before);
  expect((await delivery(taken)).inFlightSince).toEqual(before);
});

test('outcomes that could not be saved in one batch are saved in one batch later', async () => {
  const { record } = await buildSubscriber(await receiver());
  const ids = await Promise.all(Array.from({ length: 20 }, record));
  const outcomes = await Promise.all(
    ids.map(async (deliveryId) => {
      const claimed = await claimOne(fixture.db, { deliveryId, startedAt: new Date(), reclaim: false });
      return buildAttempt()(claimed as ClaimedAttempt, { retryDelaysSeconds: [60], jitter: 0 });
    }),
  );
  let statements = 0;
  fixture.db.events.on('statement', ({ sql }) => {
    if (sql.includes('INSERT INTO webhook_attempt AS a')) statements += 1;
  });
  await fixture.asOwner(`${REJECT}
    CREATE TRIGGER full_disk BEFORE INSERT ON webhook_attempt FOR EACH ROW EXECUTE FUNCTION reject()`);
  const saved = outcomes.map(createRecorder({ db: fixture.db, log, inFlight: buildInFlight() }));
  await pause(100);
  await fixture.asOwner('DROP TRIGGER full_disk ON webhook_attempt');
  expect(await Promise.all(saved)).toMatchObject(ids.map(() => ({ status: 'DELIVERED' })));
  expect(statements).toBeGreaterThan(0);
  expect(statements).toBeLessThan(5);
});

test('an outcome that the database rejects for its contents is saved without the response of the receiver', async () => {
  const shop = await receiver();
  const { record } = await buildSubscriber(shop);
  const id = await record();
  await fixture.asOwner(`ALTER TABLE webhook_attempt ADD CHECK (response_excerpt = '')`);
  shop.behave({ kind: 'answer', status: 200, body: 'thank you' });
  buildDispatcher().trigger();
  await untilStatus(id, 'DELIVERED');
  expect(await attemptsOf(id)).toMatchObject([{ httpStatus: 200, responseExcerpt: '' }]);
});

test('a failure that is recorded after its attempt was recorded as interrupted changes nothing', async () => {
  const shop = await receiver();
  shop.behave({ kind: 'answer', status: 500 });
  const { record } = await buildSubscriber(shop);
  const id = await record();
  const claim = async () => claimOne(fixture.db, { deliveryId: id, startedAt: new Date(), reclaim: true });
  const claimed = (await claim()) as ClaimedAttempt;
  const failure = await buildAttempt()(claimed, { retryDelaysSeconds: [60], jitter: 0 });
  expect(failure.ok).toBe(false);
  await markInFlight(id, 6.5, claimed.attemptId);
  await claim();
  const before = await delivery(id);
  await recordAttempts(fixture.db, [failure]);
  expect(await delivery(id)).toEqual(before);
});

test('a success that is recorded after its attempt was recorded as interrupted still counts', async () => {
  const shop = await receiver();
  const { record } = await buildSubscriber(shop);
  const id = await record();
  const claim = async () => claimOne(fixture.db, { deliveryId: id, startedAt: new Date(), reclaim: true });
  const claimed = (await claim()) as ClaimedAttempt;
  const outcome = await buildAttempt()(claimed, { retryDelaysSeconds: [60], jitter: 0 });
  await markInFlight(id, 6.5, claimed.attemptId);
  expect(await claim()).toMatchObject({ sequence: 2 });
  expect(await attemptsOf(id)).toMatchObject([{ sequence: 1, failure: { code: 'interrupted' } }]);
  await recordAttempts(fixture.db, [outcome]);
  expect(await delivery(id)).toMatchObject({ status: 'DELIVERED', inFlightAttemptId: null });
  expect(await attemptsOf(id)).toMatchObject([{ sequence: 1, failure: null, httpStatus: 200 }]);
});

test('a late success of a delivery that has failed meanwhile makes it DELIVERED and closes its dead letter', async () => {
  const shop = await receiver();
  const { record } = await buildSubscriber(shop);
  const id = await record();
  const claim = async () =>
    (await claimOne(fixture.db, { deliveryId: id, startedAt: new Date(), reclaim: true })) as ClaimedAttempt;
  const claimed = await claim();
  const success = await buildAttempt()(claimed, { retryDelaysSeconds: [60], jitter: 0 });
  await markInFlight(id, 6.5, claimed.attemptId);
  const failure = { code: 'http_status', message: 'The receiver responded with 500.' } as const;
  const { attemptId, sequence } = await claim();
  await recordAttempts(fixture.db, [{ ...success, attemptId, sequence, ok: false, httpStatus: 500, failure }]);
  const openDeadLetters = () => fixture.db.knex()('webhookDeadLetter').where({ deliveryId: id }).whereNull('closedAt');
  expect([(await delivery(id)).status, (await openDeadLetters()).length]).toEqual(['FAILED', 1]);
  await recordAttempts(fixture.db, [success]);
  expect([(await delivery(id)).status, (await openDeadLetters()).length]).toEqual(['DELIVERED', 0]);
});
