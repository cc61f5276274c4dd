import { createWebhookActivities } from '../../activities/webhooks.ts';
import { claimOne } from '../../src/webhooks/delivery/claim.ts';
import { createRecorder } from '../../src/webhooks/delivery/record-attempt.ts';
import { receiver } from '../support/sending.ts';
import { buildAttempt, buildInFlight, buildSubscriber, delivery, log, useFixtures, fixture } from './dispatching.ts';

useFixtures();

function build(inFlight = buildInFlight()) {
  const activities = createWebhookActivities(
    {
      db: fixture.db,
      runInTransaction: fixture.runInTransaction,
      clock: fixture.deps.clock,
      inFlight,
      attempt: buildAttempt(),
      record: createRecorder({ db: fixture.db, log, inFlight }),
      onRecorded: () => {},
      resendsPerSecond: 1,
    },
    () => 0,
  );
  const attempt = async (deliveryId: string, subscriptionId: string, atMs = Date.now()) =>
    activities.attemptDelivery({
      deliveryId,
      subscriptionId,
      atMs,
      retryDelaysSeconds: [60],
      jitter: 0,
    });
  return { attempt, inFlight };
}

test('an attempt whose activity result was lost is reported with its outcome; without an attempt it is unsent', async () => {
  const shop = await receiver();
  shop.behave({ kind: 'answer', status: 503 });
  const { record, subscriptionId } = await buildSubscriber(shop);
  const id = await record();
  const { attempt } = build();
  const atMs = Date.now();
  const failed = { status: 'RETRYING', attemptsMade: 1, httpStatus: 503, code: 'http_status' };
  expect(await attempt(id, subscriptionId, atMs)).toMatchObject({ ...failed, kind: 'failed' });
  // Temporal repeats an activity without a result; another request comes later.
  expect(await attempt(id, subscriptionId, atMs)).toMatchObject({ ...failed, kind: 'failed' });
  expect(await attempt(id, subscriptionId, Date.now() + 1_000)).toMatchObject({ ...failed, kind: 'unsent' });
  expect(shop.requests).toHaveLength(1);
});

test('the activity is retried for a delivery in flight, with an unsaved outcome, or beyond the share of retries', async () => {
  const shop = await receiver();
  const { record, subscriptionId } = await buildSubscriber(shop);
  const [claimed, held, third] = [await record(), await record(), await record()];
  const { attempt, inFlight } = build(buildInFlight({ perThrottled: 1 }));
  await claimOne(fixture.db, { deliveryId: claimed, startedAt: new Date(), reclaim: false });
  await expect(attempt(claimed, subscriptionId)).rejects.toMatchObject({ type: 'Busy' });
  const letGo = inFlight.hold({ deliveryId: held, attemptId: 'wha_1' }, performance.now());
  await expect(attempt(held, subscriptionId)).rejects.toMatchObject({ type: 'Busy' });
  letGo();
  const end = inFlight.startRetry(subscriptionId);
  await expect(attempt(third, subscriptionId)).rejects.toMatchObject({ type: 'Busy' });
  end?.();
  expect(await attempt(third, subscriptionId)).toMatchObject({ kind: 'delivered', status: 'DELIVERED' });
  expect(await delivery(third)).toMatchObject({ inFlightSince: null });
  expect(inFlight.held()).toEqual([]);
  expect(shop.requests).toHaveLength(1);
});
