import type { MerchantScope } from '../../src/lib/scope.ts';
import { stubKey, type TestServer } from '../support/http.ts';
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

describe('the log of an event', () => {
  test('contains every attempt, oldest first, with its numbers and the response of the receiver', async () => {
    const { row } = await fixture.subscribe(scope);
    const eventId = await fixture.record(scope);
    const deliveryId = await fixture.deliveryId(eventId);
    await fixture.attempt(deliveryId, { code: 'timeout' });
    fixture.clock.now = new Date(START.getTime() + 60_000);
    await fixture.attempt(deliveryId, { httpStatus: 500 }, true);
    await post(`/events/${eventId}/resend`);
    fixture.clock.now = new Date(START.getTime() + 120_000);
    await fixture.attempt(deliveryId, { httpStatus: 200 });

    const { body } = await get(`/events/${eventId}/logs`);
    expect(body.pagination).toMatchObject({ total: 3, limit: 100 });
    expect(body.data[2]).toEqual({
      attemptId: expect.stringMatching(/^wha_/),
      deliveryId,
      subscriptionId: row.id,
      sequence: 3,
      deliveryNumber: null,
      retryNumber: null,
      trigger: 'manual',
      reason: null,
      url: row.url,
      startedAt: fixture.clock.now.toISOString(),
      durationMs: 12,
      timings: { dnsMs: 1, connectMs: 2, tlsMs: 3, firstByteMs: 6 },
      httpStatus: 200,
      failure: null,
      responseHeaders: { 'content-type': 'text/plain' },
      responseExcerpt: 'hello',
      secretHint: row.secretHint,
    });
    expect(body.data[0]).toMatchObject({
      sequence: 1,
      deliveryNumber: 1,
      retryNumber: 0,
      failure: { code: 'timeout' },
    });
    expect(body.data[1]).toMatchObject({ sequence: 2, deliveryNumber: 2, retryNumber: 1, httpStatus: 500 });
  });

  test('continues by cursor', async () => {
    await fixture.subscribe(scope);
    const eventId = await fixture.record(scope);
    const deliveryId = await fixture.deliveryId(eventId);
    for (let attempt = 0; attempt < 3; attempt += 1) await fixture.attempt(deliveryId, { httpStatus: 500 });
    const first = await get(`/events/${eventId}/logs?limit=2`);
    const second = await get(`/events/${eventId}/logs?limit=2&cursor=${first.body.pagination.nextCursor}`);
    const sequences = [...first.body.data, ...second.body.data].map(
      (attempt: { sequence: number }) => attempt.sequence,
    );
    expect(sequences.toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
    expect(second.body.pagination.nextCursor).toBeNull();
  });

  test('is empty for an event without subscriptions', async () => {
    const eventId = await fixture.record(scope);
    expect((await get(`/events/${eventId}/logs`)).body.data).toEqual([]);
  });
});

describe('resends over the API', () => {
  test('a resend of an event returns 202 with the affected deliveries', async () => {
    const { row } = await fixture.subscribe(scope);
    const { eventId, deliveryId } = await fixture.failedDelivery(scope);
    const { status, body } = await post(`/events/${eventId}/resend`, { subscriptionId: row.id });
    expect(status).toBe(202);
    expect(body.data).toMatchObject({ eventId, deliveries: [{ deliveryId, status: 'PENDING', url: row.url }] });
    const again = await post(`/events/${eventId}/resend`);
    expect({ status: again.status, code: again.body.error.code }).toEqual({ status: 409, code: 'INVALID_STATE' });
  });

  test('a resend without a body is like one with an empty body', async () => {
    await fixture.subscribe(scope);
    const { eventId } = await fixture.failedDelivery(scope);
    const answer = await api.send('POST', `${PATH}/events/${eventId}/resend`, { key: stubKey(scope.merchantId) });
    expect(answer.status).toBe(202);
  });

  test('a bulk resend returns its job, which can be read and cancelled', async () => {
    await fixture.subscribe(scope);
    await fixture.failedDelivery(scope);
    const asked = { status: 'FAILED', startDate: '2025-06-15', endDate: '2025-06-15' };
    const started = await post('/events/resend', asked);
    expect(started.status).toBe(202);
    const { jobId } = started.body.data;
    expect(started.body.data).toEqual({ jobId: expect.stringMatching(/^whj_/), matched: 1 });
    const job = {
      jobId,
      matched: 1,
      sent: 0,
      delivered: 0,
      failed: 0,
      ratePerSecond: null,
      createdAt: START.toISOString(),
      endedAt: null,
    };
    expect((await get(`/resend-jobs/${jobId}`)).body.data).toEqual({ ...job, status: 'RUNNING' });
    expect((await post(`/resend-jobs/${jobId}/cancel`)).body.data).toEqual({ ...job, status: 'CANCELLED' });

    const refused = await post('/events/resend', { ...asked, status: 'DELIVERED', limit: 10_001 });
    const fields = refused.body.error.details.map((detail: { field: string }) => detail.field);
    expect(fields).toEqual(expect.arrayContaining(['status', 'limit']));
  });
});
