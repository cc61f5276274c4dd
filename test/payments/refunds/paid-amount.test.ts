import { listWorkItems, REVIEW_ITEMS } from '../../../src/backoffice/work-queue.ts';
import { first } from '../../../src/lib/db.ts';
import { recordRecovery } from '../../../src/reconciliation/receipts/operations.ts';
import { DECLINED, returned, UNKNOWN, useRefundFixture } from './fixture.ts';

const fixture = useRefundFixture();
const COMPLETED = { outcome: 'COMPLETED', reason: 'It is on the statement' } as const;
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
    expect(await recover()).toMatchObject({ isNew: true, money: { amountSantim: 10_00n, refundId: id } });
    expect((await recover()).isNew).toBe(false);
    expect(await queue()).toEqual([]);
    expect((await fixture.request({ amount: 140.01 })).body.message).toContain('at most 140.00 ETB');
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

test('a refund that was not paid has no paid amount', async () => {
  const id = await fixture.requested({ amount: 50 });
  const failed = { ...COMPLETED, outcome: 'FAILED', providerReference: 'CASE-1', paidSantim: 1n } as const;
  await expect(fixture.resolve(id, failed)).rejects.toMatchObject(
    invalid('leave it out where nothing was', 'not_allowed'),
  );
});
