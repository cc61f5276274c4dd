import { listWorkItems, REVIEW_ITEMS, STALLED_ITEMS } from '../../../src/backoffice/work-queue.ts';
import { createRegistry } from '../../../src/http/metrics.ts';
import { DAY_MS, HOUR_MS } from '../../../src/lib/dates.ts';
import { rows } from '../../../src/lib/db.ts';
import { readTimeline } from '../../../src/lib/timeline.ts';
import { REFUND_TIMELINE } from '../../../src/payments/timeline.ts';
import { createCheck } from '../../../src/payouts/check.ts';
import { confirmPayout, declinePayout } from '../../../src/payouts/confirm.ts';
import { measureRefunds } from '../../../src/payouts/refunds/monitoring.ts';
import { REFUND } from '../../../src/payouts/refunds/refund.ts';
import { findRecoverableRefunds } from '../../../src/payouts/refunds/workflow.ts';
import { autoDecide } from '../../../src/payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../../src/payouts/withdrawals/withdrawal.ts';
import { withdraw } from '../../support/settlements.ts';
import { PAID_OUT } from '../../support/withdrawals.ts';
import { CHECK, COMPLETED, DECLINED, FAILED, returned, TAKEN, UNKNOWN, useRefundFixture } from './fixture.ts';

const fixture = useRefundFixture();
const refused = { code: 'INVALID_STATE' };

const queue = async (source = REVIEW_ITEMS) => {
  const page = { page: 1, limit: 50, after: null };
  const filter = { merchantId: fixture.scope.merchantId };
  const { rows } = await listWorkItems(fixture.db, source, { filter, page, at: fixture.clock() });
  return rows.map(({ kind, id }) => `${kind} ${id}`);
};

describe('a refund whose outcome is unknown', () => {
  test('it is in the work queue after an hour, and operators resolve it as failed: its money is available again', async () => {
    const id = await fixture.requested({ amount: 50 });
    await fixture.report(id, UNKNOWN);
    expect(await queue()).toEqual([]);
    fixture.pass(HOUR_MS - 1);
    await expect(fixture.resolve(id, FAILED)).rejects.toMatchObject(refused);
    expect([await queue(), await queue(STALLED_ITEMS)]).toEqual([[], []]);
    fixture.pass(2);
    expect(await queue()).toEqual([`REFUND_UNKNOWN ${id}`]);
    expect(await queue(STALLED_ITEMS)).toEqual([`REFUND_PENDING ${id}`]);
    await fixture.resolve(id, FAILED);
    expect(await fixture.read(id)).toMatchObject({ status: 'FAILED', failure: { message: FAILED.reason } });
    expect(await fixture.balance()).toEqual([194_25n, 0n]);
    expect((await fixture.resolve(id, FAILED)).isNew).toBe(false);
    expect(await queue()).toEqual([]);
  });

  test('operators resolve it as completed under a provider reference that no other refund has', async () => {
    const [id, other] = [await fixture.requested({ amount: 50 }), await fixture.requested({ amount: 10 })];
    await fixture.report(other, returned(10_00n, 'CASE-8'));
    await fixture.report(id, UNKNOWN);
    fixture.pass(60_000);
    await expect(fixture.resolve(id, { ...COMPLETED, providerReference: 'CASE-8' })).rejects.toMatchObject({
      ...refused,
      details: [{ field: 'providerReference', code: 'already_used' }],
      existing: { refundId: other },
    });
    const { row } = await fixture.resolve(id, { ...COMPLETED, providerReference: 'CASE-9' });
    expect(row).toMatchObject({ status: 'SUCCESS', providerReference: 'CASE-9' });
    expect(await fixture.balance()).toEqual([134_25n, 0n]);
    expect((await fixture.resolve(id, { ...COMPLETED, providerReference: 'CASE-9' })).isNew).toBe(false);
  });

  test('operators do not resolve it as completed under the provider reference of a withdrawal', async () => {
    const { id: withdrawalId } = await withdraw(fixture, fixture.scope, 20_00n);
    await autoDecide(fixture, withdrawalId, fixture.clock());
    fixture.provider.returnsForPayouts({ ...PAID_OUT, amountSantim: 20_00n, providerReference: 'PAYOUT-7' });
    await createCheck(fixture, WITHDRAWAL)(withdrawalId, CHECK);
    const id = await fixture.requested({ amount: 50 });
    await fixture.report(id, UNKNOWN);
    fixture.pass(60_000);
    await expect(fixture.resolve(id, { ...COMPLETED, providerReference: 'PAYOUT-7' })).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(`is that of ${withdrawalId}`),
      existing: { withdrawalRequestId: withdrawalId },
    });
  });

  test('it is not resolved while its provider still has it, or is being queried', async () => {
    const id = await fixture.requested({ amount: 50 });
    await expect(fixture.resolve(id, COMPLETED)).rejects.toThrow('was not sent');
    await fixture.report(id, TAKEN);
    fixture.pass(DAY_MS - 1);
    await expect(fixture.resolve(id, COMPLETED)).rejects.toThrow('is SUBMITTED');
    fixture.pass(1);
    const leaseUntil = new Date(fixture.clock().getTime() + 5_000);
    await fixture.db.knex()('payout').where({ id }).update({ leaseUntil });
    await expect(fixture.resolve(id, COMPLETED)).rejects.toThrow('being queried');
    fixture.pass(10_000);
    const { row } = await fixture.resolve(id, { ...COMPLETED, providerReference: 'CASE-SLOW' });
    expect(row.status).toBe('SUCCESS');
  });

  test('a report of another amount books nothing, and a later decline releases nothing', async () => {
    const id = await fixture.requested({ amount: 50 });
    await fixture.report(id, returned(49_00n));
    expect(await fixture.read(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
    expect(await queue()).toEqual([`REFUND_UNKNOWN ${id}`]);
    await fixture.report(id, DECLINED);
    expect(await fixture.read(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
    expect(await fixture.balance()).toEqual([144_25n, 50_00n]);
    await fixture.report(id, returned(50_00n));
    expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS' });
  });
});

test('a refund that was not sent is resolved as failed: its money is available again, and it is not sent', async () => {
  const id = await fixture.requested({ amount: 50 });
  await fixture.report(id, { kind: 'unknown', reason: 'not-configured', message: 'no credentials' });
  fixture.pass(4 * 60_000);
  expect(await queue(STALLED_ITEMS)).toEqual([]);
  fixture.pass(2 * 60_000);
  expect(await queue(STALLED_ITEMS)).toEqual([`REFUND_PENDING ${id}`]);
  await fixture.resolve(id, FAILED);
  expect(await fixture.read(id)).toMatchObject({ status: 'FAILED' });
  expect(await fixture.balance()).toEqual([194_25n, 0n]);
  expect(fixture.enqueued.at(-1)).toMatchObject({ kind: 'signal', workflowId: `refund-${id}` });
  fixture.provider.refundQueries.length = 0;
  await fixture.report(id, returned(50_00n));
  expect(fixture.provider.refundQueries).toEqual([]);
});

describe('a refund that had failed and is reported as paid', () => {
  test('stays FAILED, waits for operators, and is debited again when they resolve it as completed', async () => {
    const id = await fixture.requested({ amount: 50, returnFee: true });
    await fixture.report(id, DECLINED);
    const { row } = await fixture.checkRefund(id, CHECK);
    expect(row.status).toBe('FAILED');
    await fixture.report(id, returned(50_00n, COMPLETED.providerReference));
    expect(await fixture.read(id)).toMatchObject({ status: 'FAILED' });
    expect(await fixture.balance()).toEqual([194_25n, 0n]);
    expect(await queue()).toEqual([`REFUND_CONFLICT ${id}`]);
    await fixture.resolve(id, COMPLETED);
    expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS', feeReturned: 1.25 });
    expect(await fixture.balance()).toEqual([145_69n, 0n]);
    expect(await fixture.events(id)).toEqual(['refund.created', 'refund.failed', 'refund.succeeded']);
    expect(await queue()).toEqual([]);
  });

  test('a callback is concluded by a query that has an outcome', async () => {
    const id = await fixture.requested({ amount: 50 });
    fixture.provider.returnsForRefunds(UNKNOWN);
    expect((await fixture.checkRefund(id, CHECK)).isConclusive).toBe(false);
    fixture.provider.returnsForRefunds(returned(50_00n));
    expect((await fixture.checkRefund(id, CHECK)).isConclusive).toBe(true);
  });
});

describe('a merchant whose money out needs two people', () => {
  const awaiting = async () => {
    await fixture.secondPersonFrom(100_00n);
    const first = await fixture.requested({ amount: 60 });
    const second = await fixture.requested({ amount: 40 });
    return { first, second };
  };
  const decide = (refundId: string, userId = 'usr_2') => {
    const { scope } = fixture;
    const decision = { scope, idOrReference: refundId, userId, at: fixture.clock(), notices: [] };
    return fixture.runInTransaction((tx) => confirmPayout(tx, REFUND, decision));
  };

  test('a refund that reaches the amount with those before it waits, and is sent after its confirmation only', async () => {
    const { first, second } = await awaiting();
    expect(await fixture.read(first)).toMatchObject({ stage: 'CREATED' });
    expect(await fixture.read(second)).toMatchObject({ stage: 'AWAITING_CONFIRMATION' });
    await fixture.report(second, returned(40_00n));
    expect(fixture.provider.refundQueries).toEqual([]);
    await expect(fixture.resolve(second, COMPLETED)).rejects.toMatchObject(refused);
    await decide(second);
    expect(fixture.enqueued.at(-1)).toMatchObject({ kind: 'signal', workflowId: `refund-${second}` });
    await fixture.report(second, returned(40_00n));
    expect(await fixture.read(second)).toMatchObject({ status: 'SUCCESS' });
    await expect(decide(second)).rejects.toMatchObject(refused);
  });

  test('the metrics count pending refunds by their stage', async () => {
    const registry = createRegistry('test');
    measureRefunds(registry, fixture.db);
    const count = async () => (await registry.getSingleMetric('meskot_refunds_pending')?.get())?.values ?? [];
    const before = await count();
    const { first } = await awaiting();
    await fixture.report(first, UNKNOWN);
    const added = (await count()).map(({ labels, value }, nth) => [
      labels['stage'],
      value - (before[nth]?.value ?? NaN),
    ]);
    expect(Object.fromEntries(added)).toEqual({ AWAITING_CONFIRMATION: 1, CREATED: 0, SUBMITTED: 0, UNKNOWN: 1 });
  });

  test('declined it fails, and its money is available again', async () => {
    const { second } = await awaiting();
    const { scope } = fixture;
    const decision = { scope, idOrReference: second, reason: 'Not agreed', at: fixture.clock() };
    await fixture.runInTransaction((tx) => declinePayout(tx, REFUND, decision));
    expect(await fixture.read(second)).toMatchObject({ status: 'FAILED', failure: { message: 'Not agreed' } });
    expect(await fixture.balance()).toEqual([134_25n, 60_00n]);
  });

  test('not confirmed within 7 days it fails', async () => {
    const { second } = await awaiting();
    fixture.pass(7 * DAY_MS - 1);
    expect((await fixture.checkRefund(second, CHECK)).row.stage).toBe('AWAITING_CONFIRMATION');
    fixture.pass(1);
    await expect(decide(second)).rejects.toMatchObject(refused);
    await fixture.checkRefund(second, CHECK);
    expect(await fixture.read(second)).toMatchObject({ status: 'FAILED', failure: { code: 'TIMED_OUT' } });
    expect(await fixture.balance()).toEqual([134_25n, 60_00n]);
  });

  test('its workflow is past due an hour after the 7 days', async () => {
    const { second } = await awaiting();
    const isPastDue = async (requested: string) => {
      const sql = `WITH taken AS (DELETE FROM outbox) UPDATE payout SET requested_at = now() - CAST(:requested AS interval),
        created_at = now() - interval '8 days' WHERE id = :second`;
      await rows(fixture.db, sql, { second, requested });
      const page = { after: '', limit: 100, onlyPastDue: true };
      return (await findRecoverableRefunds(fixture.db, page)).some(({ id }) => id === second);
    };
    expect([await isPastDue('7 days 59 minutes'), await isPastDue('7 days 61 minutes')]).toEqual([false, true]);
  });
});

test('the timeline has every kind of entry about refunds, each with its declared detail', async () => {
  await fixture.secondPersonFrom(100_00n);
  const [first, second] = [await fixture.requested({ amount: 60 }), await fixture.requested({ amount: 40 })];
  await fixture.report(first, returned(60_00n));
  const { scope } = fixture;
  const decision = { scope, idOrReference: second, userId: 'usr_2', at: fixture.clock(), notices: [] };
  await fixture.runInTransaction((tx) => confirmPayout(tx, REFUND, decision));
  await fixture.report(second, TAKEN, DECLINED);
  await fixture.report(second, returned(40_00n, 'LATE-2'));
  await fixture.resolve(second, { ...COMPLETED, providerReference: 'LATE-2' });
  const entries = await readTimeline(fixture.db, fixture.transactionId);
  const ofRefunds = entries.filter(({ kind }) => kind in REFUND_TIMELINE);
  for (const { kind, detail } of ofRefunds) {
    const declared = REFUND_TIMELINE[kind as keyof typeof REFUND_TIMELINE].detail;
    expect({ kind, issues: declared.strict().safeParse(detail).error?.issues }).toEqual({ kind, issues: undefined });
  }
  expect([...new Set(ofRefunds.map(({ kind }) => kind))].toSorted()).toEqual(Object.keys(REFUND_TIMELINE).toSorted());
});
