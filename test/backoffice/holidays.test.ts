import { requestSettlement, linkAccount } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { startDesk, type Desk } from './desk.ts';

let desk: Desk;

beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.close());

describe('holidays', () => {
  test('are listed, including memorial and provisional ones', async () => {
    const { body } = await desk.send('GET', '/api/ops/holidays?startDate=2027-01-01&endDate=2027-12-31');
    const genna = { holidayId: 'hol_GENNA2027', date: '2027-01-07', name: 'Genna', confirmed: true };
    expect(body.data).toEqual(expect.arrayContaining([expect.objectContaining(genna)]));
    expect(body.data.some(({ kind }: { kind: string }) => kind === 'memorial')).toBe(true);
    const wide = await desk.send('GET', '/api/ops/holidays?startDate=2027-01-01&endDate=2099-12-31');
    expect(wide.body.error.code).toBe('DATE_RANGE_TOO_WIDE');
  });

  test('that are added, rescheduled, disabled and removed have audit rows, and open settlements are notified', async () => {
    const scope = await buildFreeMerchant(desk.world);
    await linkAccount(desk.world, scope);
    await fund(desk.world, scope, 100_000n);
    const { expectedUntil: date } = await requestSettlement(desk.world, scope);
    const enqueued = async () => (await desk.database.db('outbox').where({ signal: 'calendarChanged' })).length;
    const before = await enqueued();
    const added = await desk.send('POST', '/api/ops/holidays', {
      body: { date, name: 'Election', kind: 'closed', reason: 'Announced' },
    });
    expect(added.status).toBe(201);
    expect(await enqueued()).toBeGreaterThan(before);
    const { holidayId } = added.body.data;
    const path = `/api/ops/holidays/${holidayId}`;
    const again = { body: { date, name: 'Election', kind: 'closed' } };
    expect((await desk.send('POST', '/api/ops/holidays', again)).body.error.code).toBe('DUPLICATE_REFERENCE');
    const moved = await desk.send('PATCH', path, { body: { date: '2031-10-16', reason: 'Moved' } });
    expect(moved.body.data.date).toBe('2031-10-16');
    await desk.send('PATCH', path, { body: { date: '2031-10-16' } });
    expect((await desk.send('DELETE', path)).status).toBe(200);
    expect((await desk.send('DELETE', path)).status).toBe(404);
    expect(await desk.audited(holidayId)).toEqual(['holiday.add', 'holiday.change', 'holiday.remove']);
  });

  test('that are computed can be disabled and not removed', async () => {
    const path = '/api/ops/holidays/hol_LABOUR2028';
    expect((await desk.send('DELETE', path)).body.error.code).toBe('INVALID_STATE');
    const off = await desk.send('PATCH', path, { body: { active: false, reason: 'Not this year' } });
    expect(off.body.data.active).toBe(false);
    expect(await desk.audited('hol_LABOUR2028')).toEqual(['holiday.change']);
  });
});
