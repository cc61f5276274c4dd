import { rows } from '../../../src/lib/db.ts';
import { setSecondPersonFrom } from '../../../src/merchants/operations.ts';
import { useWithdrawalFixture } from './fixture.ts';

const fixture = useWithdrawalFixture();

const quoteAll = async (withdrawals: object[]) =>
  (await fixture.send('POST', '/api/checkout/withdrawal/quotes', { withdrawals })).body;
type Line = { problems: { code: string; message: string }[]; totalDebit?: number; withdrawal?: { requestId: string } };
const codesOf = ({ data }: { data: { lines: Line[] } }) =>
  data.lines.map(({ problems }) => problems.map(({ code }) => code));
const available = async (): Promise<number> => Number((await fixture.balance())[0]) / 100;
const count = async (): Promise<number> =>
  (await rows(fixture.db, 'SELECT 1 FROM payout WHERE merchant_id = :merchantId', fixture.scope)).length;

test('quotes of several withdrawals are the prices of those that are then requested, and request nothing', async () => {
  const wanted = [fixture.body({ amount: 10.5 }), fixture.body({ amount: 20 })];
  const { data } = await quoteAll(wanted);
  expect(await count()).toBe(0);
  expect(data.available).toBe(await available());
  const requested = [];
  for (const body of wanted) requested.push((await fixture.send('POST', '/api/checkout/withdrawal', body)).body.data);
  const prices = requested.map(({ amount, fee, feeTax, totalDebit }) => ({ amount, fee, feeTax, totalDebit }));
  expect(data.lines).toMatchObject(prices);
  const total = prices.reduce((sum, { totalDebit }) => sum + Math.round(totalDebit * 100), 0) / 100;
  expect(data.total).toMatchObject({ count: 2, amount: 30.5, totalDebit: total });
  expect(await available()).toBeCloseTo(data.available - total);
});

test('each line has its own errors, as a request of it would get', async () => {
  const bodies = [
    { ...fixture.body(), amount: '1250,50' },
    { ...fixture.body(), destination: { phone: '12', accountName: '' } },
    { ...fixture.body(), channel: 'TELEBIR' },
    { ...fixture.body(), amount: 0.5 },
    { ...fixture.body(), amount: 80_000 },
    { ...fixture.body(), channel: 'MPESA' },
    {},
  ];
  const quoted = await quoteAll(bodies);
  const responses = [];
  for (const body of bodies) responses.push((await fixture.send('POST', '/api/checkout/withdrawal', body)).body);
  expect(quoted.data.lines.map(({ problems: [first] }: Line) => first)).toEqual(
    responses.map(({ error: { code, details }, message }) => ({ code, message, details })),
  );
  expect(quoted.data.lines[1].problems[0].message).toContain('destination.accountName');
});

test('the balance and the daily limit are what the lines before leave', async () => {
  const has = await available();
  const part = Math.floor(has * 0.6);
  const balance = await quoteAll([
    fixture.body({ amount: part }),
    fixture.body({ amount: part }),
    fixture.body({ amount: 1 }),
  ]);
  expect(codesOf(balance)).toEqual([[], ['INSUFFICIENT_BALANCE'], []]);
  expect(balance.data.total.amount).toBe(2 * part + 1);
  await rows(
    fixture.db,
    `INSERT INTO limit_rule (id, merchant_id, channel, direction, min_santim, max_santim, daily_santim, valid_from, version)
     VALUES ('lim_' || :merchantId, :merchantId, 'TELEBIRR', 'PAY_OUT', 100, 10000, 10000, '2020-01-01', 1)`,
    fixture.scope,
  );
  const daily = await quoteAll([60, 50, 40].map((amount) => fixture.body({ amount })));
  expect(codesOf(daily)).toEqual([[], ['DAILY_LIMIT_EXCEEDED'], []]);
  expect(daily.data.lines[1].problems[0].message).toContain('40.00 ETB, what is left today');
});

test('a line that was requested before is returned as it is now and costs nothing more; a changed one is an error', async () => {
  const [same, changed] = [fixture.body({ amount: 30 }), fixture.body({ amount: 30 })];
  await fixture.send('POST', '/api/checkout/withdrawal', same);
  await fixture.send('POST', '/api/checkout/withdrawal', changed);
  const lines = [same, { ...changed, amount: 31 }, same, fixture.body({ amount: 5 })];
  const quoted = await quoteAll(lines);
  expect(codesOf(quoted)).toEqual([[], ['DUPLICATE_REFERENCE'], ['VALIDATION_ERROR'], []]);
  expect(quoted.data.lines[0].withdrawal).toMatchObject({ requestId: same['requestId'], status: 'PENDING' });
  expect(quoted.data.total).toMatchObject({ amount: 35, count: 2 });
});

test('lines that need a second person are marked', async () => {
  await fixture.runInTransaction(({ trx }) => setSecondPersonFrom(trx, fixture.scope.merchantId, 50_00n));
  const { data } = await quoteAll([fixture.body({ amount: 49.99 }), fixture.body({ amount: 50 })]);
  expect(data.lines.map((line: { needsSecondPerson: boolean }) => line.needsSecondPerson)).toEqual([false, true]);
});

test.each([[[]], [Array.from({ length: 501 }, () => ({}))], ['none']])(
  'a list of no or too many lines is rejected',
  async (withdrawals) => {
    const refused = await fixture.send('POST', '/api/checkout/withdrawal/quotes', { withdrawals });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  },
);
