import type { MerchantScope } from '../../src/lib/scope.ts';
import { requestResend } from '../../src/webhooks/delivery/resend.ts';
import {
  deleteOldReceived,
  listRequests,
  storeRequest,
  type ReceiverTarget,
} from '../../src/webhooks/receiver/requests.ts';
import { changeSubscription, deleteSubscription } from '../../src/webhooks/subscriptions/operations.ts';
import type { SandboxReceiver } from '../../src/webhooks/subscriptions/schema.ts';
import { stubKey } from '../support/http.ts';
import { skipTime } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, readDelivery, type WorkerFixture } from '../support/worker.ts';
import { startSubscriptionsApi, type SubscriptionsApi } from './subscriptions-api.ts';

/** What storing a request needs of its subscription. */
const KEPT: Omit<ReceiverTarget, 'id'> = { secret: Buffer.alloc(0), headerNames: [], sandboxReceiver: 'ok' };

describe('the API of the built-in receiver', () => {
  const WANTED = { sandboxReceiver: 'ok', eventTypes: ['*'] };
  let api: SubscriptionsApi;

  beforeAll(async () => {
    api = await startSubscriptionsApi();
  });
  beforeEach(() => api.renew());
  afterAll(() => api.close());

  test('a subscription without a URL gets an address of the service itself, once per merchant', async () => {
    const { status, body } = await api.send('POST', WANTED);
    expect(status).toBe(201);
    const { subscriptionId, url, sandboxReceiver, secret } = body.data;
    expect(url).toBe(`https://pay.example.et/sandbox/receiver/${subscriptionId}`);
    expect(sandboxReceiver).toBe('ok');
    expect(secret).toMatch(/^whsec_/);
    const second = await api.send('POST', WANTED);
    expect(second.status).toBe(409);
    expect(second.body.message).toContain(`There is a built-in receiver already: ${subscriptionId}.`);
    expect((await api.send(`DELETE /${subscriptionId}`)).status).toBe(200);
    expect((await api.send('POST', WANTED)).status).toBe(201);
  });

  test.each([
    ['both a URL and the receiver', { ...WANTED, url: 'https://hooks.example.com/' }, 'url'],
    ['neither of them', { eventTypes: ['*'] }, 'url'],
    ['an answer that it does not have', { ...WANTED, sandboxReceiver: 'teapot' }, 'sandboxReceiver'],
  ])('%s is rejected', async (_what, body, field) => {
    const response = await api.send('POST', body);
    expect(response.status).toBe(400);
    expect(response.body.error.details).toEqual([expect.objectContaining({ field })]);
  });

  test('there is none in live', async () => {
    const key = stubKey(api.scope().merchantId, 'live');
    const response = await api.send('POST', WANTED, key);
    expect(response.status).toBe(400);
    expect(response.body.error.details).toEqual([
      { field: 'sandboxReceiver', issue: 'must not be given in live: it is for the sandbox', code: 'not_allowed' },
    ]);
  });

  test('its answer can be changed, its URL cannot, and no other subscription becomes one', async () => {
    const { subscriptionId } = (await api.send('POST', WANTED)).body.data;
    const changed = await api.send(`PATCH /${subscriptionId}`, { sandboxReceiver: 'slow' });
    expect(changed.body.data).toMatchObject({ sandboxReceiver: 'slow' });
    const moved = await api.send(`PATCH /${subscriptionId}`, { url: 'https://hooks.example.com/' });
    expect(moved.body.error.details).toEqual([expect.objectContaining({ field: 'url' })]);
    const own = await api.createOne();
    const turned = await api.send(`PATCH /${own.subscriptionId}`, { sandboxReceiver: 'ok' });
    expect(turned.body.error.details).toEqual([expect.objectContaining({ field: 'sandboxReceiver' })]);
  });

  test('its requests are readable by its merchant only, and in its environment only', async () => {
    const { subscriptionId } = (await api.send('POST', WANTED)).body.data;
    const path = `GET /${subscriptionId}/requests`;
    expect((await api.send(path)).body.data).toEqual([]);
    const to = { ...KEPT, id: subscriptionId };
    await storeRequest(api.fixture.db, to, {
      headers: { 'content-type': 'application/json', 'x-service-event-id': 'evt_01K0Z5M9W3E7Q8R2T4V6X8Y0ZA' },
      body: Buffer.from('{"event":"payment.succeeded"}'),
      problem: null,
      httpStatus: 200,
    });
    expect((await api.send(path)).body.data).toEqual([
      {
        requestId: expect.stringMatching(/^whr_/),
        receivedAt: expect.any(String),
        headers: { 'content-type': 'application/json', 'x-service-event-id': 'evt_01K0Z5M9W3E7Q8R2T4V6X8Y0ZA' },
        body: '{"event":"payment.succeeded"}',
        bodyBytes: 29,
        problem: null,
        httpStatus: 200,
      },
    ]);
    expect((await api.send(path, undefined, stubKey(api.scope().merchantId, 'live'))).status).toBe(404);
    await api.renew();
    expect((await api.send(path)).status).toBe(404);
  });
});

describe('deliveries to the built-in receiver', () => {
  let fixture: WorkerFixture;
  let scope: MerchantScope;
  let subscription: { id: string; secret: string };

  beforeAll(async () => {
    // No other delivery may go to this machine.
    fixture = await createWorkerFixture({ TASK_QUEUES: 'webhooks', ALLOW_LOOPBACK_WEBHOOKS: 'false' });
    await fixture.startWorker().ready;
  });
  beforeEach(async () => {
    scope = await fixture.newMerchant();
    const headers = { Authorization: 'Bearer of-the-shop' };
    subscription = await fixture.subscribe(scope, { sandboxReceiver: 'ok', headers });
  });
  afterAll(() => fixture.close());

  const deps = () => ({
    clock: () => new Date(),
    keyRing: fixture.config.keyRing,
    checkUrl: () => [],
    baseUrl: fixture.config.PUBLIC_BASE_URL,
  });
  const target = () => ({ ...scope, subscriptionId: subscription.id });
  const answer = async (sandboxReceiver: SandboxReceiver) =>
    fixture.runInTransaction((tx) => changeSubscription(deps(), tx, { ...target(), changes: { sandboxReceiver } }));
  const received = async () => listRequests(fixture.db, subscription.id);
  const settled = async (eventId: string, attempts: number, status: string) =>
    until(`${attempts} attempts and ${status}`, async () => {
      const delivery = await readDelivery(fixture.db, eventId);
      return delivery.attempts === attempts && delivery.status === status && delivery;
    });

  test('arrive with a valid signature and their exact body, and the values of own headers stay hidden', async () => {
    const eventId = await fixture.record(scope);
    await settled(eventId, 1, 'DELIVERED');
    const [request] = await received();
    expect(request).toMatchObject({
      requestId: expect.stringMatching(/^whr_/),
      problem: null,
      httpStatus: 200,
      headers: {
        host: new URL(fixture.config.PUBLIC_BASE_URL).host,
        authorization: '***',
        'x-service-event-id': eventId,
        'x-service-signature': expect.stringMatching(/^sha256=/),
      },
    });
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ event: 'payment.succeeded', event_id: eventId });
    expect(request?.bodyBytes).toBe(Buffer.byteLength(request?.body ?? ''));
  });

  test('fail as chosen, are retried by the schedule, and are delivered once it answers 200 again', async () => {
    await answer('error');
    const eventId = await fixture.record(scope);
    const { workflowId } = await settled(eventId, 1, 'RETRYING');
    await skipTime(fixture.temporal.client, workflowId, 70_000);
    await settled(eventId, 2, 'RETRYING');
    expect((await received()).map(({ httpStatus }) => httpStatus)).toEqual([500, 500]);
    await answer('slow');
    const late = await fixture.record(scope);
    await settled(late, 1, 'RETRYING');
    const { lastFailure } = await fixture.db.knex()('webhookDelivery').where({ eventId: late }).first();
    expect(lastFailure).toMatchObject({ code: 'timeout' });
    await answer('ok');
    await fixture.runInTransaction((tx) =>
      requestResend({ clock: () => new Date() }, tx, { eventId, scope, subscriptionId: subscription.id }),
    );
    await settled(eventId, 3, 'DELIVERED');
  });

  test('of another secret are stored with the reason, and answered with 401', async () => {
    const other = await fixture.subscribe(await fixture.newMerchant(), { sandboxReceiver: 'ok' });
    const { url } = await fixture.db.knex()('webhookSubscription').where({ id: other.id }).first('url');
    // Deliveries of this subscription go to the other one's address, signed with this one's secret.
    await fixture.db.knex()('webhookSubscription').where({ id: subscription.id }).update({ url, headers: null });
    await settled(await fixture.record(scope), 1, 'RETRYING');
    expect(await listRequests(fixture.db, other.id)).toMatchObject([
      { httpStatus: 401, problem: expect.stringContaining('The signature does not match.') },
    ]);
  });

  test('are kept: the last 50, of at most 16,384 characters, for 7 days, and until the subscription is deleted', async () => {
    const to = { ...KEPT, id: subscription.id };
    const store = async (body: string) =>
      storeRequest(fixture.db, to, { headers: {}, body: Buffer.from(body), problem: null, httpStatus: 200 });
    for (let number = 1; number <= 53; number += 1) await store(`${number}`);
    const kept = await received();
    expect(kept.map(({ body }) => Number(body))).toEqual(Array.from({ length: 50 }, (_one, index) => 53 - index));
    expect(await fixture.db.knex()('sandboxReceiverRequest').where({ subscriptionId: to.id })).toHaveLength(50);
    await store('ሀ'.repeat(20_000));
    expect((await received())[0]).toMatchObject({ body: 'ሀ'.repeat(16_384), bodyBytes: 60_000 });

    const ageOf = async (days: number) => {
      const createdAt = new Date(Date.now() - days * 86_400_000);
      await fixture.db.knex()('sandboxReceiverRequest').where({ subscriptionId: to.id }).update({ createdAt });
    };
    await ageOf(6.9);
    await deleteOldReceived(fixture.db);
    expect(await received()).toHaveLength(50);
    await ageOf(7.1);
    await deleteOldReceived(fixture.db);
    expect(await received()).toEqual([]);
    await store('one more');
    await fixture.runInTransaction((tx) => deleteSubscription(deps(), tx, target()));
    expect(await received()).toEqual([]);
  });
});
