import { listWorkItems, REVIEW_ITEMS } from '../../../src/backoffice/work-queue.ts';
import { first } from '../../../src/lib/db.ts';
import { recordRecovery } from '../../../src/reconciliation/receipts/operations.ts';
import { acceptHeld, payOtherAmount } from '../../payments/held-money.ts';
import { PAID } from '../../support/build.ts';
import { COMPLETED, DECLINED, returned, UNKNOWN, useRefundFixture } from './fixture.ts';

const fixture = useRefundFixture();
const invalid = (message: string, code: string) => ({
  code: 'VALIDATION_ERROR',
  message: expect.stringContaining(message),
  details: [{ field: 'paidAmount', code }],
});

/** Resolves a refund as paid, with this amount, under a reference of its own. */
const resolve = (id: string, paidSantim?: bigint) =>
  fixture.resolve(id, { ...COMPLETED, providerReference: `BACK-${id}`, paidSantim });
const queue = async () => {
  const page = { page: 1, limit: 50, after: null };
  const filter = { merchantId: fixture.scope.merchantId };
  const { rows } = await listWorkItems(fixture.db, REVIEW_ITEMS, { filter, page, at: fixture.clock() });
  return rows.map(({ kind, id }) => `${kind} ${id}`);
};
const refundedAmount = async () =>
  (await fixture.send('GET', `/api/checkout/txns/${fixture.transactionId}`)).body.data.refundedAmount;
const lastEvent = async (id: string) => {
  const sql = `SELECT convert_from(payload, 'UTF8') AS body FROM webhook_event WHERE resource_id = :id AND event = 'refund.succeeded'`;
  return JSON.parse((await first<{ body: string }>(fixture.db, sql, { id }))?.body ?? '{}').data;
};

describe('a refund of which its provider has paid less than was requested', () => {
  test('gives back the paid part of the fee, and the rest can be refunded', async () => {
    const id = await fixture.requested({ amount: 100, returnFee: true });
    await fixture.report(id, returned(40_00n));
    const { row, isNew } = await resolve(id, 40_00n);
    expect([row.paidSantim, isNew]).toEqual([40_00n, true]);
    const paid = { amount: 100, paidAmount: 40, feeReturned: 1, feeTaxReturned: 0.15, totalDebit: 38.85 };
    expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS', ...paid });
    expect(await lastEvent(id)).toMatchObject(paid);
    expect(await refundedAmount()).toBe(40);
    expect(await fixture.balance()).toEqual([194_25n - 38_85n, 0n]);
    const rest = await fixture.requested({ returnFee: true });
    await fixture.report(rest, returned(160_00n));
    expect(await fixture.read(rest)).toMatchObject({ amount: 160, feeReturned: 4, feeTaxReturned: 0.6 });
    expect(await fixture.balance()).toEqual([0n, 0n]);
  });

  test('is repeated without effect, and booked once with one amount', async () => {
    const id = await fixture.requested({ amount: 50 });
    await fixture.report(id, UNKNOWN);
    await resolve(id, 49_99n);
    expect((await resolve(id, 49_99n)).isNew).toBe(false);
    expect((await resolve(id)).isNew).toBe(false);
    const other = resolve(id, 50_00n);
    await expect(other).rejects.toMatchObject(invalid('paidAmount is booked, 49.99 ETB', 'not_allowed'));
  });

  test('is debited with that much if it had failed', async () => {
    const id = await fixture.requested({ amount: 100, returnFee: true });
    await fixture.report(id, DECLINED, returned(40_00n));
    await resolve(id, 40_00n);
    expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS', paidAmount: 40, totalDebit: 38.85 });
    expect(await fixture.balance()).toEqual([194_25n - 38_85n, 0n]);
  });
});

describe('a refund of which its provider has paid more than was requested', () => {
  test('costs the merchant what it requested; the excess is in suspense until its provider has taken it back, once', async () => {
    const id = await fixture.requested({ amount: 50 });
    await fixture.report(id, returned(49_00n), returned(60_00n));
    await resolve(id, 60_00n);
    expect(await fixture.read(id)).toMatchObject({ amount: 50, paidAmount: 60, totalDebit: 50 });
    expect([await refundedAmount(), await fixture.balance()]).toEqual([60, [144_25n, 0n]]);
    expect(await queue()).toEqual([`REFUND_OVERPAID ${id}`]);
    const recover = () =>
      fixture.runInTransaction((tx) =>
        recordRecovery(tx, { of: { kind: 'refund', id }, reference: `OVER-${id}`, at: fixture.clock() }),
      );
    expect(await recover()).toMatchObject({ isNew: true, money: { amountSantim: 10_00n, payoutId: id } });
    expect((await recover()).isNew).toBe(false);
    expect(await queue()).toEqual([]);
    expect((await fixture.request({ amount: 140.01 })).body.message).toContain('at most 140.00 ETB');
  });

  test('gives back no fee for the excess, nor do later ones', async () => {
    const id = await fixture.requested({ amount: 100, returnFee: true });
    await fixture.report(id, returned(120_00n));
    await resolve(id, 120_00n);
    expect(await fixture.read(id)).toMatchObject({ feeReturned: 2.5, feeTaxReturned: 0.38, totalDebit: 97.12 });
    const { data } = (await fixture.request({ returnFee: true })).body;
    expect(data).toMatchObject({ amount: 80, feeReturned: 2, feeTaxReturned: 0.3 });
  });

  test('is accepted only as far as the provider has reported it', async () => {
    const id = await fixture.requested({ amount: 50 });
    await fixture.report(id, returned(60_00n));
    const more = resolve(id, 60_01n);
    await expect(more).rejects.toMatchObject(invalid('paidAmount must be at most 60.00 ETB', 'too_big'));
  });

  test('is accepted only as far as the payment has that much left', async () => {
    const [other, id] = [await fixture.requested({ amount: 150 }), await fixture.requested({ amount: 30 })];
    await fixture.report(other, returned(150_00n));
    await fixture.report(id, returned(60_00n));
    const more = resolve(id, 60_00n);
    await expect(more).rejects.toMatchObject(invalid('paidAmount must be at most 50.00 ETB', 'too_big'));
    await resolve(id, 50_00n);
    expect(await refundedAmount()).toBe(200);
  });
});

describe('a payment of 100.50 birr of which operators have accepted another amount', () => {
  const accepted = async (receivedSantim: bigint) => {
    const held = await payOtherAmount(fixture, fixture.scope, { ...PAID, amountSantim: receivedSantim });
    await acceptHeld(fixture, held);
    return held.transactionId;
  };

  test('less than requested can be refunded up to what was received, with all of its fee', async () => {
    const transactionId = await accepted(80_00n);
    const more = await fixture.request({ amount: 80.01 }, transactionId);
    expect([more.status, more.body.message]).toEqual([
      422,
      expect.stringContaining('at most 80.00 ETB: 80.00 ETB were'),
    ]);
    const { data } = (await fixture.request({ returnFee: true }, transactionId)).body;
    expect(data).toMatchObject({ amount: 80, feeReturned: 2, feeTaxReturned: 0.3 });
    await fixture.report(data.refundId, returned(80_00n));
    expect((await fixture.request({ amount: 0.01 }, transactionId)).body.message).toContain(
      'Nothing is left to refund',
    );
  });

  test('more than requested can be refunded, and a refund overpaid, up to what was received', async () => {
    const transactionId = await accepted(250_00n);
    const { data } = (await fixture.request({ amount: 120 }, transactionId)).body;
    await fixture.report(data.refundId, returned(130_00n));
    await resolve(data.refundId, 130_00n);
    const rest = (await fixture.request({}, transactionId)).body.data;
    expect(rest).toMatchObject({ amount: 120 });
    await fixture.report(rest.refundId, returned(120_00n));
    expect(await fixture.read(rest.refundId)).toMatchObject({ status: 'SUCCESS' });
  });
});

describe('a refund that its provider reports as paid in another currency', () => {
  const dollars = (amountSantim: bigint) => ({ ...returned(amountSantim), currency: 'USD' });

  test('is not paid by that: it waits for operators with its money reserved', async () => {
    const id = await fixture.requested({ amount: 50 });
    await fixture.report(id, dollars(50_00n));
    expect(await fixture.read(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
    expect(await fixture.balance()).toEqual([144_25n, 50_00n]);
    expect(await queue()).toEqual([`REFUND_UNKNOWN ${id}`]);
  });

  test('is accepted up to what it was requested for or reported in its own', async () => {
    const id = await fixture.requested({ amount: 50 });
    await fixture.report(id, dollars(60_00n), returned(55_00n));
    await expect(resolve(id, 55_01n)).rejects.toMatchObject(invalid('must be at most 55.00 ETB', 'too_big'));
    expect((await resolve(id, 55_00n)).row).toMatchObject({ status: 'SUCCESS', paidSantim: 55_00n });
  });
});

test('a refund that was not paid has no paid amount', async () => {
  const id = await fixture.requested({ amount: 50 });
  const failed = { ...COMPLETED, outcome: 'FAILED', providerReference: 'CASE-1', paidSantim: 1n } as const;
  await expect(fixture.resolve(id, failed)).rejects.toMatchObject(
    invalid('leave it out where nothing was', 'not_allowed'),
  );
});
