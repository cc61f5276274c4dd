import { SubscriptionRow } from '../../src/webhooks/model.ts';
import { findEvent, type Owner } from '../../src/webhooks/queries.ts';
import { cancelResendJob, createResendJob, findResendJob, runResendJobs } from '../../src/webhooks/resend-jobs.ts';
import { requestResend, type ResendRequest } from '../../src/webhooks/resend.ts';
import { DELIVERY_STATUSES, resendStep } from '../../src/webhooks/states.ts';
import { deleteSubscription } from '../../src/webhooks/subscriptions.ts';
import { createWorld, type World } from './world.ts';

let world: World;
let owner: Owner;

beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  owner = await world.newMerchant();
});
afterAll(async () => world.drop());

const resend = async (request: ResendRequest): Promise<string[]> =>
  world.runChange(async (change) => requestResend(world.deps, change, { owner, ...request }));

const delivery = async (id: string) => world.db('webhookDelivery').where({ id }).first();

const openDeadLetters = async (deliveryId: string): Promise<number> =>
  (await world.db('webhookDeadLetter').where({ deliveryId }).whereNull('closedAt')).length;

const setActive = async (subscriptionId: string, active: boolean): Promise<void> => {
  await SubscriptionRow.query(world.db).findById(subscriptionId).patch({ active });
};

describe('the rules', () => {
  test('only FAILED and SKIPPED are sent again unasked, RETRYING is hastened, DELIVERED needs force', () => {
    const steps = (force: boolean) =>
      DELIVERY_STATUSES.map((status) => resendStep({ status, subscription: 'active', sending: false }, force).do);
    expect(steps(false)).toEqual(['refuse', 'hasten', 'refuse', 'send', 'send']);
    expect(steps(true)).toEqual(['refuse', 'hasten', 'send', 'send', 'send']);
  });

  test.each(DELIVERY_STATUSES)('%s is refused without an active subscription and while being sent', (status) => {
    for (const subscription of ['inactive', 'deleted'] as const) {
      expect(resendStep({ status, subscription, sending: false }, true).do).toBe('refuse');
    }
    expect(resendStep({ status, subscription: 'active', sending: true }, true).do).toBe('refuse');
  });
});

describe('one event', () => {
  test('a FAILED delivery becomes PENDING, remembers where it came from, and its workflow is told', async () => {
    const { row: subscription } = await world.subscribe(owner);
    const { eventId, deliveryId } = await world.failedDelivery(owner);
    world.told.length = 0;

    expect(await resend({ eventId })).toEqual([deliveryId]);

    expect(await delivery(deliveryId)).toMatchObject({ status: 'PENDING', resendFrom: 'FAILED', rungsUsed: 1 });
    expect((await delivery(deliveryId)).nextAttemptAt).toEqual(world.clock.now);
    expect(world.told).toEqual([
      expect.objectContaining({
        kind: 'signalWithStart',
        workflowType: 'webhookDelivery',
        workflowId: `delivery-${eventId}-${subscription.id}`,
        signal: 'resend',
        input: {
          deliveryId,
          ...owner,
          eventType: 'payment.succeeded',
          subscriptionId: subscription.id,
          attemptsMade: 1,
          nextAttemptAtMs: null,
          lane: 'slow',
        },
      }),
    ]);
  });

  test('a resend that succeeds closes the dead letter, one that fails goes back to FAILED with it open', async () => {
    await world.subscribe(owner);
    const { eventId, deliveryId } = await world.failedDelivery(owner);
    expect(await openDeadLetters(deliveryId)).toBe(1);

    await resend({ eventId });
    expect(await world.attempt(deliveryId, { httpStatus: 500 })).toBe('FAILED');
    expect(await openDeadLetters(deliveryId)).toBe(1);

    await resend({ eventId });
    expect(await world.attempt(deliveryId, { httpStatus: 204 })).toBe('DELIVERED');
    expect(await openDeadLetters(deliveryId)).toBe(0);
  });

  test('a DELIVERED delivery is sent again only by force, and stays DELIVERED when that fails', async () => {
    await world.subscribe(owner);
    const eventId = await world.record(owner);
    const deliveryId = await world.deliveryId(eventId);
    await world.attempt(deliveryId, { httpStatus: 200 });

    await expect(resend({ eventId })).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringContaining('force'),
    });
    await resend({ eventId, force: true });
    expect(await delivery(deliveryId)).toMatchObject({ status: 'PENDING', resendFrom: 'DELIVERED' });
    expect(await world.attempt(deliveryId, { httpStatus: 500 })).toBe('DELIVERED');
  });

  test('a RETRYING delivery is brought forward when its subscription is named and left alone otherwise', async () => {
    const { row: subscription } = await world.subscribe(owner);
    const eventId = await world.record(owner);
    const deliveryId = await world.deliveryId(eventId);
    expect(await world.attempt(deliveryId, { httpStatus: 500 })).toBe('RETRYING');

    await expect(resend({ eventId })).rejects.toMatchObject({ code: 'INVALID_STATE' });
    expect(await resend({ eventId, subscriptionId: subscription.id })).toEqual([deliveryId]);

    const after = await delivery(deliveryId);
    expect(after).toMatchObject({ status: 'RETRYING', resendFrom: null, rungsUsed: 1 });
    expect(after.nextAttemptAt).toEqual(world.clock.now);
  });

  test('it is refused while an attempt is being sent, and allowed once that claim is too old to be alive', async () => {
    await world.subscribe(owner);
    const { eventId, deliveryId } = await world.failedDelivery(owner);
    const sending = { sendingAttemptId: 'wha_1', sendingSince: world.db.fn.now() };
    await world.db('webhookDelivery').where({ id: deliveryId }).update(sending);
    await expect(resend({ eventId })).rejects.toMatchObject({ message: expect.stringContaining('being sent') });

    await world
      .db('webhookDelivery')
      .where({ id: deliveryId })
      .update({ sendingSince: world.db.raw(`now() - interval '10 seconds'`) });
    await expect(resend({ eventId })).resolves.toEqual([deliveryId]);
  });

  test('a SKIPPED delivery is sent once its subscription is active again, and never after it is deleted', async () => {
    const { row: subscription } = await world.subscribe(owner, { active: false });
    const eventId = await world.record(owner);
    await expect(resend({ eventId })).rejects.toMatchObject({ message: expect.stringContaining('inactive') });
    await setActive(subscription.id, true);
    await expect(resend({ eventId })).resolves.toHaveLength(1);

    await world.runChange(async (change) =>
      deleteSubscription(world.deps, change, { ...owner, subscriptionId: subscription.id }),
    );
    await expect(resend({ eventId })).rejects.toMatchObject({ message: expect.stringContaining('deleted') });
  });

  test('fifty at once ask for one attempt', async () => {
    await world.subscribe(owner);
    const { eventId } = await world.failedDelivery(owner);
    world.told.length = 0;
    const results = await Promise.allSettled(Array.from({ length: 50 }, async () => resend({ eventId })));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    expect(world.told).toHaveLength(1);
  });

  test('several deliveries: the failed ones are taken, the delivered one is left', async () => {
    await world.subscribe(owner);
    await world.subscribe(owner, { url: 'https://other.example.com/' });
    const eventId = await world.record(owner);
    const ids = (await world.db('webhookDelivery').where({ eventId }).orderBy('id')).map((row) => String(row.id));
    await world.attempt(String(ids[0]), { httpStatus: 200 });
    await world.attempt(String(ids[1]), { code: 'timeout' }, true);
    expect(await resend({ eventId })).toEqual([ids[1]]);
  });

  test('the workflow itself asks without being told back', async () => {
    await world.subscribe(owner);
    const { deliveryId } = await world.failedDelivery(owner);
    world.told.length = 0;
    expect(await resend({ deliveryIds: [deliveryId], tell: false })).toEqual([deliveryId]);
    expect(world.told).toEqual([]);
  });

  test('another merchant, another environment and an unknown event are NOT_FOUND alike', async () => {
    await world.subscribe(owner);
    const { eventId } = await world.failedDelivery(owner);
    const stranger = await world.newMerchant();
    const asked: ResendRequest[] = [
      { eventId, owner: stranger },
      { eventId, owner: { ...owner, environment: 'live' } },
      { eventId: 'evt_nobody', owner },
    ];
    const messages = await Promise.all(
      asked.map(async (request) =>
        resend(request).then(
          () => 'was allowed',
          (error: Error) => error.message,
        ),
      ),
    );
    expect(new Set(messages)).toEqual(new Set([expect.stringContaining('No such event')]));
    await expect(resend({ eventId, subscriptionId: 'whs_nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('in bulk', () => {
  const range = () => ({
    startDate: '2025-06-15',
    endDate: '2025-06-15',
    from: new Date('2025-06-14T21:00:00Z'),
    until: new Date('2025-06-15T21:00:00Z'),
  });
  const jobDeps = () => ({ ...world.deps, runChange: world.runChange });
  const startJob = async (limit = 10_000) =>
    world.runChange(async (change) =>
      createResendJob(world.deps, change, { ...owner, status: 'FAILED', range: range(), limit }),
    );
  const tick = async (ratePerSecond: number): Promise<number> => {
    world.clock.now = new Date(world.clock.now.getTime() + 1_000);
    return runResendJobs(jobDeps(), ratePerSecond);
  };
  const failMany = async (count: number): Promise<string[]> => {
    await world.subscribe(owner);
    const ids: string[] = [];
    for (let made = 0; made < count; made += 1) ids.push((await world.failedDelivery(owner)).deliveryId);
    return ids;
  };

  test('a job hands out at its pace, counts what became of it, and is DONE when all has ended', async () => {
    const ids = await failMany(5);
    const job = await startJob();
    expect(job.matched).toBe(5);

    expect([await tick(2), await tick(2), await tick(2), await tick(2)]).toEqual([2, 2, 1, 0]);
    expect(await findResendJob(world.db, { ...owner, jobId: job.id })).toMatchObject({ status: 'RUNNING', sent: 5 });

    for (const [index, id] of ids.entries()) await world.attempt(id, { httpStatus: index === 0 ? 500 : 200 });
    await tick(2);
    expect(await findResendJob(world.db, { ...owner, jobId: job.id })).toMatchObject({
      status: 'DONE',
      matched: 5,
      sent: 5,
      delivered: 4,
      failed: 1,
      endedAt: world.clock.now,
    });
  });

  test('two workers that tick in the same second keep one pace and send nothing twice', async () => {
    await failMany(6);
    await startJob();
    world.told.length = 0;
    world.clock.now = new Date(world.clock.now.getTime() + 1_000);
    await Promise.all([runResendJobs(jobDeps(), 2), runResendJobs(jobDeps(), 2), runResendJobs(jobDeps(), 2)]);
    expect(world.told).toHaveLength(2);
    while ((await tick(2)) > 0);
    expect(new Set(world.told.map((message) => message.workflowId)).size).toBe(6);
    expect(world.told).toHaveLength(6);
  });

  test('what was delivered meanwhile is not sent again but counts as delivered', async () => {
    const [id = ''] = await failMany(2);
    const job = await startJob();
    await resend({ deliveryIds: [id] });
    await world.attempt(id, { httpStatus: 200 });
    world.told.length = 0;
    await tick(10);
    expect(world.told).toHaveLength(1);
    expect(await findResendJob(world.db, { ...owner, jobId: job.id })).toMatchObject({ sent: 2, delivered: 1 });
  });

  test('cancelling stops it, twice is no error, and what was sent still counts', async () => {
    const ids = await failMany(3);
    const job = await startJob();
    await tick(1);
    const cancel = async () => world.runChange(async (change) => cancelResendJob(change, { ...owner, jobId: job.id }));
    await cancel();
    expect(await cancel()).toMatchObject({ status: 'CANCELLED', sent: 1 });
    expect(await tick(10)).toBe(0);
    const sent = await world.db('webhookDelivery').whereIn('id', ids).where({ status: 'PENDING' });
    await world.attempt(String(sent[0].id), { httpStatus: 200 });
    await tick(10);
    expect(await findResendJob(world.db, { ...owner, jobId: job.id })).toMatchObject({
      status: 'CANCELLED',
      sent: 1,
      delivered: 1,
      endedAt: world.clock.now,
    });
  });

  test('limit, other days, other merchants and inactive subscriptions bound what matches', async () => {
    await failMany(3);
    expect((await startJob(2)).matched).toBe(2);
    const mine = owner;
    owner = await world.newMerchant();
    const none = await startJob();
    expect(none.matched).toBe(0);
    await tick(1);
    expect(await findResendJob(world.db, { ...owner, jobId: none.id })).toMatchObject({ status: 'DONE', sent: 0 });
    await expect(findResendJob(world.db, { ...mine, jobId: none.id })).rejects.toMatchObject({ code: 'NOT_FOUND' });

    owner = mine;
    await SubscriptionRow.query(world.db).where({ merchantId: owner.merchantId }).patch({ active: false });
    expect((await startJob()).matched).toBe(0);
  });

  test('the sixth running job is refused, however many ask at once', async () => {
    await failMany(1);
    const started = await Promise.allSettled(Array.from({ length: 10 }, async () => startJob()));
    expect(started.filter((result) => result.status === 'fulfilled')).toHaveLength(5);
  });
});

test('an event tells its worst delivery', async () => {
  await world.subscribe(owner);
  const { eventId } = await world.failedDelivery(owner);
  const status = async () => (await findEvent(world.db, { ...owner, eventId, withPayload: false })).status;
  expect(await status()).toBe('FAILED');
  await resend({ eventId });
  expect(await status()).toBe('PENDING');
});
