import { decrypt } from '../../src/lib/crypto.ts';
import { SubscriptionRow } from '../../src/webhooks/subscriptions/model.ts';
import { stubKey } from '../support/http.ts';
import { webhookRoutes } from './api.ts';
import {
  REQUESTED,
  startSubscriptionsApi,
  type CreatedSubscription,
  type SubscriptionsApi,
} from './subscriptions-api.ts';

let api: SubscriptionsApi;

beforeAll(async () => {
  api = await startSubscriptionsApi();
});
beforeEach(() => api.renew());
afterAll(() => api.close());

describe('creating a subscription', () => {
  test('returns the secret, which no other response contains', async () => {
    const made = await api.createOne();
    expect(made).toEqual({
      subscriptionId: expect.stringMatching(/^whs_[0-9A-Z]{26}$/),
      ...REQUESTED,
      sandboxReceiver: null,
      active: true,
      description: '',
      signatureEncoding: 'base64',
      headers: [],
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      secretHint: made.secret.slice(-4),
      previousSecretExpiresAt: null,
      createdAt: api.fixture.clock.now.toISOString(),
      health: { state: 'UNVERIFIED', successRate24h: null, waiting: 0, lastFailure: null },
    });
    const { secret, ...rest } = made;
    const one = await api.send(`GET /${made.subscriptionId}`);
    const all = await api.send('GET');
    expect(one.body.data).toEqual(rest);
    expect(all.body.data).toEqual([rest]);
    expect(one.text + all.text).not.toContain(secret);
  });

  test('stores the secret encrypted with the id of its row', async () => {
    const [one, other] = [await api.createOne(), await api.createOne()];
    const row = await api.stored(one.subscriptionId);
    expect(row.secret.toString('latin1')).not.toContain(one.secret);
    expect(decrypt(api.fixture.deps.keyRing, row.id, row.secret)).toBe(one.secret);
    expect(() => decrypt(api.fixture.deps.keyRing, other.subscriptionId, row.secret)).toThrow('unable to authenticate');
  });

  test('stores custom headers encrypted and returns only their names', async () => {
    const made = await api.createOne({ headers: { Authorization: 'Bearer hidden-value', 'X-Shop': '7' } });
    expect(made.headers).toEqual(['Authorization', 'X-Shop']);
    const row = await api.stored(made.subscriptionId);
    expect(JSON.parse(decrypt(api.fixture.deps.keyRing, row.id, row.headers ?? Buffer.alloc(0)))).toEqual({
      Authorization: 'Bearer hidden-value',
      'X-Shop': '7',
    });
    const shown = await api.send(`GET /${made.subscriptionId}`);
    expect(shown.text).not.toContain('hidden-value');
  });

  test.each([
    ['url', { url: 'http://hooks.example.com/' }],
    ['url', { url: 'https://127.0.0.1/' }],
    ['url', { url: 'https://localhost/' }],
    ['url', { url: 'https://user:secret@hooks.example.com/' }],
    ['url', { url: 'not a url' }],
    ['url', { url: `https://hooks.example.com/${'a'.repeat(2_000)}` }],
    ['url', { url: 5 }],
    ['eventTypes.1', { eventTypes: ['payment.succeeded', 'payment.exploded'] }],
    ['eventTypes', { eventTypes: [] }],
    ['eventTypes', { eventTypes: 'payment.succeeded' }],
    ['active', { active: 'yes' }],
    ['description', { description: 'a'.repeat(501) }],
    ['description', { description: 'two\nlines' }],
    ['signatureEncoding', { signatureEncoding: 'base32' }],
    ['headers.X-Service-Signature', { headers: { 'X-Service-Signature': 'forged' } }],
    ['headers.webhook-anything', { headers: { 'webhook-anything': 'forged' } }],
    ['headers.Host', { headers: { Host: 'elsewhere' } }],
    ['headers.X-Shop', { headers: { 'X-Shop': 'a\r\nX-Evil: 1' } }],
    ['headers.X Shop', { headers: { 'X Shop': 'a' } }],
    ['headers', { headers: { 'X-Shop': '1', 'x-shop': '2' } }],
    ['headers', { headers: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`X-${index}`, 'a'])) }],
    ['secret', { secret: 'whsec_mine' }],
  ])('with an invalid %s is rejected with the field, and creates nothing', async (field, fields) => {
    const { status, body } = await api.create(fields);
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
    expect(body.error.details.map((detail: { field: string }) => detail.field)).toContain(field);
    expect(await SubscriptionRow.query(api.fixture.db.knex()).where({ merchantId: api.scope().merchantId })).toEqual(
      [],
    );
  });

  test.each([
    [
      'X Shop',
      'a',
      'must have a name of 1 to 64 letters, digits, - and _ that begins with a letter or digit, got "X Shop"',
    ],
    ['Host', 'a', 'is a header that this service sets itself: choose another name, got "Host"'],
    ['X-Shop', '', 'must be 1 to 1,000 printable ASCII characters without line breaks, got 0'],
  ])('with the header %j: %j is rejected with the problem', async (name, value, issue) => {
    const { body } = await api.create({ headers: { [name]: value } });
    expect(body.error.details).toMatchObject([{ field: `headers.${name}`, issue }]);
  });

  test('twenty times at once creates sixteen in one environment; a deleted one makes room for another', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, async () => api.create()));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(16);
    const refused = answers.filter(({ status }) => status === 409).map(({ body }) => body.error.code);
    expect(refused).toEqual(Array.from({ length: 4 }, () => 'INVALID_STATE'));

    expect((await api.send('POST', REQUESTED, stubKey(api.scope().merchantId, 'live'))).status).toBe(201);
    await api.send(`DELETE /${made[0]?.body.data.subscriptionId}`);
    expect((await api.create()).status).toBe(201);
  });

  test('in sandbox and live creates separate rows with different secrets', async () => {
    const sandbox = await api.createOne();
    const live = await api.send('POST', REQUESTED, stubKey(api.scope().merchantId, 'live'));
    expect(live.body.data.secret).not.toBe(sandbox.secret);
    const seen = await api.send('GET', undefined, stubKey(api.scope().merchantId, 'live'));
    expect(seen.body.data.map((one: CreatedSubscription) => one.subscriptionId)).toEqual([
      live.body.data.subscriptionId,
    ]);
  });
});

describe('changing a subscription', () => {
  test('changes the given fields and keeps the others', async () => {
    const made = await api.createOne({ description: 'till 7', headers: { 'X-Shop': '7' } });
    const { status, body } = await api.send(`PATCH /${made.subscriptionId}`, {
      active: false,
      eventTypes: ['*', '*'],
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ active: false, eventTypes: ['*'], description: 'till 7', headers: ['X-Shop'] });
    const cleared = await api.send(`PATCH /${made.subscriptionId}`, { headers: {} });
    expect(cleared.body.data.headers).toEqual([]);
    expect((await api.stored(made.subscriptionId)).headers).toBeNull();
    expect((await api.send(`PATCH /${made.subscriptionId}`, {})).body.data).toEqual(cleared.body.data);
  });

  test('to a new URL checks it like the first one and makes it UNVERIFIED, without failures or throttling', async () => {
    const { row } = await api.fixture.subscribe(api.scope());
    const deliveryId = await api.fixture.deliveryId(await api.fixture.record(api.scope()));
    await api.fixture.attempt(deliveryId, { httpStatus: 200 });
    expect((await api.send(`GET /${row.id}`)).body.data.health.state).toBe('HEALTHY');

    const refused = await api.send(`PATCH /${row.id}`, { url: 'https://10.0.0.1/' });
    expect(refused.body.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'url' }] });
    const moved = await api.send(`PATCH /${row.id}`, { url: 'https://new.example.com/' });
    expect(moved.body.data).toMatchObject({ url: 'https://new.example.com/', health: { state: 'UNVERIFIED' } });
    const failing = { consecutiveFailures: 3, throttledUntil: new Date() };
    await SubscriptionRow.query(api.fixture.db.knex()).findById(row.id).patch(failing);
    await api.send(`PATCH /${row.id}`, { url: 'https://third.example.com/' });
    expect(await api.stored(row.id)).toMatchObject({ verifiedAt: null, consecutiveFailures: 0, throttledUntil: null });
  });

  test('its health has the success rate of attempted deliveries and the latest failure', async () => {
    const { row } = await api.fixture.subscribe(api.scope());
    const deliveryOf = async () => api.fixture.deliveryId(await api.fixture.record(api.scope()));
    const [good, late, never] = [await deliveryOf(), await deliveryOf(), await deliveryOf()];
    expect((await api.send(`GET /${row.id}`)).body.data.health.successRate24h).toBeNull();
    await api.fixture.attempt(good, { httpStatus: 204 });
    for (const httpStatus of [500, 500, 200]) await api.fixture.attempt(late, { httpStatus });
    await api.fixture.attempt(never, { httpStatus: 500 }, true);
    const before = api.fixture.clock.now;
    api.fixture.clock.now = new Date(before.getTime() + 3_600_000);
    const bad = await api.fixture.deliveryId(await api.fixture.record(api.scope()));
    await api.fixture.attempt(bad, { httpStatus: 503 });
    const { body } = await api.send(`GET /${row.id}`);
    expect(body.data.health).toEqual({
      state: 'FAILING',
      // Of four that were tried two are delivered, one at its third attempt; one is FAILED, one waits for a retry.
      successRate24h: 0.5,
      waiting: 1,
      lastFailure: {
        code: 'http_status',
        message: 'it was http_status',
        httpStatus: 503,
        at: api.fixture.clock.now.toISOString(),
      },
    });
    api.fixture.clock.now = before;
  });
});

describe('deleting a subscription', () => {
  test('makes waiting deliveries SKIPPED, and returns a waiting resend to the status before it', async () => {
    const { row } = await api.fixture.subscribe(api.scope());
    const ids = await Promise.all(
      [1, 2, 3, 4].map(async () => api.fixture.deliveryId(await api.fixture.record(api.scope()))),
    );
    const [retrying = '', failed = '', delivered = '', pending = ''] = ids;
    await api.fixture.attempt(retrying, { httpStatus: 500 });
    await api.fixture.attempt(failed, { httpStatus: 500 }, true);
    await api.fixture.attempt(delivered, { httpStatus: 200 });
    const resend = (id: string, statusBeforeResend: string) =>
      api.fixture.db.knex()('webhookDelivery').where({ id }).update({ status: 'PENDING', statusBeforeResend });
    await resend(failed, 'FAILED');
    await resend(delivered, 'DELIVERED');

    const { status, body } = await api.send(`DELETE /${row.id}`);
    expect({ status, data: body.data }).toEqual({ status: 200, data: null });

    const after = await api.fixture.db.knex()('webhookDelivery').whereIn('id', ids);
    const statusOf = (id: string) => after.find((delivery) => delivery.id === id)?.status;
    expect([retrying, failed, delivered, pending].map(statusOf)).toEqual(['SKIPPED', 'FAILED', 'DELIVERED', 'SKIPPED']);
    expect(after.every((delivery) => delivery.nextAttemptAt === null && delivery.statusBeforeResend === null)).toBe(
      true,
    );
  });

  test('lets an attempt in flight complete', async () => {
    const { row } = await api.fixture.subscribe(api.scope());
    const id = await api.fixture.deliveryId(await api.fixture.record(api.scope()));
    await api.fixture.db
      .knex()('webhookDelivery')
      .where({ id })
      .update({ inFlightSince: api.fixture.db.knex().raw('now()') });
    await api.send(`DELETE /${row.id}`);
    expect(await api.fixture.db.knex()('webhookDelivery').where({ id }).first()).toMatchObject({ status: 'PENDING' });
  });

  test('makes it NOT_FOUND for every operation, and new events skip it', async () => {
    const { row } = await api.fixture.subscribe(api.scope());
    await api.send(`DELETE /${row.id}`);
    const answers = [
      await api.send(`GET /${row.id}`),
      await api.send(`PATCH /${row.id}`, { active: true }),
      await api.send(`DELETE /${row.id}`),
      await api.send(`POST /${row.id}/rotate`),
      await api.send(`POST /${row.id}/test`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    const eventId = await api.fixture.record(api.scope());
    expect(await api.fixture.db.knex()('webhookDelivery').where({ eventId })).toEqual([]);
  });
});

test('subscriptions of another merchant or environment are NOT_FOUND for every operation', async () => {
  const made = await api.createOne();
  const stranger = await api.fixture.newMerchant();
  for (const key of [stubKey(stranger.merchantId), stubKey(api.scope().merchantId, 'live')]) {
    const one = `/${made.subscriptionId}`;
    const answers = [
      await api.send(`GET ${one}`, undefined, key),
      await api.send(`PATCH ${one}`, { active: false }, key),
      await api.send(`DELETE ${one}`, undefined, key),
      await api.send(`POST ${one}/rotate`, {}, key),
      await api.send(`POST ${one}/test`, {}, key),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await api.send('GET', undefined, key)).body.data).toEqual([]);
  }
  expect((await api.send(`GET /${made.subscriptionId}`)).body.data).toMatchObject({ active: true });
});

test('every route of the management API is documented', async () => {
  const { body } = await api.server.send('GET', '/openapi.json');
  const documented = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
  expect(documented).toEqual(
    expect.arrayContaining(webhookRoutes(api.fixture).map(({ method, path }) => `${method} ${path}`)),
  );
});

test('reading subscriptions needs the api.scope() webhooks:read and writing webhooks:write', async () => {
  const reader = stubKey(api.scope().merchantId, 'sandbox', ['webhooks:read']);
  expect((await api.send('GET', undefined, reader)).status).toBe(200);
  const { status, body } = await api.send('POST', REQUESTED, reader);
  expect([status, body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
});
