import { requestSettlement, linkAccount } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
afterAll(() => backOffice.close());

describe('holidays', () => {
  test('are listed, including memorial and provisional ones', async () => {
    const { body } = await backOffice.send('GET', '/api/ops/holidays?startDate=2027-01-01&endDate=2027-12-31');
    const genna = { holidayId: 'hol_GENNA2027', date: '2027-01-07', name: 'Genna', confirmed: true };
    expect(body.data).toEqual(expect.arrayContaining([expect.objectContaining(genna)]));
    expect(body.data.some(({ kind }: { kind: string }) => kind === 'memorial')).toBe(true);
    const wide = await backOffice.send('GET', '/api/ops/holidays?startDate=2027-01-01&endDate=2099-12-31');
    expect(wide.body.error.code).toBe('DATE_RANGE_TOO_WIDE');
  });

  test('that are added, rescheduled, disabled and removed have audit rows, and open settlements are notified', async () => {
    const scope = await buildFreeMerchant(backOffice.fixture);
    await linkAccount(backOffice.fixture, scope);
    await fund(backOffice.fixture, scope, 100_000n);
    const { expectedUntil: date } = await requestSettlement(backOffice.fixture, scope);
    const enqueued = async () =>
      (await backOffice.database.db.knex()('outbox').where({ signal: 'calendarChanged' })).length;
    const before = await enqueued();
    const added = await backOffice.send('POST', '/api/ops/holidays', {
      body: { date, name: 'Election', kind: 'closed', reason: 'Announced' },
    });
    expect(added.status).toBe(201);
    expect(await enqueued()).toBe(before + 1);
    const { holidayId } = added.body.data;
    const path = `/api/ops/holidays/${holidayId}`;
    const again = { body: { date, name: 'Election', kind: 'closed' } };
    expect((await backOffice.send('POST', '/api/ops/holidays', again)).body.error.code).toBe('DUPLICATE_REFERENCE');
    const moved = await backOffice.send('PATCH', path, { body: { date: '2031-10-16', reason: 'Moved' } });
    expect(moved.body.data.date).toBe('2031-10-16');
    expect(await enqueued()).toBe(before + 2);
    await backOffice.send('PATCH', path, { body: { date: '2031-10-16' } });
    await backOffice.send('PATCH', path, { body: { date } });
    expect(await enqueued()).toBe(before + 3);
    expect((await backOffice.send('DELETE', path)).status).toBe(200);
    expect(await enqueued()).toBe(before + 4);
    expect((await backOffice.send('DELETE', path)).status).toBe(404);
    expect(await backOffice.audited(holidayId)).toEqual([
      'holiday.add',
      'holiday.change',
      'holiday.change',
      'holiday.remove',
    ]);
  });

  test('that are computed can be disabled and not removed', async () => {
    const path = '/api/ops/holidays/hol_LABOUR2028';
    expect((await backOffice.send('DELETE', path)).body.error.code).toBe('INVALID_STATE');
    const off = await backOffice.send('PATCH', path, { body: { active: false, reason: 'Not this year' } });
    expect(off.body.data.active).toBe(false);
    expect(await backOffice.audited('hol_LABOUR2028')).toEqual(['holiday.change']);
  });
});
