import { rows } from '../../../src/lib/db.ts';
import { PAID_OUT, REFUSED, REVERSED } from '../../support/withdrawals.ts';
import { useWithdrawalFixture, PATH } from './fixture.ts';

describe('rejected requests for a withdrawal', () => {
  const fixture = useWithdrawalFixture();

  const limitTo250ADay = () =>
    rows(
      fixture.db,
      `INSERT INTO limit_rule (id, merchant_id, channel, direction, min_santim, max_santim, daily_santim, valid_from, version)
       VALUES (:id, :merchantId, 'TELEBIRR', 'PAY_OUT', 100, 20000, 25000, '2020-01-01T00:00:00Z', 1)`,
      { id: `lim_${fixture.scope.merchantId}`, merchantId: fixture.scope.merchantId },
    );

  test('an amount outside the limits is rejected with the limit, the value and what is left of the day', async () => {
    const rejection = async (changes: object) => {
      const { status, body: answer } = await fixture.request(changes);
      return { status, code: answer.error.code, message: answer.message };
    };
    expect(await rejection({ amount: 0.5 })).toEqual({
      status: 422,
      code: 'AMOUNT_BELOW_MINIMUM',
      message:
        'amount must be at least 1.00 ETB on TELEBIRR, got 0.50; 750000.00 ETB are left today of 750000.00 ETB a day',
    });
    expect(await rejection({ amount: 75_001 })).toMatchObject({
      code: 'AMOUNT_ABOVE_MAXIMUM',
      message:
        'amount must be at most 75000.00 ETB on TELEBIRR, got 75001.00; 750000.00 ETB are left today of 750000.00 ETB a day',
    });
    expect(await rejection({ amount: 995 })).toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      message: expect.stringContaining('takes 1000.75 ETB with its fee and tax, and 1000.00 ETB are available'),
    });
    await limitTo250ADay();
    await fixture.ready({ amount: 200 });
    expect(await rejection({ amount: 50.01 })).toMatchObject({
      code: 'DAILY_LIMIT_EXCEEDED',
      message: 'amount must be at most 50.00 ETB, what is left today of 250.00 ETB a day on TELEBIRR, got 50.01',
    });
    expect(await rejection({ amount: 200.01 })).toMatchObject({
      code: 'AMOUNT_ABOVE_MAXIMUM',
      message:
        'amount must be at most 200.00 ETB on TELEBIRR, got 200.01; 50.00 ETB are left today of 250.00 ETB a day',
    });
    const { body: limits } = await fixture.send('GET', '/api/checkout/limits');
    expect(limits.data[0]).toMatchObject({
      channel: 'TELEBIRR',
      payoutTo: ['phone', 'bank'],
      payOut: { min: 1, max: 200, daily: 250, remainingToday: 50 },
    });
  });

  test('the smallest amount, the largest one and all that is left of the daily limit are accepted', async () => {
    await limitTo250ADay();
    for (const amount of [1, 200, 49]) expect((await fixture.request({ amount })).status).toBe(202);
  });

  test.each([
    ['three decimals', { amount: 1.001 }, 'amount'],
    ['a negative amount', { amount: -1 }, 'amount'],
    ['a zero amount', { amount: 0 }, 'amount'],
    ['an amount as text', { amount: '100' }, 'amount'],
    [
      'an unknown bank',
      { destination: { bankCode: 'NOBANK', accountNumber: '1000000001', accountName: 'A' } },
      'destination.bankCode',
    ],
    [
      'an account with letters',
      { destination: { bankCode: 'CBE', accountNumber: '10000x', accountName: 'A' } },
      'destination.accountNumber',
    ],
    [
      'a phone and a bank',
      { destination: { phone: '0911000001', bankCode: 'CBE', accountNumber: '1000000001', accountName: 'A' } },
      'destination',
    ],
    ['no destination', { destination: { accountName: 'A' } }, 'destination'],
    ['a foreign phone', { destination: { phone: '+447911123456', accountName: 'A' } }, 'destination.phone'],
    ['no account name', { destination: { phone: '0911000001' } }, 'destination.accountName'],
    [
      'a line break in the name',
      { destination: { phone: '0911000001', accountName: 'A\nB' } },
      'destination.accountName',
    ],
    ['an unknown channel', { channel: 'PAYPAL' }, 'channel'],
    ['another currency', { currency: 'USD' }, 'currency'],
    ['a requestId with spaces', { requestId: 'a b' }, 'requestId'],
  ])('a request with %s is rejected, names the field, and creates nothing', async (_what, changes, field) => {
    const { status, body: answer } = await fixture.request(changes);
    expect({ status, field: answer.error.details[0].field }).toEqual({ status: 400, field });
    expect((await fixture.send('GET', PATH)).body.pagination.total).toBe(0);
  });

  test('an infinite amount is rejected', async () => {
    const text = JSON.stringify(fixture.body()).replace('"amount":100', '"amount":1e400');
    const { status } = await fixture.send('POST', PATH, text);
    expect(status).toBe(400);
  });

  test('a channel that is announced only, or disabled, is rejected', async () => {
    expect((await fixture.request({ channel: 'MPESA' })).body.error.code).toBe('CHANNEL_NOT_AVAILABLE');
    await rows(
      fixture.db,
      `UPDATE merchant_channel SET enabled = false WHERE merchant_id = :merchantId`,
      fixture.scope,
    );
    expect((await fixture.request()).body.error.code).toBe('CHANNEL_DISABLED');
  });

  test('a withdrawal that fails, is cancelled or is reversed gives its part of the daily limit back', async () => {
    await limitTo250ADay();
    const left = async () => (await fixture.send('GET', '/api/checkout/limits')).body.data[0].payOut.remainingToday;
    const failed = await fixture.ready({ amount: 200 });
    await fixture.report(failed, REFUSED);
    expect(await left()).toBe(250);
    const cancelled = await fixture.ready({ amount: 200 });
    expect(await left()).toBe(50);
    await fixture.send('POST', `${PATH}/${cancelled}/cancel`);
    expect(await left()).toBe(250);
    const reversed = await fixture.ready({ amount: 200 });
    await fixture.report(reversed, { ...PAID_OUT, amountSantim: 200_00n });
    expect(await left()).toBe(50);
    await fixture.report(reversed, { ...REVERSED, amountSantim: 200_00n });
    expect(await left()).toBe(250);
  });

  test('the daily limit counts the day in Addis Ababa, neither the UTC day nor the last 24 hours', async () => {
    const moveTo = (instant: string) => fixture.pass(Date.parse(instant) - fixture.clock().getTime());
    const left = async () => (await fixture.send('GET', '/api/checkout/limits')).body.data[0].payOut.remainingToday;
    await limitTo250ADay();
    moveTo('2026-03-04T23:30:00.000+03:00');
    await fixture.ready({ amount: 200 });
    expect(await left()).toBe(50);
    moveTo('2026-03-05T00:30:00.000+03:00');
    expect(await left()).toBe(250);
    await fixture.ready({ amount: 200 });
    moveTo('2026-03-05T23:30:00.000+03:00');
    expect(await left()).toBe(50);
    const { body: refused } = await fixture.request({ amount: 50.01 });
    expect(refused.error.code).toBe('DAILY_LIMIT_EXCEEDED');
    await fixture.ready({ amount: 50 });
  });
});
