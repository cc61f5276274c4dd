import { withdrawalExport } from '../../../src/payouts/withdrawals/queries.ts';
import { autoDecide } from '../../../src/payouts/withdrawals/review.ts';
import { UNKNOWN_PAYOUT, NOT_THERE, PAID_OUT } from '../../support/withdrawals.ts';
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

  test('a quote has the fee and what is left today, and writes nothing', async () => {
    await fixture.request({ amount: 100 });
    const before = await fixture.balance();
    const { body } = await fixture.send('GET', `${PATH}/quote?channel=TELEBIRR&amount=250.5`);
    expect(body.data).toMatchObject({
      amount: 250.5,
      fee: 5,
      feeTax: 0.75,
      totalDebit: 256.25,
      channel: 'TELEBIRR',
      payoutTo: ['phone', 'bank'],
      limits: { min: 1, max: 75_000 },
      problems: [],
    });
    const { data: limits } = (await fixture.send('GET', '/api/checkout/limits')).body;
    const payOut = limits.find((one: { channel: string }) => one.channel === 'TELEBIRR').payOut;
    expect(body.data.limits).toEqual(payOut);
    expect(await fixture.balance()).toEqual(before);
    expect((await fixture.send('GET', PATH)).body.pagination.total).toBe(1);
  });

  test.each([
    [{ channel: 'TELEBIRR', amount: 0.5 }, ['AMOUNT_BELOW_MINIMUM']],
    [{ channel: 'TELEBIRR', amount: 996 }, ['INSUFFICIENT_BALANCE']],
    [{ channel: 'TELEBIRR', amount: 75_001 }, ['AMOUNT_ABOVE_MAXIMUM', 'INSUFFICIENT_BALANCE']],
    [{ channel: 'MPESA', amount: 50 }, ['CHANNEL_NOT_AVAILABLE']],
  ])('the quote of %j has the errors that the request itself gets: %j', async ({ channel, amount }, codes) => {
    const { body } = await fixture.send('GET', `${PATH}/quote?channel=${channel}&amount=${amount}`);
    expect(body.data.problems.map(({ code }: { code: string }) => code)).toEqual(codes);
    const requested = await fixture.request({ channel, amount });
    expect(requested.body).toMatchObject({
      message: body.data.problems[0].message,
      error: { code: codes[0] },
    });
  });

  test('a quote needs an amount of birr and a channel', async () => {
    for (const query of ['channel=TELEBIRR', 'channel=VISA&amount=1', 'channel=TELEBIRR&amount=1.005', 'amount=1']) {
      expect((await fixture.send('GET', `${PATH}/quote?${query}`)).status).toBe(400);
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
