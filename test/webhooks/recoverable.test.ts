import { rows } from '../../src/lib/db.ts';
import { findRecoverableDeliveries } from '../../src/webhooks/delivery/workflow.ts';
import { deleteSubscription } from '../../src/webhooks/subscriptions/operations.ts';
import { receiver } from '../support/sending.ts';
import { buildSubscriber, delivery, useFixtures, fixture } from './dispatching.ts';

useFixtures();

/** As after a first attempt that failed long ago. */
const makeRetrying = async (ids: string[], seconds: number): Promise<unknown> =>
  rows(
    fixture.db,
    `UPDATE webhook_delivery SET status = 'RETRYING', created_at = now() - interval '1 day',
       next_attempt_at = now() - CAST(:seconds AS integer) * interval '1 second' WHERE id = ANY (:ids)`,
    { ids, seconds },
  );

test('a subscription with many overdue retries hides no overdue retry of another', async () => {
  const shop = await receiver();
  const [hanging, fine] = [await buildSubscriber(shop), await buildSubscriber(shop)];
  const overdue: string[] = [];
  while (overdue.length < 30) overdue.push(await hanging.record());
  const [lost, waiting] = [await fine.record(), await fine.record()];
  await makeRetrying(overdue, 3_600);
  await makeRetrying([lost], 120);
  await makeRetrying([waiting], -120);
  const page = { after: '', limit: 200 };
  const found = await findRecoverableDeliveries(fixture.db, { ...page, onlyPastDue: true });
  expect(found.filter(({ id }) => overdue.includes(id))).toHaveLength(5);
  expect(found.filter(({ id }) => !overdue.includes(id))).toMatchObject([{ id: lost, overdue: true }]);
  expect(await findRecoverableDeliveries(fixture.db, { ...page, onlyPastDue: false })).toHaveLength(32);
});

test('a retry is recovered half a minute after the last attempt, since Temporal lists the workflow of it late', async () => {
  const { record } = await buildSubscriber(await receiver());
  const [made, lost] = [await record(), await record()];
  await makeRetrying([made, lost], 120);
  const attempted = `UPDATE webhook_delivery SET last_attempt_at = now() - CAST(:seconds AS integer) * interval '1 second' WHERE id = :id`;
  await rows(fixture.db, attempted, { id: made, seconds: 25 });
  await rows(fixture.db, attempted, { id: lost, seconds: 35 });
  for (const onlyPastDue of [true, false]) {
    const found = await findRecoverableDeliveries(fixture.db, { after: '', limit: 200, onlyPastDue });
    expect(found.map(({ id }) => id)).toEqual([lost]);
  }
});

test('a delivery that succeeds while its subscription is deleted stays DELIVERED', async () => {
  const { db, runInTransaction, deps } = fixture;
  const { record, subscriptionId } = await buildSubscriber(await receiver());
  const [made, waiting, retrying] = [await record(), await record(), await record()];
  await makeRetrying([retrying], -60);
  const { merchantId, environment } = await delivery(made);
  await db.transaction(async (trx) => {
    await trx.knex()('webhookDelivery').where({ id: made }).update({ status: 'DELIVERED', nextAttemptAt: null });
    await runInTransaction((tx) => deleteSubscription(deps, tx, { merchantId, environment, subscriptionId }));
  });
  expect(await delivery(made)).toMatchObject({ status: 'DELIVERED' });
  expect(await delivery(waiting)).toMatchObject({ status: 'SKIPPED', nextAttemptAt: null });
  expect(await delivery(retrying)).toMatchObject({ status: 'SKIPPED', nextAttemptAt: null });
});
