import { DAY_MS } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildMerchant, buildPendingPayment, PAID } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;
let path: string;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  scope = await buildMerchant(backOffice.database.db);
  path = `/api/ops/merchants/${scope.merchantId}`;
});
afterAll(() => backOffice.close());

type Rule = { direction: string; channel: string | null; own: boolean };
const of = (rules: Rule[], direction: string, channel: string | null = 'TELEBIRR') =>
  rules.find((rule) => rule.direction === direction && rule.channel === channel);

const FEE = { direction: 'PAY_IN', channel: 'TELEBIRR', basisPoints: 100, fixed: 1, max: 50 };
const changeFees = (rules: object[], reason = 'Contract of March') =>
  backOffice.send('PUT', `${path}/fees`, { body: { rules, reason } });
const confirmFees = (rules: object[]) =>
  backOffice.confirmed('PUT', `${path}/fees`, { rules, reason: 'Contract of March' });
const currentFees = async () => (await backOffice.send('GET', `${path}/fees`)).body.data;
const changeLimits = (rules: object[]) =>
  backOffice.send('PUT', `${path}/limits`, { body: { rules, reason: 'Contract' } });

describe('fees', () => {
  test('a merchant without fee rules has those of the platform', async () => {
    const { body } = await backOffice.send('GET', `${path}/fees`);
    expect(of(body.data.current, 'PAY_IN')).toMatchObject({ own: false, basisPoints: 250, fixed: 0, version: 1 });
    expect(of(body.data.current, 'SETTLEMENT', null)).toMatchObject({ own: false });
    expect(body.data.scheduled).toEqual([]);
  });

  test('a fee rule of a merchant applies to its next payment, and earlier fees are unchanged', async () => {
    const before = await buildPendingPayment(backOffice.fixture, scope);
    backOffice.fixture.provider.returns(PAID);
    await backOffice.fixture.checkAttempt(before.attemptId, { notifyWorkflow: false });
    await confirmFees([FEE]);
    const { current } = await currentFees();
    expect(of(current, 'PAY_IN')).toMatchObject({ own: true, basisPoints: 100, fixed: 1, max: 50 });
    expect(of(current, 'PAY_IN', 'AWASH')).toMatchObject({ own: false });
    const after = await buildPendingPayment(backOffice.fixture, scope);
    backOffice.fixture.provider.returns(PAID);
    await backOffice.fixture.checkAttempt(after.attemptId, { notifyWorkflow: false });
    const fees = await backOffice.database.db
      .knex()('transaction')
      .where({ merchantId: scope.merchantId })
      .orderBy('id');
    expect(fees.map(({ feeSantim }: { feeSantim: bigint }) => feeSantim)).toEqual([251n, 201n]);
    await expectLedgerHolds(backOffice.database.db);
  });

  test('a fee rule with a later date is scheduled, and the current one applies until then', async () => {
    const validFrom = new Date(Date.now() + 7 * DAY_MS).toISOString();
    await confirmFees([{ ...FEE, validFrom }]);
    const { current, scheduled } = await currentFees();
    expect(scheduled).toEqual([expect.objectContaining({ own: true, basisPoints: 100, validFrom })]);
    expect(of(current, 'PAY_IN')).toMatchObject({ own: false, basisPoints: 250 });
  });

  test('the same rule for payments and for payouts is stored for each', async () => {
    await confirmFees([FEE, { ...FEE, direction: 'PAY_OUT' }]);
    const { current } = await currentFees();
    for (const direction of ['PAY_IN', 'PAY_OUT']) {
      expect(of(current, direction)).toMatchObject({ own: true, basisPoints: 100, version: 1 });
    }
  });

  test('the same again is no new version, and noted once', async () => {
    await confirmFees([FEE]);
    const again = await changeFees([FEE]);
    expect(again.status).toBe(200);
    expect(of(again.body.data.current, 'PAY_IN')).toMatchObject({ version: 1 });
    expect(await backOffice.audited(scope.merchantId)).toEqual(['merchant.change-fees']);
    const { body } = await backOffice.send('GET', `/api/ops/audit?resourceId=${scope.merchantId}`);
    expect(body.data[0]).toMatchObject({
      before: { rules: [{ own: false, basisPoints: 250 }] },
      after: { rules: [{ own: true, basisPoints: 100 }] },
      reason: 'Contract of March',
    });
  });

  test.each([
    ['begins in the past', { ...FEE, validFrom: '2026-01-01T00:00:00Z' }, /validFrom must not be in the past/],
    ['is a half of the amount', { ...FEE, basisPoints: 5_000 }, /basisPoints must be a whole number from 0 to 2000/],
    ['is below nothing', { ...FEE, basisPoints: -1 }, /basisPoints must be/],
    ['is more than anybody charges', { ...FEE, fixed: 20_000 }, /fixed must be from 0 to 10000.00 ETB/],
    ['has three decimals', { ...FEE, fixed: 1.005 }, /at most two decimals/],
    ['ends below its beginning', { ...FEE, min: 60 }, /max must be at least min/],
    ['of a payment names no channel', { direction: 'PAY_IN', basisPoints: 1 }, /channel must be given/],
    ['of settlements names a channel', { ...FEE, direction: 'SETTLEMENT' }, /left out for SETTLEMENT/],
  ])('a fee rule that %s is rejected, and none of its request is stored', async (_, rule, type) => {
    const answer = await changeFees([{ ...FEE, basisPoints: 99 }, rule]);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.message).toMatch(type);
    const { body } = await backOffice.send('GET', `${path}/fees`);
    expect(of(body.data.current, 'PAY_IN')).toMatchObject({ own: false });
    expect(await backOffice.audited(scope.merchantId)).toEqual([]);
  });
});

describe('limits', () => {
  const LIMIT = { direction: 'PAY_OUT', channel: 'TELEBIRR', min: 10, max: 5_000, daily: 20_000 };

  test("of its own stand before the platform's, and the same again is no new version", async () => {
    await backOffice.confirmed('PUT', `${path}/limits`, { rules: [LIMIT], reason: 'Contract' });
    const { body } = await changeLimits([LIMIT]);
    expect(of(body.data.current, 'PAY_OUT')).toMatchObject({ ...LIMIT, own: true, version: 1 });
    expect(of(body.data.current, 'PAY_IN')).toMatchObject({ own: false, max: 75_000, daily: null });
    expect(await backOffice.audited(scope.merchantId)).toEqual(['merchant.change-limits']);
  });

  test.each([
    [
      'above what the channel takes',
      { ...LIMIT, max: 80_000, daily: 90_000 },
      /max must be from 1.00 to 75000.00 ETB/,
      'out_of_bounds',
    ],
    ['with a day below one payout', { ...LIMIT, daily: 100 }, /daily must be at least max/, 'too_small'],
    ['that ends below its beginning', { ...LIMIT, min: 6_000 }, /max must be at least min/, 'min_above_max'],
    ['of a day of payments', { ...LIMIT, direction: 'PAY_IN' }, /only payouts have a daily limit/, 'not_allowed'],
    ['of nothing', { ...LIMIT, min: 0 }, /must be more than 0/, 'not_an_amount'],
  ])('limits %s are rejected', async (...[, rule, type, code]) => {
    const answer = await changeLimits([rule]);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(type);
    expect(answer.body.error.details[0]?.code).toBe(code);
    expect(await backOffice.audited(scope.merchantId)).toEqual([]);
  });
});

test('a review policy applies to its merchant only, and invalid amounts are rejected', async () => {
  const body = { largeAmount: 1_000, twoPersonAmount: 2_000, perHourMax: 3, reason: 'New merchant' };
  await backOffice.confirmed('PUT', `${path}/review-policy`, body);
  const changed = await backOffice.send('GET', `${path}/review-policy`);
  expect(changed.body.data).toEqual({ own: true, largeAmount: 1_000, twoPersonAmount: 2_000, perHourMax: 3 });
  const refused = await backOffice.send('PUT', `${path}/review-policy`, { body: { ...body, twoPersonAmount: 10 } });
  expect(refused.body.message).toContain('twoPersonAmount must be at least largeAmount');
  const other = await buildMerchant(backOffice.database.db);
  const theirs = await backOffice.send('GET', `/api/ops/merchants/${other.merchantId}/review-policy`);
  expect(theirs.body.data).toMatchObject({ own: false });
  expect(await backOffice.audited(scope.merchantId)).toEqual(['merchant.change-review']);
});

describe('the settlement limit', () => {
  const tx = (body: object) =>
    backOffice.send('PUT', `${path}/settlement-limit`, { body: { reason: 'Contract', ...body } });

  test('a settlement limit applies to the next settlement and has one audit row with the previous one', async () => {
    const platform = (await backOffice.send('GET', `${path}/settlement-limit`)).body.data;
    expect(platform).toMatchObject({ own: false, currency: 'ETB', min: 10 });
    await backOffice.confirmed('PUT', `${path}/settlement-limit`, { min: 100, max: 5_000, reason: 'Contract' });
    const body = { data: { own: true, currency: 'ETB', min: 100, max: 5_000 } };
    await tx({ min: 100, max: 5_000 });
    expect((await backOffice.send('GET', `${path}/settlement-limit`)).body.data).toEqual(body.data);
    const log = await backOffice.send('GET', `/api/ops/audit?resourceId=${scope.merchantId}`);
    expect(log.body.data).toEqual([
      expect.objectContaining({
        action: 'merchant.change-settlement-limit',
        before: platform,
        after: body.data,
        reason: 'Contract',
      }),
    ]);
  });

  test('a settlement limit with max below min is rejected', async () => {
    const refused = await tx({ min: 100, max: 99.99 });
    expect([refused.status, refused.body.message]).toEqual([400, 'max must be at least min, got 99.99 and 100.00']);
  });
});

describe('the tier', () => {
  const tx = (tier: number) =>
    backOffice.send('PUT', `${path}/kyc/tier`, { body: { environment: 'live', tier, reason: 'Smaller than it said' } });

  test('changing the tier of a verified merchant has one audit row with the previous tier', async () => {
    await rows(
      backOffice.database.db,
      `INSERT INTO kyc_application (merchant_id, environment, status, submissions, submitted_at)
       VALUES (:merchantId, 'live', 'SUBMITTED', 1, now())`,
      { merchantId: scope.merchantId },
    );
    expect((await tx(1)).body.error.code).toBe('INVALID_STATE');
    await backOffice.send('POST', `${path}/kyc/approve`, { body: { environment: 'live', submission: 1 } });
    expect((await tx(98)).body.error.code).toBe('VALIDATION_ERROR');
    const change = { environment: 'live', tier: 1, reason: 'Smaller than it said' };
    expect((await backOffice.confirmed('PUT', `${path}/kyc/tier`, change)).body.message).toBe(
      'The merchant is in tier 1',
    );
    expect((await tx(1)).body.data).toMatchObject({ status: 'APPROVED', tier: 1 });
    const log = await backOffice.send('GET', `/api/ops/audit?merchantId=${scope.merchantId}&action=kyc.change-tier`);
    expect(log.body.data).toEqual([
      expect.objectContaining({ before: { tier: 2 }, after: { tier: 1 }, reason: 'Smaller than it said' }),
    ]);
  });
});
