import { rows } from '../../../src/lib/db.ts';
import { setSecondPersonFrom } from '../../../src/merchants/operations.ts';
import { readPaidBefore, readWithdrawal } from '../../../src/payouts/withdrawals/queries.ts';
import {
  approveWithdrawal,
  assessReview,
  autoDecide,
  rejectWithdrawal,
} from '../../../src/payouts/withdrawals/review.ts';
import { resumeUnsent } from '../../../src/payouts/withdrawals/workflow.ts';
import { withdraw } from '../../support/settlements.ts';
import { buildFreeMerchant, buildLive, fund, PAID_OUT } from '../../support/withdrawals.ts';
import { CHECK, useWithdrawalFixture } from './fixture.ts';

const HOUR_MS = 3_600_000;

test.each([
  ['two days less a millisecond', -1, ['NEW_BENEFICIARY']],
  ['exactly two days', 0, []],
])('a beneficiary paid for the first time %s ago has these reasons for a review', (_, moreMs, reasons) => {
  const at = new Date('2026-03-04T09:00:00.000Z');
  const assessed = assessReview({
    environment: 'live',
    amountSantim: 10_00n,
    policy: { largeAmountSantim: 100_00, twoPersonSantim: 200_00, perHourMax: 20 },
    inLastHour: 0,
    paidThereBefore: true,
    firstPaidThereAsAt: new Date(at.getTime() - 48 * HOUR_MS - moreMs).toISOString(),
    at,
  });
  expect(assessed).toEqual({ reasons, approvalsNeeded: reasons.length });
});

describe('the review of a withdrawal', () => {
  const fixture = useWithdrawalFixture();

  const operator = (operatorId: string) => ({ operatorId, at: fixture.clock() });
  const approve = (id: string, operatorId: string) =>
    fixture.runInTransaction((tx) => approveWithdrawal(tx, id, operator(operatorId)));

  test('a withdrawal to a beneficiary first paid within two days is reviewed, later ones are not; another name is', async () => {
    fixture.provider.returnsForPayouts(PAID_OUT);
    await fixture.checkPayout(await fixture.ready(), CHECK);
    const second = (await fixture.request({ amount: 10 })).body.data;
    expect(second.reviewReasons).toEqual(['NEW_BENEFICIARY']);
    await rows(
      fixture.db,
      `UPDATE payout SET requested_at = requested_at - interval '3 days', completed_at = completed_at - interval '3 days'
       WHERE merchant_id = :merchantId`,
      fixture.scope,
    );
    const third = (await fixture.request({ amount: 10 })).body.data;
    expect({ stage: third.stage, reasons: third.reviewReasons }).toEqual({ stage: 'CREATED', reasons: undefined });
    const renamed = { phone: '0911000001', accountName: 'Somebody Else' };
    for (const _ of ['asked once', 'asked again while the first waits']) {
      const { reviewReasons } = (await fixture.request({ amount: 10, destination: renamed })).body.data;
      expect(reviewReasons).toEqual(['BENEFICIARY_RENAMED']);
    }
    const sameName = { phone: '0911000001', accountName: ' abebe  BIKILA ' };
    expect((await fixture.request({ amount: 10, destination: sameName })).body.data.stage).toBe('CREATED');
  });

  test('a payout in the sandbox does not make the beneficiary known in live', async () => {
    fixture.provider.returnsForPayouts(PAID_OUT);
    await fixture.checkPayout(await fixture.ready({}), CHECK);
    const live = await buildLive(fixture.db, fixture.scope);
    await fund(fixture, live, 1_000_00n);
    const first = await withdraw(fixture, live);
    expect(first.reviewReasons).toEqual(['FIRST_TO_BENEFICIARY']);
    expect(await readPaidBefore(fixture.db, first)).toMatchObject({ count: 0, accountNames: [] });
    expect((await withdraw(fixture, fixture.scope)).reviewReasons).toEqual(['NEW_BENEFICIARY']);
  });

  test('a withdrawal is reviewed when its merchant has as many in the last hour as the policy allows', async () => {
    await rows(
      fixture.db,
      `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
       VALUES (:merchantId, 10000, 20000, 2)`,
      fixture.scope,
    );
    const isTooMany = async () => {
      const { reviewReasons } = await withdraw(fixture, fixture.scope, 1_00n);
      return reviewReasons.includes('MANY_IN_AN_HOUR');
    };
    expect([await isTooMany(), await isTooMany(), await isTooMany()]).toEqual([false, false, true]);
    fixture.pass(HOUR_MS - 1);
    expect(await isTooMany()).toBe(true);
    fixture.pass(1);
    expect(await isTooMany()).toBe(false);
  });

  test('withdrawals of live do not count for the hour and the daily limit of the sandbox', async () => {
    await rows(
      fixture.db,
      `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
       VALUES (:merchantId, 10000, 20000, 2)`,
      fixture.scope,
    );
    const live = await buildLive(fixture.db, fixture.scope);
    await fund(fixture, live, 1_000_00n);
    await withdraw(fixture, live);
    await withdraw(fixture, live);
    const { reviewReasons, limitSnapshot } = await withdraw(fixture, fixture.scope);
    expect(reviewReasons).not.toContain('MANY_IN_AN_HOUR');
    expect(limitSnapshot).toMatchObject({ usedTodaySantim: 0 });
  });

  test('a withdrawal that waits for a second person is neither sent by a check nor approved, and can be rejected', async () => {
    await fixture.db.transaction((trx) => setSecondPersonFrom(trx, fixture.scope.merchantId, 100_00n));
    const id = (await fixture.request()).body.data.withdrawalRequestId;
    await autoDecide(fixture, id, fixture.clock());
    await fixture.checkPayout(id, CHECK);
    expect(await fixture.read(id)).toMatchObject({ stage: 'AWAITING_CONFIRMATION' });
    expect((await readWithdrawal(fixture.db, id)).submittedAt).toBeNull();
    await expect(approve(id, 'opr_1')).rejects.toMatchObject({ code: 'INVALID_STATE' });
    await fixture.runInTransaction((tx) => rejectWithdrawal(tx, id, { ...operator('opr_1'), reason: 'Unknown' }));
    expect((await fixture.read(id)).status).toBe('REJECTED');
  });

  test('an operator and the sandbox may each give one of two approvals', async () => {
    await rows(
      fixture.db,
      `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
       VALUES (:merchantId, 10000, 20000, 20)`,
      fixture.scope,
    );
    const id = (await fixture.request({ amount: 200 })).body.data.withdrawalRequestId;
    await fixture.runInTransaction((tx) => approveWithdrawal(tx, id, { operatorId: 'opr_1', at: fixture.clock() }));
    await autoDecide(fixture, id, fixture.clock());
    expect((await fixture.read(id)).stage).toBe('CREATED');
  });

  test('a withdrawal above the two-person amount needs the approvals of two different operators', async () => {
    await rows(
      fixture.db,
      `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
         VALUES (:merchantId, 10000, 20000, 20)`,
      fixture.scope,
    );
    const { body: answer } = await fixture.request({ amount: 200.14 });
    const id = answer.data.withdrawalRequestId;
    expect(answer.data.reviewReasons).toContain('LARGE_AMOUNT');
    await autoDecide(fixture, id, fixture.clock());
    const signals = () =>
      fixture.enqueued.filter(({ workflowId, kind }) => kind === 'signal' && workflowId.endsWith(id));
    expect((await approve(id, 'opr_1')).stage).toBe('UNDER_REVIEW');
    expect(signals()).toEqual([]);
    await expect(approve(id, 'opr_1')).rejects.toMatchObject({ code: 'INVALID_STATE' });
    expect((await approve(id, 'opr_2')).stage).toBe('CREATED');
    expect(signals()).toMatchObject([{ signal: 'approved', workflowId: `withdrawal-${id}` }]);
    await expect(approve(id, 'opr_3')).rejects.toMatchObject({ code: 'INVALID_STATE' });
  });

  test.each([
    ['a santim less than the large amount', 99.99, { isLarge: false, afterOneApproval: 'CREATED' }],
    ['exactly the large amount', 100, { isLarge: true, afterOneApproval: 'CREATED' }],
    ['a santim less than the amount for two', 199.99, { isLarge: true, afterOneApproval: 'CREATED' }],
    ['exactly the amount for two', 200, { isLarge: true, afterOneApproval: 'UNDER_REVIEW' }],
    ['a santim more than the amount for two', 200.01, { isLarge: true, afterOneApproval: 'UNDER_REVIEW' }],
  ])('the amounts of the review policy are inclusive: %s', async (_what, amount, expected) => {
    await rows(
      fixture.db,
      `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
       VALUES (:merchantId, 10000, 20000, 20)`,
      fixture.scope,
    );
    const { withdrawalRequestId: id, reviewReasons } = (await fixture.request({ amount })).body.data;
    const { stage } = await approve(id, 'opr_1');
    expect({ isLarge: reviewReasons.includes('LARGE_AMOUNT'), afterOneApproval: stage }).toEqual(expected);
  });

  test('a rejected withdrawal releases the money and has the reason', async () => {
    const id = (await fixture.request()).body.data.withdrawalRequestId;
    await fixture.runInTransaction((tx) =>
      rejectWithdrawal(tx, id, { ...operator('opr_1'), reason: 'Not a supplier.' }),
    );
    expect(await fixture.read(id)).toMatchObject({
      status: 'REJECTED',
      failure: { code: 'REJECTED', message: 'Not a supplier.' },
    });
    expect(await fixture.balance()).toEqual([1_000_00n, 0n]);
  });

  test('the sandbox rejects .13, leaves .14 to an operator and approves the rest', async () => {
    const stands = async (amount: number) => {
      const { status, stage } = await fixture.read(await fixture.ready({ amount }));
      return { status, stage };
    };
    expect(await stands(50.13)).toEqual({ status: 'REJECTED', stage: undefined });
    expect(await stands(50.14)).toEqual({ status: 'PENDING', stage: 'UNDER_REVIEW' });
    expect(await stands(50.15)).toEqual({ status: 'PENDING', stage: 'CREATED' });
  });

  test('the requester of a withdrawal cannot approve it in live', async () => {
    const id = (await fixture.request()).body.data.withdrawalRequestId;
    await rows(fixture.db, `UPDATE payout SET requested_by = 'opr_1', environment = 'live' WHERE id = :id`, { id });
    await expect(approve(id, 'opr_1')).rejects.toMatchObject({ code: 'INVALID_STATE' });
    await rows(fixture.db, `UPDATE payout SET environment = 'sandbox' WHERE id = :id`, { id });
  });

  test('an approved withdrawal can be rejected until it is sent', async () => {
    const id = await fixture.ready();
    await rows(fixture.db, `UPDATE merchant SET status = 'SUSPENDED' WHERE id = :merchantId`, fixture.scope);
    const reject = (which: string) =>
      fixture.runInTransaction((tx) =>
        rejectWithdrawal(tx, which, { operatorId: 'opr_1', reason: 'Fraud', at: fixture.clock() }),
      );
    expect(await reject(id)).toMatchObject({ status: 'REJECTED' });
    expect(await fixture.balance()).toEqual([1_000_00n, 0n]);
    await rows(fixture.db, `UPDATE merchant SET status = 'ACTIVE' WHERE id = :merchantId`, fixture.scope);
    const sent = await fixture.ready();
    await fixture.checkPayout(sent, CHECK);
    await expect(reject(sent)).rejects.toThrow('only one that was not sent yet can be rejected');
  });

  test('a withdrawal of a suspended merchant is sent only after the suspension ends', async () => {
    const id = await fixture.ready();
    const is = (status: string) =>
      rows(fixture.db, 'UPDATE merchant SET status = :status WHERE id = :merchantId', { ...fixture.scope, status });
    await is('SUSPENDED');
    await fixture.checkPayout(id, CHECK);
    expect(fixture.provider.payoutQueries).toEqual([]);
    await is('ACTIVE');
    await fixture.checkPayout(id, CHECK);
    expect(fixture.provider.payoutQueries).toMatchObject([{ operation: 'payout', orderId: id }]);
  });

  test('the end of a suspension signals the approved withdrawals of that merchant only', async () => {
    const [suspended, other] = [fixture.scope, await buildFreeMerchant(fixture)];
    await fund(fixture, other, 1_000_00n);
    const { id: ofAnother } = await withdraw(fixture, other);
    await approve(ofAnother, 'opr_1');
    const [approved, { id: underReview }] = [await fixture.ready(), await withdraw(fixture, suspended)];
    expect(await fixture.read(underReview)).toMatchObject({ stage: 'UNDER_REVIEW' });
    const before = fixture.enqueued.length;
    await fixture.runInTransaction((tx) => resumeUnsent(tx, suspended.merchantId));
    expect(fixture.enqueued.slice(before)).toMatchObject([
      { signal: 'approved', workflowId: `withdrawal-${approved}` },
    ]);
  });
});
