import { addisDay, DAY_MS } from '../../src/lib/dates.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildFixture } from '../support/build.ts';
import { fund } from '../support/withdrawals.ts';
import { usePortalService, type Browser } from './portal.ts';

const portal = usePortalService();
const REPORTS = '/api/checkout/reports';
let owner: Browser;
let support: Browser;
let viewer: Browser;

beforeAll(async () => {
  const scope: MerchantScope = { merchantId: await portal.newMerchant('Abyssinia Coffee'), environment: 'sandbox' };
  await fund(buildFixture(portal.db, { clock: () => new Date() }), scope, 1_000_00n);
  owner = await portal.signedIn(scope.merchantId, 'owner');
  support = await portal.signedIn(scope.merchantId, 'support');
  viewer = await portal.signedIn(scope.merchantId, 'viewer');
  const destination = { phone: '0911000001', accountName: 'Abebe Bikila' };
  const body = { requestId: 'OUT-1', amount: 100, channel: 'TELEBIRR', destination };
  await owner.send('POST', '/api/checkout/withdrawal', { body });
});

const request = (person: Browser, kind: string) => person.send('POST', REPORTS, { body: { kind, period: 'day' } });
const statusOf = async (person: Browser, path: string, method = 'GET') =>
  (await person.send(method, `${REPORTS}/${path}`)).status;

test('a role that reads reports of payments alone finds no other one, in the list or by its id', async () => {
  const ids: string[] = [];
  for (const kind of ['payments', 'refunds', 'withdrawals', 'settlements', 'balance']) {
    const { status, body } = await request(owner, kind);
    expect([status, body.data.status]).toEqual([202, 'READY']);
    ids.push(body.data.reportId);
  }
  const [payments = '', ...others] = ids;
  const listed = async (person: Browser) =>
    (await person.send('GET', REPORTS)).body.data.map(({ reportId }: { reportId: string }) => reportId);
  expect([await listed(viewer), await listed(support)]).toEqual([ids.toReversed(), [payments]]);
  for (const id of others) {
    expect([await statusOf(viewer, id), await statusOf(viewer, `${id}/file`)]).toEqual([200, 200]);
    expect([await statusOf(support, id), await statusOf(support, `${id}/file`)]).toEqual([404, 404]);
    expect(await statusOf(support, `${id}/cancel`, 'POST')).toBe(404);
  }
  expect([await statusOf(support, payments), await statusOf(support, `${payments}/file`)]).toEqual([200, 200]);
  expect((await request(support, 'withdrawals')).body.error.code).toBe('INSUFFICIENT_SCOPE');
});

test('the file of a report of payments, which has phones, is closed to a role that reads them masked', async () => {
  const { reportId } = (await request(owner, 'payments')).body.data;
  expect([await statusOf(viewer, reportId), await statusOf(viewer, `${reportId}/file`)]).toEqual([200, 403]);
});

test('the summary of a period has the sums of payments alone for a role that reads no others', async () => {
  const [startDate, endDate] = [addisDay(new Date(Date.now() - DAY_MS)), addisDay(new Date())];
  const path = `${REPORTS}/summary?period=custom&startDate=${startDate}&endDate=${endDate}`;
  const sums = async (person: Browser) => {
    const { payments, withdrawals } = (await person.send('GET', path)).body.data;
    return [payments.total.count, withdrawals.total.count];
  };
  expect([await sums(viewer), await sums(support)]).toEqual([
    [1, 1],
    [1, 0],
  ]);
});
