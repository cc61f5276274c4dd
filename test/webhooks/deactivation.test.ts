import type { MerchantScope } from '../../src/lib/scope.ts';
import { stubKey, type TestServer } from '../support/http.ts';
import { startWebhookApi } from './api.ts';
import { createFixture, type Fixture } from './fixture.ts';

let fixture: Fixture;
let api: TestServer;
let scope: MerchantScope;
let path: string;

beforeAll(async () => {
  fixture = await createFixture();
  api = await startWebhookApi(fixture);
});
beforeEach(async () => {
  scope = await fixture.newMerchant();
  path = `/api/checkout/webhooks/subscriptions/${(await fixture.subscribe(scope)).row.id}`;
});
afterAll(async () => {
  await api.close();
  await fixture.drop();
});

const change = (body: object) => api.send('PATCH', path, { key: stubKey(scope.merchantId), body });
const statuses = async () =>
  (await fixture.db.knex()('webhookDelivery').where(scope).orderBy('status')).map((row) => row.status);

/** One that waits for its first attempt, one for a retry, one for a resend, and one that is delivered. */
async function recordFour(): Promise<void> {
  await fixture.record(scope);
  const deliver = async (...[outcome, last]: [{ httpStatus: number }, boolean]) =>
    fixture.attempt(await fixture.deliveryId(await fixture.record(scope)), outcome, last);
  await deliver({ httpStatus: 500 }, false);
  const { eventId } = await fixture.failedDelivery(scope);
  await api.send('POST', `/api/checkout/webhooks/events/${eventId}/resend`, {
    key: stubKey(scope.merchantId),
    body: {},
  });
  await deliver({ httpStatus: 200 }, false);
}

test('a deactivated subscription names the deliveries that wait, which stay as they are', async () => {
  await recordFour();
  const { body } = await change({ active: false });
  expect(body.data).toMatchObject({ active: false, health: { waiting: 3 } });
  expect(await statuses()).toEqual(['DELIVERED', 'PENDING', 'PENDING', 'RETRYING']);
  expect((await change({ active: true })).body.data.health.waiting).toBe(3);
});

test('waiting deliveries are skipped at once when the deactivation asks for it, and a waiting resend is undone', async () => {
  await recordFour();
  const { body } = await change({ active: false, waiting: 'skip' });
  expect(body.data).toMatchObject({ active: false, health: { waiting: 0 } });
  expect(await statuses()).toEqual(['DELIVERED', 'FAILED', 'SKIPPED', 'SKIPPED']);
});

test.each([{ waiting: 'skip' }, { waiting: 'keep', active: true }, { waiting: 'drop', active: false }])(
  '%j is rejected',
  async (body) => {
    const { status, body: answer } = await change(body);
    expect([status, answer.error.details[0].field]).toEqual([400, 'waiting']);
  },
);
