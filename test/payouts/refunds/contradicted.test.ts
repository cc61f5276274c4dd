import { listWorkItems, REVIEW_ITEMS } from '../../../src/backoffice/work-queue.ts';
import { HOUR_MS } from '../../../src/lib/dates.ts';
import { rows } from '../../../src/lib/db.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createCheck, recheckOutgoing } from '../../../src/payouts/check.ts';
import { REFUND } from '../../../src/payouts/refunds/refund.ts';
import type { RefundOutcome } from '../../../src/providers/provider.ts';
import { CHECK, COMPLETED, DECLINED, FAILED, NOT_THERE, returned, TAKEN, useRefundFixture } from './fixture.ts';

const fixture = useRefundFixture();

const items = async () => {
  const page = { page: 1, limit: 50, after: null };
  const filter = { merchantId: fixture.scope.merchantId };
  const { rows } = await listWorkItems(fixture.db, REVIEW_ITEMS, { filter, page, at: fixture.clock() });
  return rows;
};
const queue = async () => (await items()).map(({ kind, id }) => `${kind} ${id}`);
/** A refund of the whole payment that was declined. */
const declined = async () => {
  const id = await fixture.requested({ returnFee: true });
  await fixture.report(id, DECLINED);
  return id;
};
const reportLate = async (id: string) => {
  fixture.pass(60_000);
  await fixture.report(id, returned(200_00n, 'LATE-1'));
};

describe('a refund that had failed and is reported as paid', () => {
  test('keeps its part of the payment until operators have decided that it was not paid', async () => {
    const id = await declined();
    await reportLate(id);
    const other = await fixture.request({ amount: 1 });
    expect([other.status, other.body.message]).toEqual([409, expect.stringContaining('Nothing is left to refund')]);
    await fixture.resolve(id, FAILED);
    expect((await fixture.request({ amount: 1 })).status).toBe(202);
  });

  test('resolved as failed it changes no money, and waits for nobody until the provider changes its report', async () => {
    const id = await declined();
    await reportLate(id);
    expect(await queue()).toEqual([`REFUND_CONFLICT ${id}`]);
    expect((await fixture.resolve(id, FAILED)).isNew).toBe(true);
    expect((await fixture.resolve(id, FAILED)).isNew).toBe(false);
    expect(await queue()).toEqual([]);
    expect(await fixture.read(id)).toMatchObject({ status: 'FAILED', failure: { code: 'DECLINED' } });
    expect(await fixture.balance()).toEqual([194_25n, 0n]);
    const other = { ...FAILED, providerReference: 'CASE-2' };
    await expect(fixture.resolve(id, other)).rejects.toMatchObject({ code: 'INVALID_STATE' });
    await reportLate(id);
    expect(await queue()).toEqual([]);
    await fixture.report(id, DECLINED);
    await reportLate(id);
    expect(await queue()).toEqual([`REFUND_CONFLICT ${id}`]);
  });

  test('resolved as failed by mistake it can be corrected, and another amount is asked about again', async () => {
    const id = await declined();
    await reportLate(id);
    await fixture.resolve(id, FAILED);
    await fixture.report(id, returned(150_00n, 'LATE-1'));
    expect(await queue()).toEqual([`REFUND_CONFLICT ${id}`]);
    await fixture.resolve(id, FAILED);
    const found = { ...COMPLETED, providerReference: 'LATE-9' };
    expect((await fixture.resolve(id, found)).row.status).toBe('SUCCESS');
    expect(await fixture.balance()).toEqual([0n, 0n]);
    await expect(fixture.resolve(id, FAILED)).rejects.toMatchObject({ code: 'INVALID_STATE' });
  });

  test('gives back no more of the fee than another one has left of it that was sent meanwhile', async () => {
    await fixture.pay(1_000_00n);
    const id = await declined();
    const other = await fixture.requested({ returnFee: true });
    await fixture.report(other, returned(200_00n));
    await reportLate(id);
    await fixture.resolve(id, COMPLETED);
    expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS', feeReturned: 0, feeTaxReturned: 0 });
    expect(await fixture.balance()).toEqual([194_25n + 975_00n - 3_75n - 194_25n - 200_00n, 0n]);
    const { body } = await fixture.send('GET', `/api/checkout/txns/${fixture.transactionId}`);
    expect(body.data.refundedAmount).toBe(400);
  });

  test('another one that was not sent yet waits until operators have decided', async () => {
    await fixture.pay(1_000_00n);
    const id = await declined();
    const other = await fixture.requested();
    await reportLate(id);
    fixture.provider.refundQueries.length = 0;
    await fixture.report(other, returned(200_00n));
    expect(fixture.provider.refundQueries).toEqual([]);
    expect(await fixture.read(other)).toMatchObject({ stage: 'CREATED' });
    await fixture.resolve(id, FAILED);
    await fixture.report(other, returned(200_00n));
    expect(await fixture.read(other)).toMatchObject({ status: 'SUCCESS' });
  });
});

test('a refund reported as paid with another amount is resolved as failed, once and for all', async () => {
  const id = await fixture.requested({ amount: 50 });
  await fixture.report(id, returned(49_00n));
  fixture.pass(HOUR_MS + 60_000);
  await fixture.resolve(id, FAILED);
  expect(await queue()).toEqual([]);
  expect((await fixture.resolve(id, FAILED)).isNew).toBe(false);
  expect(await fixture.balance()).toEqual([194_25n, 0n]);
  await fixture.report(id, returned(50_00n));
  expect(await queue()).toEqual([`REFUND_CONFLICT ${id}`]);
});

test('a refund reported as paid under the reference of a payout or refund waits for operators, with its money reserved', async () => {
  const first = await fixture.requested({ amount: 50 });
  await fixture.report(first, returned(50_00n, 'BACK-TWICE'));
  const id = await fixture.requested({ amount: 50 });
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('trace', 'test', { destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  fixture.provider.returnsForRefunds(returned(50_00n, 'BACK-TWICE'));
  for (const _ of [1, 2]) await createCheck({ ...fixture, log }, REFUND)(id, CHECK);
  expect(lines).toMatchObject([{ refundId: id, paidBefore: first, msg: expect.stringContaining('a used reference') }]);
  const waiting = await fixture.read(id);
  expect(waiting).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
  expect(waiting).not.toHaveProperty('providerReference');
  expect(await fixture.balance()).toEqual([94_25n, 50_00n]);
  const what = 'The provider reports a refund under a reference that has paid another order';
  expect(await items()).toMatchObject([{ kind: 'REFUND_UNKNOWN', id, what }]);
  // Under its own it is paid.
  await fixture.report(id, returned(50_00n));
  expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS', providerReference: `BACK-${id}` });
});

test('a failed refund that is then reported as paid under the reference of another one does not get that reference', async () => {
  const first = await fixture.requested({ amount: 50 });
  await fixture.report(first, returned(50_00n, 'BACK-ONCE'));
  const id = await fixture.requested({ amount: 50 });
  await fixture.report(id, DECLINED);
  await fixture.report(id, returned(50_00n, 'BACK-ONCE'));
  const failed = await fixture.read(id);
  expect(failed).toMatchObject({ status: 'FAILED' });
  expect(failed).not.toHaveProperty('providerReference');
  expect(await queue()).toEqual([`REFUND_CONFLICT ${id}`]);
});

describe('a check whose lease was taken by another one', () => {
  /** Its reply arrives after a later check of the refund has had these replies. */
  const replyLate = async (id: string, late: RefundOutcome, ...replies: RefundOutcome[]) => {
    let release: (outcome: RefundOutcome) => void = () => undefined;
    fixture.provider.returnsForRefunds(() => new Promise((resolve) => (release = resolve)), ...replies);
    const first = fixture.checkRefund(id, CHECK);
    while (fixture.provider.refundQueries.length === 0) await new Promise((resolve) => setImmediate(resolve));
    fixture.pass(10_000);
    await createCheck(fixture, REFUND)(id, CHECK);
    release(late);
    await first;
  };

  test('ends nothing by a decline, since the other one has sent it again', async () => {
    const id = await fixture.requested({ amount: 50 });
    await replyLate(id, DECLINED, NOT_THERE, TAKEN);
    expect(await fixture.read(id)).toMatchObject({ status: 'PENDING', stage: 'SUBMITTED' });
    expect(await fixture.balance()).toEqual([144_25n, 50_00n]);
  });

  test('leaves it to the other one', async () => {
    const id = await fixture.requested({ amount: 50 });
    const leaseUntil = new Date(fixture.clock().getTime() + 15_000);
    fixture.provider.returnsForRefunds(async () => {
      await fixture.db.knex()('payout').where({ id }).update({ leaseUntil });
      return returned(49_00n);
    });
    await fixture.checkRefund(id, CHECK);
    const row = await fixture.db.knex()('payout').where({ id }).first();
    expect(row).toMatchObject({ leaseUntil, firstReportedPaidAt: fixture.clock() });
  });

  test('reports a payment to operators, where the other one was declined', async () => {
    const id = await fixture.requested({ amount: 50 });
    await replyLate(id, returned(50_00n), DECLINED);
    expect(await fixture.read(id)).toMatchObject({ status: 'FAILED' });
    expect(await queue()).toEqual([`REFUND_CONFLICT ${id}`]);
  });
});

test('a verified callback after a decline is rechecked every two minutes for twenty minutes, then no more', async () => {
  const id = await declined();
  const at = new Date(fixture.clock().getTime() + 1_000);
  await rows(
    fixture.db,
    `INSERT INTO provider_callback (payout_id, channel, body, verified, created_at)
     VALUES (:id, 'TELEBIRR', 'a callback', true, :at)`,
    { id, at },
  );
  let queried = 0;
  for (let minutes = 0; minutes < 60; minutes += 2) {
    fixture.pass(2 * 60_000);
    queried += await recheckOutgoing({ ...fixture, check: fixture.checkRefund }, REFUND, 10);
  }
  expect(queried).toBe(11);
});
