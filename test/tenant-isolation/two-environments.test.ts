import { newId, type IdPrefix } from '../../src/lib/ids.ts';
import { decideKyc } from '../../src/merchants/kyc/decide.ts';
import { until } from '../support/worker.ts';
import { createMerchantWithEverything, settle, type Merchant } from './belongings.ts';
import { readOperations, type Operation } from './contract.ts';
import { readRows } from './rows.ts';
import { ownedNames, pathWith, validBody, validQuery } from './samples.ts';
import { startWalls, type Walls } from './world.ts';

let walls: Walls;
let operations: Operation[];
let merchant: Merchant;
/** What the merchant has in live, by the name that paths call it; and what only live may show. */
let live: { ids: Record<string, string[]>; marks: string[] };

beforeAll(async () => {
  walls = await startWalls();
  operations = (await readOperations(walls)).filter(({ by }) => by !== 'operator' && by !== 'nobody');
  merchant = await createMerchantWithEverything(walls, 'BOTH');
  live = await goLive();
  await settle(walls);
}, 90_000);
afterAll(() => walls.close(), 60_000);

/** Applies by the live key, is approved, and has in live what one can have without a live provider. */
async function goLive() {
  const { merchantId, liveKey: key } = merchant;
  const send = async (method: string, path: string, body: object): Promise<Record<string, string>> => {
    const { status, body: answer, text } = await walls.send(method, `/api/checkout/${path}`, { key, body });
    if (status >= 300) throw new Error(`${path} answered ${status}: ${text}`);
    return answer.data;
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
  // The rehearsal in the sandbox is the worker's to decide: nobody looks at it here.
  const rehearsal = { key: merchant.key, body: { ...APPLICATION, legalName: 'BOTH', tradeName: 'BOTH' } };
  await walls.send('PUT', '/api/checkout/kyc', rehearsal);
  for (const kind of ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID']) {
    const file = new Blob(['%PDF-1.7 BOTH'], { type: 'application/pdf' });
    await walls.send('POST', `/api/checkout/kyc/documents?kind=${kind}`, { key: merchant.key, body: file });
  }
  await walls.send('POST', '/api/checkout/kyc/submit', { key: merchant.key, body: {} });
  const decision = { merchantId, environment: 'live', operatorId: 'opr_1', at: new Date() } as const;
  await walls.world.runInTransaction((tx) => decideKyc(tx, decision, { type: 'approve', submission: 1 }));
  await until('the rehearsal to be decided', () =>
    walls.world.db('kycApplication').where({ merchantId, environment: 'sandbox', status: 'APPROVED' }).first(),
  );
  await until('the live key to be let in', async () => {
    const { status } = await walls.send('GET', '/api/checkout/channels', { key });
    return status === 200;
  });
  // Nobody is there: what matters is who else gets it.
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

/** What names the merchant names it in both environments; all else is of the sandbox alone. */
const sandboxMarks = (): string[] => merchant.marks.filter((mark) => mark !== merchant.merchantId);
const firstIds = (ids: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(ids).map(([name, [id = '']]) => [name, id]));
const call = (operation: Operation, ids: Record<string, string>, key: string) =>
  walls.send(operation.method, pathWith(operation, ids) + validQuery(operation), { key, body: validBody(operation) });

test('an id of the one environment is answered, with a key of the other, like one that never was, and nothing changes', async () => {
  const before = await readRows(walls.world.db);
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
      const answers = [];
      for (const asked of [theirs, invented]) {
        const { status, body } = await call(operation, asked, key);
        answers.push({ status, code: body.error?.code, message: body.message });
      }
      const route = `${operation.name} of ${environment}`;
      expect({ route, ...answers[0] }).toEqual({ route, ...answers[1] });
      expect({ route, status: answers[0]?.status }).toEqual({ route, status: 404 });
    }
  }
  expect(walked.sandbox).toBeGreaterThanOrEqual(18);
  expect(walked.live).toBeGreaterThanOrEqual(6);
  expect(await readRows(walls.world.db)).toEqual(before);
}, 60_000);

test('what a key reads and lists is of its own environment and of no other', async () => {
  for (const operation of operations.filter(({ method, name }) => method === 'GET' && !name.includes('{'))) {
    const answers = {
      sandbox: await call(operation, {}, merchant.key),
      live: await call(operation, {}, merchant.liveKey),
    };
    const leaked = [
      ...live.marks.filter((mark) => answers.sandbox.text.includes(mark)),
      ...sandboxMarks().filter((mark) => answers.live.text.includes(mark)),
    ];
    const statuses = [answers.sandbox.status, answers.live.status];
    expect({ route: operation.name, statuses, leaked }).toEqual({
      route: operation.name,
      statuses: [200, 200],
      leaked: [],
    });
  }
});

test('a live balance, its history and its transactions begin with nothing, whatever was paid in the sandbox', async () => {
  const today = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10);
  const get = async (path: string, key: string) => (await walls.send('GET', `/api/checkout/${path}`, { key })).body;
  const list = `txns/get_all_txns?startDate=${today}&endDate=${today}&status=ALL&currency=ETB`;
  expect((await get(list, merchant.key)).pagination.total).toBeGreaterThan(0);
  expect((await get(list, merchant.liveKey)).pagination.total).toBe(0);
  expect((await get('balance', merchant.key)).data.total).toBeGreaterThan(0);
  expect((await get('balance', merchant.liveKey)).data).toMatchObject({ environment: 'live', available: 0, total: 0 });
});

test('a live session is refused by name of what is missing, for no live provider is set up', async () => {
  const body = { checkoutOrderNo: 'BOTH-PAID', amount: 20, currency: 'ETB', channels: ['TELEBIRR'] };
  const answer = await walls.send('POST', '/api/checkout/sessions', { key: merchant.liveKey, body });
  expect([answer.status, answer.body.error.code]).toEqual([403, 'CHANNEL_NOT_AVAILABLE']);
  expect(answer.body.message).toContain('not set up in this environment');
});

test('a receiver of the sandbox gets nothing of live, and a live one nothing of the sandbox', async () => {
  const requests = [...walls.healthy.requests, ...walls.failing.requests];
  expect(requests.length).toBeGreaterThan(0);
  for (const { body } of requests) {
    expect(live.marks.filter((mark) => body.toString().includes(mark))).toEqual([]);
  }
  const deliveries = await walls.world
    .db('webhookDelivery')
    .whereIn('subscriptionId', live.ids['subscriptionId'] ?? [])
    .select('eventId');
  expect(deliveries.map(({ eventId }: { eventId: string }) => eventId)).toEqual(live.ids['eventId']);
});
