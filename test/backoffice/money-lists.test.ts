import type { MerchantScope } from '../../src/lib/scope.ts';
import { requestSettlement, linkAccount, withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scopes: MerchantScope[];

beforeAll(async () => {
  backOffice = await startBackOffice();
  scopes = [await buildFreeMerchant(backOffice.fixture), await buildFreeMerchant(backOffice.fixture)];
  for (const scope of scopes) {
    await fund(backOffice.fixture, scope, 1_000_00n);
    await linkAccount(backOffice.fixture, scope);
    await requestSettlement(backOffice.fixture, scope);
    await withdraw(backOffice.fixture, scope);
    await requestSettlement(backOffice.fixture, scope);
    await withdraw(backOffice.fixture, scope);
  }
});
afterAll(() => backOffice.close());

const list = async (path: string) => backOffice.send('GET', `/api/ops/${path}`, { key: backOffice.people.viewer.key });
const merchantsOf = (data: { merchantId: string }[]) => data.map(({ merchantId }) => merchantId);

describe.each(['settlements', 'withdrawals'])('the operators’ list of %s', (what) => {
  test('shows those of all merchants, the newest first, page by page without a gap', async () => {
    const [older, newer] = scopes.map(({ merchantId }) => merchantId);
    const all = (await list(what)).body;
    expect(merchantsOf(all.data)).toEqual([newer, newer, older, older]);
    expect(all.pagination).toMatchObject({ total: 4 });
    const seen: object[] = [];
    for (let next: string | null = ''; next !== null;) {
      const { body } = await list(`${what}?limit=3${next && `&cursor=${next}`}`);
      seen.push(...body.data);
      next = body.pagination.nextCursor;
    }
    expect(seen).toEqual(all.data);
  });

  test('is narrowed by merchant, environment, status, day and reference', async () => {
    const merchantId = scopes[0]?.merchantId ?? '';
    const totalOf = async (query: string) => (await list(`${what}?${query}`)).body.pagination.total;
    expect(merchantsOf((await list(`${what}?merchantId=${merchantId}`)).body.data)).toEqual([merchantId, merchantId]);
    expect(await totalOf('environment=sandbox')).toBe(4);
    expect(await totalOf('environment=live')).toBe(0);
    expect(await totalOf(what === 'settlements' ? 'status=REQUESTED,APPROVED' : 'status=PENDING')).toBe(4);
    expect(await totalOf('status=FAILED')).toBe(0);
    expect(await totalOf('startDate=2026-01-01&endDate=2026-01-31')).toBe(0);
    const [row] = (await list(what)).body.data;
    expect(await totalOf(`search=${row.settlementId ?? row.withdrawalId}`)).toBe(1);
    expect((await list(`${what}?status=SENT`)).body.message).toContain('status must be one of');
    expect((await list(`${what}?merchant=${merchantId}`)).status).toBe(400);
  });
});

test('of account numbers it shows four digits to who may not see them', async () => {
  const { body } = await list('settlements');
  expect(body.data[0]).toMatchObject({
    bankAccount: { accountNumber: '*********6789' },
    status: 'REQUESTED',
    amount: 150,
  });
});
