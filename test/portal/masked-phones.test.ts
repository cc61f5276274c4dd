import { buildFixture, buildSession } from '../support/build.ts';
import { startPortalService, type PortalService } from './portal.ts';

const DAY = '2026-03-02';
const FILTER = `startDate=${DAY}&endDate=${DAY}&status=ALL&currency=ETB`;

let service: PortalService;
let merchantId: string;

beforeAll(async () => {
  service = await startPortalService();
  merchantId = await service.newMerchant();
  const fixture = buildFixture(service.db);
  const scope = { merchantId, environment: 'sandbox' } as const;
  await buildSession(fixture, scope, { checkoutOrderNo: 'ORDER-1', customerPhone: '251911223344' });
}, 60_000);
afterAll(() => service?.close());

describe('a person who reads phones masked', () => {
  test.each(['0911223344', '1122', '22334'])('cannot learn a phone by searching for %s', async (search) => {
    const counts = [];
    for (const role of ['viewer', 'support'] as const) {
      const person = await service.signedIn(merchantId, role);
      const list = await person.send('GET', `/api/checkout/txns/get_all_txns?${FILTER}&search=${search}`);
      const sums = await person.send('GET', `/api/checkout/txns/summary?${FILTER}&search=${search}`);
      const file = await person.send('GET', `/api/checkout/txns/export?${FILTER}&search=${search}`);
      counts.push([list.body.pagination.total, sums.body.data.total.count, file.text.includes('ORDER-1')]);
    }
    expect(counts).toEqual([
      [0, 0, false],
      [1, 1, true],
    ]);
  });

  test('finds the same payment by its order number, with the phone masked', async () => {
    const viewer = await service.signedIn(merchantId, 'viewer');
    const { body } = await viewer.send('GET', `/api/checkout/txns/get_all_txns?${FILTER}&search=ORDER-1`);
    expect(body.data).toMatchObject([{ checkoutOrderNo: 'ORDER-1', customerPhone: '********3344' }]);
  });

  test('gets a file with phones masked, which others get with them', async () => {
    const texts = [];
    for (const role of ['viewer', 'support'] as const) {
      const person = await service.signedIn(merchantId, role);
      texts.push((await person.send('GET', `/api/checkout/txns/export?${FILTER}`)).text);
    }
    expect(texts.map((text) => text.match(/(?:\*{8}|25191122)3344/)?.[0])).toEqual(['********3344', '251911223344']);
  });
});
