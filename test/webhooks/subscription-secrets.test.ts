import { decrypt } from '../../src/lib/crypto.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { SubscriptionRow } from '../../src/webhooks/subscriptions/model.ts';
import { stubKey, type TestServer } from '../support/http.ts';
import { startWebhookApi } from './api.ts';
import { createFixture, type Fixture } from './fixture.ts';

const PATH = '/api/checkout/webhooks/subscriptions';
const ASKED = { url: 'https://hooks.example.com/meskot', eventTypes: ['payment.succeeded', 'checkout.failed'] };

let fixture: Fixture;
let api: TestServer;
let scope: MerchantScope;

beforeAll(async () => {
  fixture = await createFixture();
  api = await startWebhookApi(fixture);
});
beforeEach(async () => {
  scope = await fixture.newMerchant();
});
afterAll(async () => {
  await api.close();
  await fixture.drop();
});

type Made = { subscriptionId: string; secret: string; secretHint: string; headers: string[] };

const keyOf = (one: MerchantScope): string => stubKey(one.merchantId, one.environment);

const send = async (request: string, body?: unknown, key = keyOf(scope)) => {
  const [method = '', path = ''] = request.split(' ');
  return api.send(method, PATH + path, { key, ...(body !== undefined && { body }) });
};

const create = async (fields: Record<string, unknown> = {}) => send('POST', { ...ASKED, ...fields });

const createOne = async (fields: Record<string, unknown> = {}): Promise<Made> => {
  const { status, body } = await create(fields);
  expect(body).toMatchObject({ statusCode: 201 });
  expect(status).toBe(201);
  return body.data;
};

const stored = async (id: string): Promise<SubscriptionRow> =>
  SubscriptionRow.query(fixture.db.knex()).findById(id).throwIfNotFound();

describe('rotating the secret of a subscription', () => {
  const rotate = async (id: string, body?: unknown) => send(`POST /${id}/rotate`, body);

  test('keeps the old secret valid for a day by default', async () => {
    const made = await createOne();
    const { status, body } = await rotate(made.subscriptionId);
    expect(status).toBe(200);
    expect(body.data.secret).toMatch(/^whsec_/);
    expect(body.data.secret).not.toBe(made.secret);
    const until = new Date(fixture.clock.now.getTime() + 86_400_000);
    expect(body.data.previousSecretExpiresAt).toBe(until.toISOString());

    const row = await stored(made.subscriptionId);
    expect(decrypt(fixture.deps.keyRing, row.id, row.secret)).toBe(body.data.secret);
    expect(decrypt(fixture.deps.keyRing, row.id, row.previousSecret ?? Buffer.alloc(0))).toBe(made.secret);
  });

  test('without an overlap removes the old secret at once', async () => {
    const made = await createOne();
    const { body } = await rotate(made.subscriptionId, { overlapSeconds: 0 });
    expect(body.data.previousSecretExpiresAt).toBeNull();
    expect((await stored(made.subscriptionId)).previousSecret).toBeNull();
  });

  test('needs force within the overlap of an earlier rotation, and none after it', async () => {
    const made = await createOne();
    await rotate(made.subscriptionId, { overlapSeconds: 60 });
    const refused = await rotate(made.subscriptionId);
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 409, code: 'INVALID_STATE' });
    expect((await rotate(made.subscriptionId, { overlapSeconds: 60, force: true })).status).toBe(200);

    const before = fixture.clock.now;
    fixture.clock.now = new Date(before.getTime() + 61_000);
    expect((await send(`GET /${made.subscriptionId}`)).body.data.previousSecretExpiresAt).toBeNull();
    expect((await rotate(made.subscriptionId)).status).toBe(200);
    fixture.clock.now = before;
  });

  test.each([-1, 604_801, 1.5, '60'])('with an overlap of %p seconds is rejected', async (overlapSeconds) => {
    const made = await createOne();
    const { body } = await rotate(made.subscriptionId, { overlapSeconds });
    expect(body.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'overlapSeconds' }] });
  });

  test('ten times at once succeeds once, and that response has the secret that signs', async () => {
    const made = await createOne();
    const answers = await Promise.all(Array.from({ length: 10 }, async () => rotate(made.subscriptionId)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const row = await stored(made.subscriptionId);
    expect(decrypt(fixture.deps.keyRing, row.id, row.secret)).toBe(won[0]?.body.data.secret);
  });

  test('with the same Idempotency-Key returns the same secret', async () => {
    const made = await createOne();
    const request = { key: stubKey(scope.merchantId), headers: { 'idempotency-key': 'rotate-1' }, body: {} };
    const path = `${PATH}/${made.subscriptionId}/rotate`;
    const first = await api.send('POST', path, request);
    const again = await api.send('POST', path, request);
    expect(again.body.data).toEqual(first.body.data);
  });
});

describe('a test event', () => {
  test('goes to its subscription only, whatever event types that has', async () => {
    const made = await createOne({ eventTypes: ['checkout.failed'] });
    await createOne({ eventTypes: ['*'] });
    const { status, body } = await send(`POST /${made.subscriptionId}/test`);
    expect(status).toBe(202);
    const deliveries = await fixture.db.knex()('webhookDelivery').where(body.data);
    expect(deliveries).toEqual([
      expect.objectContaining({ subscriptionId: made.subscriptionId, event: 'webhook.test', status: 'PENDING' }),
    ]);
    const event = await fixture.db.knex()('webhookEvent').where({ id: body.data.eventId }).first();
    expect(JSON.parse(event.payload.toString())).toMatchObject({
      event: 'webhook.test',
      data: { ...scope, subscriptionId: made.subscriptionId },
    });
  });

  test('may be of any type in sandbox, in live only webhook.test', async () => {
    const made = await createOne();
    const sent = await send(`POST /${made.subscriptionId}/test`, { event: 'checkout.completed' });
    const event = await fixture.db.knex()('webhookEvent').where({ id: sent.body.data.eventId }).first();
    expect(JSON.parse(event.payload.toString()).data).toMatchObject({
      object: 'transaction',
      merchantId: scope.merchantId,
    });

    const key = stubKey(scope.merchantId, 'live');
    const live = (await send('POST', ASKED, key)).body.data.subscriptionId;
    expect((await send(`POST /${live}/test`, { event: 'checkout.completed' }, key)).status).toBe(409);
    expect((await send(`POST /${live}/test`, {}, key)).status).toBe(202);
  });

  test('is rejected for an inactive subscription', async () => {
    const made = await createOne({ active: false });
    const { body } = await send(`POST /${made.subscriptionId}/test`);
    expect(body.error.code).toBe('INVALID_STATE');
  });
});
