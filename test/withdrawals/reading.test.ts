import { withdrawalExport } from '../../src/withdrawals/queries.ts';
import { autoDecide } from '../../src/withdrawals/review.ts';
import { UNKNOWN_PAYOUT, NOT_THERE, PAID_OUT } from '../support/withdrawals.ts';
import { CHECK, useWithdrawalFixture, PATH } from './fixture.ts';

describe('reading withdrawals', () => {
  const fixture = useWithdrawalFixture();

  test('the list filters by status, channel and search, newest first', async () => {
    const first = await fixture.ready({ amount: 10 });
    fixture.pass(1_000);
    const second = await fixture.ready({ amount: 11 });
    fixture.provider.returnsForPayouts({ ...PAID_OUT, amountSantim: 11_00n });
    await fixture.checkPayout(second, CHECK);
    const ids = async (query: string) =>
      (await fixture.send('GET', `${PATH}?${query}`)).body.data.map(
        (one: { withdrawalRequestId: string }) => one.withdrawalRequestId,
      );
    expect(await ids('startDate=2026-03-02&endDate=2026-03-02')).toEqual([second, first]);
    expect(await ids('startDate=2026-03-02&endDate=2026-03-02&status=SUCCESS')).toEqual([second]);
    expect(await ids(`startDate=2026-03-02&endDate=2026-03-02&search=${first}`)).toEqual([first]);
    expect(await ids('startDate=2026-03-02&endDate=2026-03-02&channel=AWASH')).toEqual([]);
    const page = (await fixture.send('GET', `${PATH}?startDate=2026-03-02&endDate=2026-03-02&limit=1`)).body.pagination;
    expect(await ids(`startDate=2026-03-02&endDate=2026-03-02&limit=1&cursor=${page.nextCursor}`)).toEqual([first]);
  });

  test('the rows for reports have the last four digits of a phone or account, and no requester', async () => {
    const bank = { bankCode: 'CBE', accountNumber: '1000123456789', accountName: 'Abebe Bikila' };
    await fixture.request();
    fixture.pass(1_000);
    await fixture.request({ channel: 'AWASH', destination: bank });
    const day = '2026-03-02';
    const [from, until] = [new Date('2026-03-01T21:00:00.000Z'), new Date('2026-03-02T21:00:00.000Z')];
    const filter = { ...fixture.scope, range: { startDate: day, endDate: day, from, until }, statuses: null };
    const read = await withdrawalExport.read(fixture.db, filter, { after: null, limit: 10 });
    expect(read.map(({ destination }) => destination)).toEqual(['CBE *********6789', '********0001']);
    for (const row of read) {
      expect(Object.values(row)).not.toContain('251911000001');
      expect(Object.values(row)).not.toContain(bank.accountNumber);
      expect(Object.keys(row)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/requestedBy|lease|secret/i)]),
      );
    }
  });

  test('verify accepts our id or the merchant’s, and queries the provider at most every 30 s', async () => {
    const sent = fixture.body();
    const id = (await fixture.send('POST', PATH, sent)).body.data.withdrawalRequestId;
    await autoDecide(fixture, id, fixture.clock());
    const verify = async (wanted: string) => (await fixture.send('GET', `${PATH}/verify/${wanted}`)).body.data;
    expect(await verify(String(sent['requestId']))).toMatchObject({ withdrawalRequestId: id, stage: 'CREATED' });
    expect(fixture.provider.payoutQueries).toEqual([]);
    await fixture.checkPayout(id, CHECK);
    fixture.provider.returnsForPayouts(PAID_OUT);
    expect(await verify(id)).toMatchObject({ status: 'PENDING' });
    fixture.pass(31_000);
    expect(await verify(id)).toMatchObject({ status: 'SUCCESS' });
    expect((await fixture.send('GET', `${PATH}/verify/nothing`)).status).toBe(404);
  });

  test('a check with queryOnly sends nothing, neither the first time nor again', async () => {
    const id = await fixture.ready();
    const asking = { ...CHECK, proof: true, queryOnly: true };
    expect((await fixture.checkPayout(id, asking)).queried).toBe(false);
    fixture.provider.returnsForPayouts(UNKNOWN_PAYOUT);
    await fixture.checkPayout(id, CHECK);
    fixture.provider.returnsForPayouts(NOT_THERE, PAID_OUT);
    expect((await fixture.checkPayout(id, asking)).outcome).toBe('not-found');
    expect(fixture.provider.payoutQueries.map(({ operation }) => operation)).toEqual(['payout', 'queryPayout']);
    expect((await fixture.read(id)).status).toBe('PENDING');
  });
});
