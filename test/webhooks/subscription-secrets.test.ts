import { decrypt } from '../../src/lib/crypto.ts';
import { stubKey } from '../support/http.ts';
import { REQUESTED, startSubscriptionsApi, type SubscriptionsApi } from './subscriptions-api.ts';

let api: SubscriptionsApi;

beforeAll(async () => {
  api = await startSubscriptionsApi();
});
beforeEach(() => api.renew());
afterAll(() => api.close());

describe('rotating the secret of a subscription', () => {
  const rotate = async (id: string, body?: unknown) => api.send(`POST /${id}/rotate`, body);

  test('keeps the old secret valid for a day by default', async () => {
    const made = await api.createOne();
    const { status, body } = await rotate(made.subscriptionId);
    expect(status).toBe(200);
    expect(body.data.secret).toMatch(/^whsec_/);
    expect(body.data.secret).not.toBe(made.secret);
    const until = new Date(api.fixture.clock.now.getTime() + 86_400_000);
    expect(body.data.previousSecretExpiresAt).toBe(until.toISOString());

    const row = await api.stored(made.subscriptionId);
    expect(decrypt(api.fixture.deps.keyRing, row.id, row.secret)).toBe(body.data.secret);
    expect(decrypt(api.fixture.deps.keyRing, row.id, row.previousSecret ?? Buffer.alloc(0))).toBe(made.secret);
  });

  test('without an overlap removes the old secret at once', async () => {
    const made = await api.createOne();
    const { body } = await rotate(made.subscriptionId, { overlapSeconds: 0 });
    expect(body.data.previousSecretExpiresAt).toBeNull();
    expect((await api.stored(made.subscriptionId)).previousSecret).toBeNull();
  });

  test('needs force within the overlap of an earlier rotation, and none after it', async () => {
    const made = await api.createOne();
    await rotate(made.subscriptionId, { overlapSeconds: 60 });
    const refused = await rotate(made.subscriptionId);
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 409, code: 'INVALID_STATE' });
    expect((await rotate(made.subscriptionId, { overlapSeconds: 60, force: true })).status).toBe(200);

    const before = api.fixture.clock.now;
    api.fixture.clock.now = new Date(before.getTime() + 61_000);
    expect((await api.send(`GET /${made.subscriptionId}`)).body.data.previousSecretExpiresAt).toBeNull();
    expect((await rotate(made.subscriptionId)).status).toBe(200);
    api.fixture.clock.now = before;
  });

  test.each([-1, 604_801, 1.5, '60'])('with an overlap of %p seconds is rejected', async (overlapSeconds) => {
    const made = await api.createOne();
    const { body } = await rotate(made.subscriptionId, { overlapSeconds });
    expect(body.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'overlapSeconds' }] });
  });

  test('ten times at once succeeds once, and that response has the secret that signs', async () => {
    const made = await api.createOne();
    const answers = await Promise.all(Array.from({ length: 10 }, async () => rotate(made.subscriptionId)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const row = await api.stored(made.subscriptionId);
    expect(decrypt(api.fixture.deps.keyRing, row.id, row.secret)).toBe(won[0]?.body.data.secret);
  });

  test('with the same Idempotency-Key returns the same secret', async () => {
    const made = await api.createOne();
    const request = { key: stubKey(api.scope().merchantId), headers: { 'idempotency-key': 'rotate-1' }, body: {} };
    const path = `/api/checkout/webhooks/subscriptions/${made.subscriptionId}/rotate`;
    const first = await api.server.send('POST', path, request);
    const again = await api.server.send('POST', path, request);
    expect(again.body.data).toEqual(first.body.data);
  });
});

describe('a test event', () => {
  test('goes to its subscription only, whatever event types that has', async () => {
    const made = await api.createOne({ eventTypes: ['checkout.failed'] });
    await api.createOne({ eventTypes: ['*'] });
    const { status, body } = await api.send(`POST /${made.subscriptionId}/test`);
    expect(status).toBe(202);
    const deliveries = await api.fixture.db.knex()('webhookDelivery').where(body.data);
    expect(deliveries).toEqual([
      expect.objectContaining({ subscriptionId: made.subscriptionId, event: 'webhook.test', status: 'PENDING' }),
    ]);
    const event = await api.fixture.db.knex()('webhookEvent').where({ id: body.data.eventId }).first();
    expect(JSON.parse(event.payload.toString())).toMatchObject({
      event: 'webhook.test',
      data: { ...api.scope(), subscriptionId: made.subscriptionId },
    });
  });

  test('may be of any type in sandbox, in live only webhook.test', async () => {
    const made = await api.createOne();
    const sent = await api.send(`POST /${made.subscriptionId}/test`, { event: 'checkout.completed' });
    const event = await api.fixture.db.knex()('webhookEvent').where({ id: sent.body.data.eventId }).first();
    expect(JSON.parse(event.payload.toString()).data).toMatchObject({
      object: 'transaction',
      merchantId: api.scope().merchantId,
    });

    const key = stubKey(api.scope().merchantId, 'live');
    const live = (await api.send('POST', REQUESTED, key)).body.data.subscriptionId;
    expect((await api.send(`POST /${live}/test`, { event: 'checkout.completed' }, key)).status).toBe(409);
    expect((await api.send(`POST /${live}/test`, {}, key)).status).toBe(202);
  });

  test('is rejected for an inactive subscription', async () => {
    const made = await api.createOne({ active: false });
    const { body } = await api.send(`POST /${made.subscriptionId}/test`);
    expect(body.error.code).toBe('INVALID_STATE');
  });
});
