import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildFixture, buildMerchant, buildSession } from '../support/build.ts';
import { stubKey, type HttpResponse, type TestServer } from '../support/http.ts';
import { startWebhookApi } from './api.ts';
import { createFixture, type Fixture } from './fixture.ts';

const PATH = '/api/checkout/webhooks';
const START = new Date('2025-06-15T12:00:00.000Z');

let fixture: Fixture;
let api: TestServer;
let scope: MerchantScope;

beforeAll(async () => {
  fixture = await createFixture();
  api = await startWebhookApi(fixture);
});
beforeEach(async () => {
  scope = await fixture.newMerchant();
  fixture.clock.now = START;
});
afterAll(async () => {
  await api.close();
  await fixture.drop();
});

const get = async (path: string, key = stubKey(scope.merchantId)) => api.send('GET', PATH + path, { key });
const post = async (path: string, body: unknown = {}, key = stubKey(scope.merchantId)) =>
  api.send('POST', PATH + path, { key, body });
const idsOf = ({ body }: Pick<HttpResponse, 'body'>): string[] =>
  body.data.map((event: { eventId: string }) => event.eventId);
const recordAt = async (instant: string): Promise<string> => {
  fixture.clock.now = new Date(instant);
  const id = await fixture.record(scope);
  fixture.clock.now = START;
  return id;
};

describe('listing events', () => {
  test('returns an event with all its fields and deliveries', async () => {
    const { row } = await fixture.subscribe(scope);
    const { eventId, deliveryId } = await fixture.failedDelivery(scope);
    const { status, body } = await get('/events');
    expect(status).toBe(200);
    const now = START.toISOString();
    expect(body.data).toEqual([
      {
        eventId,
        event: 'payment.succeeded',
        apiVersion: 'v1.0',
        ...scope,
        resourceType: 'transaction',
        resourceId: expect.stringMatching(/^txn_/),
        status: 'FAILED',
        createdAt: now,
        deliveries: [
          {
            deliveryId,
            subscriptionId: row.id,
            url: row.url,
            status: 'FAILED',
            attempts: 1,
            lastAttemptAt: now,
            lastHttpStatus: 500,
            lastFailure: { code: 'http_status', message: 'it was http_status' },
            nextAttemptAt: null,
            deadLetteredAt: now,
            deliveredAt: null,
          },
        ],
      },
    ]);
    expect(body.pagination).toEqual({ total: 1, page: 1, limit: 20, totalPages: 1, nextCursor: null });
    expect((await get(`/events/${eventId}`)).body.data).toEqual(body.data[0]);
  });

  test('returns the payload only with include=payload, also for a single event', async () => {
    const eventId = await fixture.record(scope);
    const plain = await get('/events');
    expect(plain.body.data[0]).not.toHaveProperty('payload');
    const [listed, alone] = [await get('/events?include=payload'), await get(`/events/${eventId}?include=payload`)];
    const payload = { event: 'payment.succeeded', event_id: eventId, api_version: 'v1.0', data: { ...scope } };
    expect(listed.body.data[0].payload).toMatchObject(payload);
    expect(alone.body.data.payload).toEqual(listed.body.data[0].payload);
  });

  test('a status filter finds the events with a delivery in that state', async () => {
    const alone = await fixture.record(scope);
    const [first, second] = [
      (await fixture.subscribe(scope)).row,
      (await fixture.subscribe(scope, { url: 'https://second.example.com/' })).row,
    ];
    const made = { DELIVERED: '', RETRYING: '', FAILED: '', PENDING: '', SKIPPED: '' };
    const outcomes = { DELIVERED: { httpStatus: 200 }, RETRYING: { httpStatus: 500 }, FAILED: { httpStatus: 500 } };
    for (const status of ['DELIVERED', 'RETRYING', 'FAILED', 'PENDING'] as const) {
      made[status] = await fixture.record(scope);
      await fixture.attempt(await fixture.deliveryId(made[status], first.id), { httpStatus: 200 });
      if (status === 'PENDING') continue;
      await fixture.attempt(await fixture.deliveryId(made[status], second.id), outcomes[status], status === 'FAILED');
    }
    await fixture.db.knex()('webhookSubscription').where({ id: second.id }).update({ active: false });
    made.SKIPPED = await fixture.record(scope);
    await fixture.attempt(await fixture.deliveryId(made.SKIPPED, first.id), { httpStatus: 200 });

    const list = async (query: string) => idsOf(await get(`/events?${query}`)).toSorted();
    for (const status of ['RETRYING', 'FAILED', 'PENDING', 'SKIPPED'] as const) {
      expect([status, await list(`status=${status}`)]).toEqual([status, [made[status]]]);
      expect([status, await list(`status=${status}&subscriptionId=${second.id}`)]).toEqual([status, [made[status]]]);
      expect([status, await list(`status=${status}&subscriptionId=${first.id}`)]).toEqual([status, []]);
    }
    expect(await list('status=DELIVERED')).toEqual(Object.values(made).toSorted());
    expect(await list(`status=DELIVERED&subscriptionId=${second.id}`)).toEqual([made.DELIVERED]);
    expect(await list('status=NO_SUBSCRIBERS')).toEqual([alone]);
    expect(await list(`status=NO_SUBSCRIBERS&subscriptionId=${second.id}`)).toEqual([]);
    expect(await list('status=NO_SUBSCRIBERS,FAILED')).toEqual([alone, made.FAILED].toSorted());
    expect((await get('/events?status=FAILED,RETRYING')).body.pagination.total).toBe(2);
    expect((await get('/events?status=ALL')).body.pagination.total).toBe(6);
  });

  test("an event's own status is that of its worst delivery", async () => {
    const { row } = await fixture.subscribe(scope);
    const { row: other } = await fixture.subscribe(scope, { url: 'https://second.example.com/' });
    await fixture.db.knex()('webhookSubscription').where({ id: other.id }).update({ active: false });
    const eventId = await fixture.record(scope);
    const status = async () => (await get(`/events/${eventId}`)).body.data.status;
    expect(await status()).toBe('PENDING');
    const deliveryId = await fixture.deliveryId(eventId, row.id);
    await fixture.attempt(deliveryId, { httpStatus: 500 });
    expect(await status()).toBe('RETRYING');
    await fixture.attempt(deliveryId, { httpStatus: 200 });
    expect(await status()).toBe('DELIVERED');
    await fixture.db.knex()('webhookDelivery').where({ id: deliveryId }).update({ status: 'SKIPPED' });
    expect(await status()).toBe('SKIPPED');
    await fixture.db.knex()('webhookDelivery').where({ id: deliveryId }).update({ status: 'FAILED' });
    expect(await status()).toBe('FAILED');
  });

  test.each(['SKIPPED', 'FAILED'])(
    'the events with status %s are those that a bulk resend of it takes',
    async (status) => {
      const { row } = await fixture.subscribe(scope);
      const { row: other } = await fixture.subscribe(scope, { url: 'https://second.example.com/' });
      for (let i = 0; i < 5; i += 1) {
        const eventId = await fixture.record(scope);
        await fixture.attempt(await fixture.deliveryId(eventId, row.id), { httpStatus: 200 });
        await fixture.db.knex()('webhookDelivery').where({ eventId, subscriptionId: other.id }).update({ status });
      }
      const listed = await get(`/events?status=${status}&startDate=2025-06-15&endDate=2025-06-15`);
      expect(listed.body.pagination.total).toBe(5);
      const asked = { status, startDate: '2025-06-15', endDate: '2025-06-15' };
      const counted = await post('/events/resend', { ...asked, subscriptionId: row.id, dryRun: true });
      expect(counted.body.data).toEqual({ matched: 0 });
      expect((await post('/events/resend', asked)).body.data.matched).toBe(5);
    },
  );

  test('filters by event type, resource and subscription', async () => {
    const { row } = await fixture.subscribe(scope, { eventTypes: ['checkout.failed'] });
    const failed = await fixture.record(scope, 'checkout.failed');
    const paid = await fixture.record(scope, 'payment.succeeded');
    const [one] = (await get('/events?event=payment.succeeded')).body.data;
    expect(one.eventId).toBe(paid);
    expect(idsOf(await get(`/events?resourceId=${one.resourceId}`))).toEqual([paid]);
    expect(idsOf(await get(`/events?subscriptionId=${row.id}`))).toEqual([failed]);
    expect(idsOf(await get(`/events?merchantId=${scope.merchantId}`))).toHaveLength(2);
  });

  test('filters by the order number of a transaction of the merchant', async () => {
    scope = await buildMerchant(fixture.db);
    const [payments, checkoutOrderNo] = [buildFixture(fixture.db, { clock: fixture.deps.clock }), 'ABY-02959'];
    const { sessionId } = await buildSession(payments, scope, { checkoutOrderNo });
    await payments.closeUnpaid(sessionId, 'CANCELLED');
    await fixture.record(scope);
    const { body } = await get(`/events?checkoutOrderNo=${checkoutOrderNo}`);
    expect(body.data.map(({ event }: { event: string }) => event)).toContain('checkout.canceled');
    expect((await get('/events')).body.data).toHaveLength(body.data.length + 1);
    expect(idsOf(await get(`/events?checkoutOrderNo=${checkoutOrderNo}&event=refund.failed`))).toEqual([]);
    expect(idsOf(await get('/events?checkoutOrderNo=ABY-02960'))).toEqual([]);
    const { merchantId } = await fixture.newMerchant();
    expect(idsOf(await get(`/events?checkoutOrderNo=${checkoutOrderNo}`, stubKey(merchantId)))).toEqual([]);
  });

  test('date filters are whole days in Addis Ababa, both ends included', async () => {
    const last = await recordAt('2025-06-10T20:59:59.999Z');
    const next = await recordAt('2025-06-10T21:00:00.000Z');
    const first = await recordAt('2025-06-09T21:00:00.000Z');
    const before = await recordAt('2025-06-09T20:59:59.999Z');
    expect(idsOf(await get('/events?startDate=2025-06-10&endDate=2025-06-10'))).toEqual([last, first]);
    expect(idsOf(await get('/events?startDate=2025-06-11&endDate=2025-06-11'))).toEqual([next]);
    expect(idsOf(await get('/events?startDate=2025-06-09&endDate=2025-06-11'))).toEqual([next, last, first, before]);
  });

  test('without dates covers the last 30 days', async () => {
    const inside = await recordAt('2025-05-16T21:00:00.000Z');
    await recordAt('2025-05-16T20:59:59.999Z');
    expect(idsOf(await get('/events'))).toEqual([inside]);
  });

  test('pages and cursors return all events once, also while new ones are recorded', async () => {
    const made: string[] = [];
    for (let minute = 10; minute < 17; minute += 1) made.unshift(await recordAt(`2025-06-15T11:${minute}:00.000Z`));
    const page2 = await get('/events?page=2&limit=3');
    expect(idsOf(page2)).toEqual(made.slice(3, 6));
    expect(page2.body.pagination).toMatchObject({ total: 7, page: 2, limit: 3, totalPages: 3 });

    const seen: string[] = [];
    let query = '?pageSize=3';
    for (let page = 1; ; page += 1) {
      const { body } = await get(`/events${query}`);
      expect(body.pagination.page).toBe(page);
      seen.push(...idsOf({ body }));
      if (body.pagination.nextCursor === null) break;
      await fixture.record(scope);
      query = `?pageSize=3&cursor=${body.pagination.nextCursor}`;
    }
    expect(seen).toEqual(made);
  });

  test('events of the same instant are not lost between pages', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, async () => fixture.record(scope)));
    const first = await get('/events?limit=2');
    const second = await get(`/events?limit=2&cursor=${first.body.pagination.nextCursor}`);
    const third = await get(`/events?limit=2&cursor=${second.body.pagination.nextCursor}`);
    expect([...idsOf(first), ...idsOf(second), ...idsOf(third)]).toEqual(made.toSorted().toReversed());
  });

  test('a page past the end is empty', async () => {
    await fixture.record(scope);
    const { status, body } = await get('/events?page=1000000000&limit=100');
    expect({ status, data: body.data, total: body.pagination.total }).toEqual({ status: 200, data: [], total: 1 });
  });

  test.each([
    ['status=BROKEN', 'VALIDATION_ERROR', /NO_SUBSCRIBERS/],
    ['status=FAILED,ALL', 'VALIDATION_ERROR', /status/],
    ['startDate=2026-13-01', 'VALIDATION_ERROR', /YYYY-MM-DD, got "2026-13-01"/],
    ['startDate=2025-06-11&endDate=2025-06-10', 'INVALID_DATE_RANGE', /2025-06-11 and 2025-06-10/],
    ['startDate=2025-01-01&endDate=2025-06-10', 'DATE_RANGE_TOO_WIDE', /93 days/],
    ['limit=101', 'VALIDATION_ERROR', /from 1 to 100/],
    ['page=0', 'VALIDATION_ERROR', /page/],
    ['page=1e3', 'VALIDATION_ERROR', /page/],
    ['limit=5&pageSize=6', 'VALIDATION_ERROR', /pageSize/],
    ['cursor=nonsense', 'VALIDATION_ERROR', /nextCursor/],
    ['event=payment.exploded', 'VALIDATION_ERROR', /event/],
    ['resourceId=%00', 'VALIDATION_ERROR', /resourceId/],
    ['statuss=FAILED', 'VALIDATION_ERROR', /statuss/],
  ])('the query %s is rejected with a reason', async (query, code, words) => {
    const { status, body } = await get(`/events?${query}`);
    expect({ status, code: body.error.code }).toEqual({ status: 400, code });
    expect(body.message).toMatch(words);
  });

  test("another merchant's id in the query is NOT_FOUND", async () => {
    const stranger = await fixture.newMerchant();
    expect((await get(`/events?merchantId=${stranger.merchantId}`)).status).toBe(404);
    expect((await get(`/stats?merchantId=${stranger.merchantId}`)).status).toBe(404);
  });
});

test('another merchant finds no events, deliveries or logs, and resends none in bulk', async () => {
  await fixture.subscribe(scope);
  const { eventId } = await fixture.failedDelivery(scope);
  const asked = { status: 'FAILED', startDate: '2025-06-15', endDate: '2025-06-15' };
  const job = await post('/events/resend', asked);
  const stranger = stubKey((await fixture.newMerchant()).merchantId);
  for (const key of [stranger, stubKey(scope.merchantId, 'live')]) {
    const answers = [
      await get(`/events/${eventId}`, key),
      await get(`/events/${eventId}/logs`, key),
      await post(`/events/${eventId}/resend`, {}, key),
      await get(`/resend-jobs/${job.body.data.jobId}`, key),
      await post(`/resend-jobs/${job.body.data.jobId}/cancel`, {}, key),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await get('/events', key)).body.pagination.total).toBe(0);
    expect((await post('/events/resend', { ...asked, dryRun: true }, key)).body.data).toEqual({ matched: 0 });
  }
});
