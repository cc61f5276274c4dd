import { newId, type IdPrefix } from '../../src/lib/ids.ts';
import { decideKyc } from '../../src/merchants/kyc/application.ts';
import { until } from '../support/until.ts';
import { createMerchantWithEverything, untilIdle, type Merchant } from './belongings.ts';
import { readOperations, type Operation } from './contract.ts';
import { readRows } from './rows.ts';
import { ownedNames, pathWith, validBody, validQuery } from './samples.ts';
import { startTestService, type TestService } from './service.ts';

let service: TestService;
let operations: Operation[];
let merchant: Merchant;
/** The merchant's live ids by parameter name, and values that only live responses may contain. */
let live: { ids: Record<string, string[]>; marks: string[] };

beforeAll(async () => {
  service = await startTestService();
  operations = (await readOperations(service)).filter(({ by }) => by !== 'operator' && by !== 'public');
  merchant = await createMerchantWithEverything(service, 'BOTH');
  live = await goLive();
  await untilIdle(service);
}, 90_000);
afterAll(() => service.close(), 60_000);

/** Applies with the live key, is approved, and creates the live data that needs no live provider. */
async function goLive() {
  const { merchantId, liveKey: key } = merchant;
  const send = async (method: string, path: string, body: object): Promise<Record<string, string>> => {
    const { status, body: response, text } = await service.send(method, `/api/checkout/${path}`, { key, body });
    if (status >= 300) throw new Error(`${path} responded with ${status}: ${text}`);
    return response.data;
  };
  const scan = new Blob(['%PDF-1.7 LIVEONLY'], { type: 'application/pdf' });
  await send('PUT', 'kyc', APPLICATION);
  const documents = [];
  for (const kind of ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID']) {
    documents.push((await send('POST', `kyc/documents?kind=${kind}`, scan))['documentId'] ?? '');
  }
  await send('POST', 'kyc/submit', {});
  const account = { bankCode: 'CBE', accountNumber: '1000999888777', accountName: 'LIVEONLY PLC' };
  await send('PUT', 'bank-account', account);
  // The sandbox decides its application automatically.
  const rehearsal = { key: merchant.key, body: { ...APPLICATION, legalName: 'BOTH', tradeName: 'BOTH' } };
  await service.send('PUT', '/api/checkout/kyc', rehearsal);
  for (const kind of ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID']) {
    const file = new Blob(['%PDF-1.7 BOTH'], { type: 'application/pdf' });
    await service.send('POST', `/api/checkout/kyc/documents?kind=${kind}`, { key: merchant.key, body: file });
  }
  await service.send('POST', '/api/checkout/kyc/submit', { key: merchant.key, body: {} });
  const decision = { merchantId, environment: 'live', operatorId: 'opr_1', at: new Date() } as const;
  await service.fixture.runInTransaction((tx) => decideKyc(tx, decision, { type: 'approve', submission: 1 }));
  await until('the rehearsal to be decided', async () => {
    const { body } = await service.send('GET', '/api/checkout/kyc', { key: merchant.key });
    return body.data.status === 'APPROVED';
  });
  await until('the live key to be accepted', async () => {
    const { status } = await service.send('GET', '/api/checkout/channels', { key });
    return status === 200;
  });
  // No receiver listens at this address.
  const address = { url: 'https://liveonly.invalid/LIVEONLY', eventTypes: ['*'] };
  const { subscriptionId = '' } = await send('POST', 'webhooks/subscriptions', address);
  const { eventId = '' } = await send('POST', `webhooks/subscriptions/${subscriptionId}/test`, {});
  return {
    ids: { subscriptionId: [subscriptionId], eventId: [eventId] },
    marks: ['LIVEONLY', '999888777', subscriptionId, eventId, ...documents],
  };
}

const APPLICATION = {
  legalName: 'LIVEONLY PLC',
  tradeName: 'LIVEONLY',
  businessType: 'SOLE_PROPRIETOR',
  tin: '0012345678',
  tradeLicenceNumber: 'AA/1/2015',
  address: 'Bole',
  region: 'ADDIS_ABABA',
  contactPerson: 'Almaz Kebede',
  phone: '0911223344',
  email: 'almaz@example.et',
  expectedMonthlyVolume: 1_000,
};

/** The merchant's id is visible in both environments, all other ids in the sandbox only. */
const sandboxMarks = (): string[] => merchant.marks.filter((mark) => mark !== merchant.merchantId);
const firstIds = (ids: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(ids).map(([name, [id = '']]) => [name, id]));
const call = (operation: Operation, ids: Record<string, string>, key: string) =>
  service.send(operation.method, pathWith(operation, ids) + validQuery(operation), { key, body: validBody(operation) });

test('a request for an id of the other environment gets the 404 of an id that does not exist, and changes nothing', async () => {
  const before = await readRows(service.fixture.db);
  const walked = { sandbox: 0, live: 0 };
  for (const operation of operations) {
    const owned = ownedNames(operation, merchant);
    for (const [environment, key, ids] of [
      ['sandbox', merchant.liveKey, merchant.ids],
      ['live', merchant.key, live.ids],
    ] as const) {
      const known = owned.filter((name) => Object.hasOwn(ids, name));
      if (known.length === 0 || known.length < owned.length) continue;
      walked[environment] += 1;
      const theirs = firstIds(ids);
      const invented = Object.fromEntries(
        Object.entries(theirs).map(([name, id]) => [name, newId(id.split('_')[0] as IdPrefix)]),
      );
      const responses = [];
      for (const ids of [theirs, invented]) {
        const { status, body } = await call(operation, ids, key);
        responses.push({ status, code: body.error?.code, message: body.message });
      }
      const route = `${operation.name} of ${environment}`;
      expect({ route, ...responses[0] }).toEqual({ route, ...responses[1] });
      expect({ route, status: responses[0]?.status }).toEqual({ route, status: 404 });
    }
  }
  expect(walked.sandbox).toBeGreaterThanOrEqual(18);
  expect(walked.live).toBeGreaterThanOrEqual(6);
  expect(await readRows(service.fixture.db)).toEqual(before);
}, 60_000);

test('lists and reads with a key return the data of its own environment only', async () => {
  for (const operation of operations.filter(({ method, name }) => method === 'GET' && !name.includes('{'))) {
    const responses = {
      sandbox: await call(operation, {}, merchant.key),
      live: await call(operation, {}, merchant.liveKey),
    };
    const leaked = [
      ...live.marks.filter((mark) => responses.sandbox.text.includes(mark)),
      ...sandboxMarks().filter((mark) => responses.live.text.includes(mark)),
    ];
    const statuses = [responses.sandbox.status, responses.live.status];
    expect({ route: operation.name, statuses, leaked }).toEqual({
      route: operation.name,
      statuses: [200, 200],
      leaked: [],
    });
  }
});

test('payments in the sandbox leave the live balance, its history and the live transactions empty', async () => {
  const today = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10);
  const get = async (path: string, key: string) => (await service.send('GET', `/api/checkout/${path}`, { key })).body;
  const list = `txns/get_all_txns?startDate=${today}&endDate=${today}&status=ALL&currency=ETB`;
  expect((await get(list, merchant.key)).pagination.total).toBeGreaterThan(0);
  expect((await get(list, merchant.liveKey)).pagination.total).toBe(0);
  expect((await get('balance', merchant.key)).data.total).toBeGreaterThan(0);
  expect((await get('balance', merchant.liveKey)).data).toMatchObject({ environment: 'live', available: 0, total: 0 });
});

test('creating a live session without a live provider is rejected with a message that names the missing setup', async () => {
  const body = { checkoutOrderNo: 'BOTH-PAID', amount: 20, currency: 'ETB', channels: ['TELEBIRR'] };
  const response = await service.send('POST', '/api/checkout/sessions', { key: merchant.liveKey, body });
  expect([response.status, response.body.error.code]).toEqual([403, 'CHANNEL_NOT_AVAILABLE']);
  expect(response.body.message).toContain('not set up in this environment');
});

test('events of one environment are sent to the receivers of that environment only', async () => {
  const requests = [...service.healthy.requests, ...service.failing.requests];
  expect(requests.length).toBeGreaterThan(0);
  for (const { body } of requests) {
    expect(live.marks.filter((mark) => body.toString().includes(mark))).toEqual([]);
  }
  const deliveries = await service.fixture.db
    .knex()('webhookDelivery')
    .whereIn('subscriptionId', live.ids['subscriptionId'] ?? [])
    .select('eventId');
  expect(deliveries.map(({ eventId }: { eventId: string }) => eventId)).toEqual(live.ids['eventId']);
});
