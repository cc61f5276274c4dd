import type { MerchantScope } from '../../src/lib/scope.ts';
import { requestResend, type ResendRequest, type ResendTarget } from '../../src/webhooks/delivery/resend.ts';
import { DELIVERY_STATUSES, resendProblem } from '../../src/webhooks/delivery/states.ts';
import { findEvent } from '../../src/webhooks/events/queries.ts';
import { SubscriptionRow } from '../../src/webhooks/subscriptions/model.ts';
import { deleteSubscription } from '../../src/webhooks/subscriptions/operations.ts';
import { createFixture, type Fixture } from './fixture.ts';

let fixture: Fixture;
let scope: MerchantScope;

beforeAll(async () => {
  fixture = await createFixture();
});
beforeEach(async () => {
  scope = await fixture.newMerchant();
});
afterAll(async () => fixture.drop());

const resend = async (request: ResendTarget & Partial<ResendRequest>): Promise<string[]> =>
  fixture.runInTransaction(async (tx) => requestResend(fixture.deps, tx, { scope, ...request }));

const delivery = async (id: string) => fixture.db.knex()('webhookDelivery').where({ id }).first();

const openDeadLetters = async (deliveryId: string): Promise<number> =>
  (await fixture.db.knex()('webhookDeadLetter').where({ deliveryId }).whereNull('closedAt')).length;

const setActive = async (subscriptionId: string, active: boolean): Promise<void> => {
  await SubscriptionRow.query(fixture.db.knex()).findById(subscriptionId).patch({ active });
};

/** Lets all continue once all have arrived. */
function atOnce(count: number): () => Promise<void> {
  const waiting: (() => void)[] = [];
  return async () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === count) for (const go of waiting) go();
    });
}

describe('the rules of a resend', () => {
  test('FAILED, SKIPPED and RETRYING deliveries can be resent, a DELIVERED one by force, a PENDING one never', () => {
    const allowed = (force: boolean) =>
      DELIVERY_STATUSES.filter(
        (status) => resendProblem({ status, subscription: 'active', inFlight: false }, force) === null,
      );
    expect(allowed(false)).toEqual(['RETRYING', 'FAILED', 'SKIPPED']);
    expect(allowed(true)).toEqual(['RETRYING', 'DELIVERED', 'FAILED', 'SKIPPED']);
  });

  test.each(DELIVERY_STATUSES)(
    'a resend of a %s delivery is rejected without an active subscription and while an attempt is in flight',
    (status) => {
      for (const subscription of ['inactive', 'deleted'] as const) {
        expect(resendProblem({ status, subscription, inFlight: false }, true)).toContain(subscription);
      }
      expect(resendProblem({ status, subscription: 'active', inFlight: true }, true)).toContain('in flight');
    },
  );
});

describe('a resend of one event', () => {
  test('a FAILED delivery becomes PENDING, keeps its status before the resend, and its workflow is signalled', async () => {
    const { row: subscription } = await fixture.subscribe(scope);
    const { eventId, deliveryId } = await fixture.failedDelivery(scope);
    fixture.enqueued.length = 0;

    expect(await resend({ eventId })).toEqual([deliveryId]);

    expect(await delivery(deliveryId)).toMatchObject({
      status: 'PENDING',
      statusBeforeResend: 'FAILED',
      retryCount: 1,
    });
    expect((await delivery(deliveryId)).nextAttemptAt).toEqual(fixture.clock.now);
    expect(fixture.enqueued).toEqual([
      expect.objectContaining({
        kind: 'signalWithStart',
        workflowType: 'webhookDelivery',
        workflowId: `delivery-${eventId}-${subscription.id}`,
        signal: 'deliveryChanged',
        input: {
          deliveryId,
          eventId: expect.any(String),
          ...scope,
          merchantName: 'Abyssinia Coffee',
          eventType: 'payment.succeeded',
          subscriptionId: subscription.id,
          checkoutOrderNo: expect.any(String),
          receiverHost: 'hooks.example.com',
          attemptsMade: 1,
          lastOutcome: null,
          nextAttemptAtMs: null,
        },
      }),
    ]);
  });

  test('a resend that succeeds closes the dead letter; one that fails returns to FAILED and leaves it open', async () => {
    await fixture.subscribe(scope);
    const { eventId, deliveryId } = await fixture.failedDelivery(scope);
    expect(await openDeadLetters(deliveryId)).toBe(1);

    await resend({ eventId });
    expect(await fixture.attempt(deliveryId, { httpStatus: 500 })).toBe('FAILED');
    expect(await openDeadLetters(deliveryId)).toBe(1);

    await resend({ eventId });
    expect(await fixture.attempt(deliveryId, { httpStatus: 204 })).toBe('DELIVERED');
    expect(await openDeadLetters(deliveryId)).toBe(0);
  });

  test('a resend of a SKIPPED delivery that fails opens a dead letter', async () => {
    const { row: subscription } = await fixture.subscribe(scope, { active: false });
    const deliveryId = await fixture.deliveryId(await fixture.record(scope));
    await setActive(subscription.id, true);
    await resend({ deliveryIds: [deliveryId] });

    expect(await fixture.attempt(deliveryId, { httpStatus: 500 })).toBe('FAILED');
    expect((await delivery(deliveryId)).deadLetteredAt).toEqual(fixture.clock.now);
    const deadLetters = await fixture.db.knex()('webhookDeadLetter').where({ deliveryId });
    expect(deadLetters).toMatchObject([{ reason: 'resend_failed', closedAt: null }]);
  });

  test('a delivery that fails for the last time opens a dead letter with the reason "exhausted"', async () => {
    await fixture.subscribe(scope);
    const { deliveryId } = await fixture.failedDelivery(scope);
    const deadLetters = await fixture.db.knex()('webhookDeadLetter').where({ deliveryId });
    expect(deadLetters).toMatchObject([{ reason: 'exhausted', openedAt: fixture.clock.now, closedAt: null }]);
  });

  test('a DELIVERED delivery is resent only with force, and stays DELIVERED when that fails', async () => {
    await fixture.subscribe(scope);
    const eventId = await fixture.record(scope);
    const deliveryId = await fixture.deliveryId(eventId);
    await fixture.attempt(deliveryId, { httpStatus: 200 });

    await expect(resend({ eventId })).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringContaining('force'),
    });
    await resend({ eventId, force: true });
    expect(await delivery(deliveryId)).toMatchObject({ status: 'PENDING', statusBeforeResend: 'DELIVERED' });
    expect(await fixture.attempt(deliveryId, { httpStatus: 500 })).toBe('DELIVERED');
  });

  test('a forced resend that succeeds keeps the time of the first delivery', async () => {
    await fixture.subscribe(scope);
    const eventId = await fixture.record(scope);
    const deliveryId = await fixture.deliveryId(eventId);
    await fixture.attempt(deliveryId, { httpStatus: 200 });
    const { deliveredAt } = await delivery(deliveryId);
    fixture.clock.now = new Date(fixture.clock.now.getTime() + 60_000);

    await resend({ eventId, force: true });
    expect(await fixture.attempt(deliveryId, { httpStatus: 200 })).toBe('DELIVERED');
    expect((await delivery(deliveryId)).deliveredAt).toEqual(deliveredAt);
  });

  test('a RETRYING delivery gets one attempt outside its schedule when its subscription is given', async () => {
    const { row: subscription } = await fixture.subscribe(scope);
    const eventId = await fixture.record(scope);
    const deliveryId = await fixture.deliveryId(eventId);
    expect(await fixture.attempt(deliveryId, { httpStatus: 500 })).toBe('RETRYING');
    const { nextAttemptAt } = await delivery(deliveryId);

    await expect(resend({ eventId })).rejects.toMatchObject({ code: 'INVALID_STATE' });
    expect(await resend({ eventId, subscriptionId: subscription.id })).toEqual([deliveryId]);

    const after = await delivery(deliveryId);
    expect(after).toMatchObject({ status: 'RETRYING', statusBeforeResend: 'RETRYING', retryCount: 1, nextAttemptAt });

    expect(await fixture.attempt(deliveryId, { httpStatus: 500 })).toBe('RETRYING');
    expect(await delivery(deliveryId)).toMatchObject({ statusBeforeResend: null, retryCount: 1, nextAttemptAt });
    const [, manual] = await fixture.db.knex()('webhookAttempt').where({ deliveryId }).orderBy('sequence');
    expect(manual).toMatchObject({ source: 'manual', retryNumber: null, deliveryNumber: null });
  });

  test('a RETRYING delivery whose subscription is deactivated before its resend ends SKIPPED', async () => {
    const { row: subscription } = await fixture.subscribe(scope);
    const eventId = await fixture.record(scope);
    const deliveryId = await fixture.deliveryId(eventId);
    await fixture.attempt(deliveryId, { httpStatus: 500 });
    await resend({ eventId, subscriptionId: subscription.id });
    await setActive(subscription.id, false);

    await expect(fixture.attempt(deliveryId, { httpStatus: 200 })).rejects.toThrow('not claimed');
    expect(await delivery(deliveryId)).toMatchObject({
      status: 'SKIPPED',
      statusBeforeResend: null,
      nextAttemptAt: null,
    });
  });

  test('a resend is rejected while an attempt is in flight, and allowed once its mark has expired', async () => {
    await fixture.subscribe(scope);
    const { eventId, deliveryId } = await fixture.failedDelivery(scope);
    const sending = { inFlightAttemptId: 'wha_1', inFlightSince: fixture.db.knex().raw('now()') };
    await fixture.db.knex()('webhookDelivery').where({ id: deliveryId }).update(sending);
    await expect(resend({ eventId })).rejects.toMatchObject({ message: expect.stringContaining('in flight') });

    await fixture.db
      .knex()('webhookDelivery')
      .where({ id: deliveryId })
      .update({ inFlightSince: fixture.db.knex().raw(`now() - interval '10 seconds'`) });
    await expect(resend({ eventId })).resolves.toEqual([deliveryId]);
  });

  test('a SKIPPED delivery can be resent once its subscription is active again, and never after its deletion', async () => {
    const { row: subscription } = await fixture.subscribe(scope, { active: false });
    const eventId = await fixture.record(scope);
    await expect(resend({ eventId })).rejects.toMatchObject({ message: expect.stringContaining('inactive') });
    await setActive(subscription.id, true);
    await expect(resend({ eventId })).resolves.toHaveLength(1);

    await fixture.runInTransaction(async (tx) =>
      deleteSubscription(fixture.deps, tx, { ...scope, subscriptionId: subscription.id }),
    );
    await expect(resend({ eventId })).rejects.toMatchObject({ message: expect.stringContaining('deleted') });
  });

  test('of eight concurrent resends of a delivery one requests the attempt', async () => {
    await fixture.subscribe(scope);
    const { eventId } = await fixture.failedDelivery(scope);
    fixture.enqueued.length = 0;
    const inTransaction = atOnce(8);
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, async () =>
        fixture.runInTransaction(async (tx) => {
          await inTransaction();
          return requestResend(fixture.deps, tx, { scope, eventId });
        }),
      ),
    );
    const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason.code);
    expect(refused).toEqual(Array.from({ length: 7 }, () => 'INVALID_STATE'));
    expect(fixture.enqueued).toHaveLength(1);
  });

  test('of several deliveries of an event the failed ones are resent and the delivered one is not', async () => {
    await fixture.subscribe(scope);
    await fixture.subscribe(scope, { url: 'https://other.example.com/' });
    const eventId = await fixture.record(scope);
    const ids = (await fixture.db.knex()('webhookDelivery').where({ eventId }).orderBy('id')).map((row) =>
      String(row.id),
    );
    await fixture.attempt(String(ids[0]), { httpStatus: 200 });
    await fixture.attempt(String(ids[1]), { code: 'timeout' }, true);
    expect(await resend({ eventId })).toEqual([ids[1]]);
  });

  test('a resend requested by the workflow itself enqueues no signal', async () => {
    await fixture.subscribe(scope);
    const { deliveryId } = await fixture.failedDelivery(scope);
    fixture.enqueued.length = 0;
    expect(await resend({ deliveryIds: [deliveryId], signal: false })).toEqual([deliveryId]);
    expect(fixture.enqueued).toEqual([]);
  });

  test('a resend by another merchant, in another environment or of an unknown event is NOT_FOUND', async () => {
    await fixture.subscribe(scope);
    const { eventId } = await fixture.failedDelivery(scope);
    const stranger = await fixture.newMerchant();
    const asked: ResendRequest[] = [
      { eventId, scope: stranger },
      { eventId, scope: { ...scope, environment: 'live' } },
      { eventId: 'evt_nobody', scope },
    ];
    const messages = await Promise.all(
      asked.map(async (request) =>
        resend(request).then(
          () => 'was allowed',
          (error: Error) => error.message,
        ),
      ),
    );
    expect(new Set(messages)).toEqual(new Set([expect.stringContaining('Event not found')]));
    await expect(resend({ eventId, subscriptionId: 'whs_nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

test('the status of an event is that of its worst delivery', async () => {
  await fixture.subscribe(scope);
  const { eventId } = await fixture.failedDelivery(scope);
  const status = async () => (await findEvent(fixture.db, { ...scope, eventId })).status;
  expect(await status()).toBe('FAILED');
  await resend({ eventId });
  expect(await status()).toBe('PENDING');
});
