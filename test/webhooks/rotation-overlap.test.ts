import { createHmac } from 'node:crypto';

import { Webhook } from 'standardwebhooks';

import { startReceiver, type ReceivedRequest, type Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { startTestService, type TestService } from '../tenant-isolation/service.ts';

const PATH = '/api/checkout/webhooks/subscriptions';

let service: TestService;
let receiver: Receiver;
let key: string;

beforeAll(async () => {
  service = await startTestService();
  receiver = await startReceiver();
  key = await service.newKey(await service.newMerchant('Rotating Coffee'));
}, 60_000);
afterAll(async () => {
  await service.close();
  await receiver.close();
}, 60_000);

type Secret = { subscriptionId: string; secret: string };

async function post<Data>(path: string, body: object = {}): Promise<Data> {
  const answer = await service.send('POST', PATH + path, { key, body });
  expect({ status: answer.status, error: answer.body.error }).toMatchObject({ error: undefined });
  return answer.body.data as Data;
}

const rotate = async (id: string, body: object) => (await post<Secret>(`/${id}/rotate`, body)).secret;

/** A test event as the receiver got it. */
async function deliver(subscriptionId: string): Promise<ReceivedRequest> {
  const before = receiver.requests.length;
  await post(`/${subscriptionId}/test`);
  const requests = await receiver.received(before + 1);
  return requests[before]!;
}

/** Whether a receiver with this secret alone accepts the request, by the Standard Webhooks headers. */
function verifies(secret: string, { body, headers }: ReceivedRequest): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

const serviceSignature = (secret: string, { body }: ReceivedRequest): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('base64')}`;

test('during the overlap of a rotation a delivery verifies with either secret, afterwards with the new one only', async () => {
  const { subscriptionId, secret: first } = await post<Secret>('', { url: receiver.url, eventTypes: ['*'] });
  const before = await deliver(subscriptionId);
  expect(verifies(first, before)).toBe(true);
  expect(before.headers).not.toHaveProperty('x-service-signature-previous');

  const second = await rotate(subscriptionId, { overlapSeconds: 3_600 });
  const during = await deliver(subscriptionId);
  expect([verifies(first, during), verifies(second, during)]).toEqual([true, true]);
  expect(during.headers).toMatchObject({
    'x-service-signature': serviceSignature(second, during),
    'x-service-signature-previous': serviceSignature(first, during),
  });

  const third = await rotate(subscriptionId, { overlapSeconds: 1, force: true });
  // By the database's clock, which decides what is sent, and by the API's, which may be some milliseconds ahead.
  await until('the overlap to end', async () => {
    const ended = service.fixture.db.knex().raw('previous_secret_expires_at < now()');
    const [row] = await service.fixture.db.knex()('webhookSubscription').where({ id: subscriptionId }).andWhere(ended);
    const { body } = await service.send('GET', `${PATH}/${subscriptionId}`, { key });
    return row && body.data.previousSecretExpiresAt === null;
  });
  const after = await deliver(subscriptionId);
  expect([first, second, third].map((secret) => verifies(secret, after))).toEqual([false, false, true]);
  expect(String(after.headers['webhook-signature']).split(' ')).toHaveLength(1);
  expect(after.headers).not.toHaveProperty('x-service-signature-previous');
  expect(after.headers['x-service-signature']).toBe(serviceSignature(third, after));
});

test('after a rotation without an overlap a delivery does not verify with the old secret', async () => {
  const { subscriptionId, secret: leaked } = await post<Secret>('', { url: receiver.url, eventTypes: ['*'] });
  const secret = await rotate(subscriptionId, { overlapSeconds: 0 });
  const request = await deliver(subscriptionId);
  expect([verifies(leaked, request), verifies(secret, request)]).toEqual([false, true]);
  expect(String(request.headers['webhook-signature']).split(' ')).toHaveLength(1);
});
