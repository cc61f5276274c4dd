import { DAY_MS, HOUR_MS } from '../../../src/lib/dates.ts';
import { rows } from '../../../src/lib/db.ts';
import { listCases } from '../../../src/payouts/cases.ts';
import { createCheck } from '../../../src/payouts/check.ts';
import { createRefund } from '../../../src/payouts/refunds/create.ts';
import { REFUND } from '../../../src/payouts/refunds/refund.ts';
import { resolvePayout } from '../../../src/payouts/resolve.ts';
import { approveWithdrawal } from '../../../src/payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../../src/payouts/withdrawals/withdrawal.ts';
import { withdraw } from '../../support/settlements.ts';
import {
  buildLive,
  fund,
  UNKNOWN_PAYOUT,
  NOT_THERE,
  PAID_OUT,
  REFUSED,
  REVERSED,
  TAKEN,
} from '../../support/withdrawals.ts';
import { returned } from '../refunds/fixture.ts';
import { COMPLETED, FAILED, FUNDED, TOTAL, useWithdrawalFixture } from './fixture.ts';

const fixture = useWithdrawalFixture();

test('a SUCCESS that its provider declines later becomes REVERSED by an operator’s FAILED: posted and published', async () => {
  const id = await fixture.ready();
  await fixture.report(id, PAID_OUT, REFUSED);
  await expect(fixture.resolve(id, { ...COMPLETED, paidSantim: 90_00n })).rejects.toThrow(
    'paidAmount is booked, 100.00 ETB',
  );
  await expect(fixture.resolve(id, FAILED)).rejects.toThrow('another outcome: FAILED is accepted from');
  fixture.pass(HOUR_MS);
  expect(await fixture.resolve(id, FAILED)).toMatchObject({ row: { status: 'REVERSED' }, missing: 0, isNew: true });
  expect(await fixture.resolve(id, FAILED)).toMatchObject({ isNew: false });
  expect(await fixture.balance()).toEqual([FUNDED, 0n]);
  expect(await fixture.events(id)).toContain('withdrawal.reversed');
  expect(await fixture.read(id)).toMatchObject({ status: 'REVERSED', failure: { message: FAILED.reason } });
});

test('a SUCCESS that its provider declines later stays SUCCESS by an operator’s COMPLETED, and nothing is posted', async () => {
  const id = await fixture.ready();
  await fixture.report(id, PAID_OUT, REFUSED);
  expect(await fixture.resolve(id, COMPLETED)).toMatchObject({ row: { status: 'SUCCESS' } });
  expect(await listCases(fixture.db, id)).toMatchObject([
    { status: 'SUCCESS', decision: 'COMPLETED', closedAt: expect.any(Date) },
  ]);
  expect(await fixture.balance()).toEqual([FUNDED - TOTAL, 0n]);
});

test('a COMPLETED resolution can be corrected to FAILED, but not within an hour', async () => {
  const id = await fixture.ready();
  await fixture.report(id, UNKNOWN_PAYOUT);
  await fixture.resolve(id, COMPLETED);
  fixture.pass(HOUR_MS - 1_000);
  await expect(fixture.resolve(id, FAILED)).rejects.toThrow('another outcome: FAILED is accepted from');
  fixture.pass(1_000);
  expect(await fixture.resolve(id, FAILED)).toMatchObject({ row: { status: 'REVERSED' } });
  expect(await fixture.balance()).toEqual([FUNDED, 0n]);
});

test('a SUCCESS reported by the provider, and not contradicted, cannot be resolved as FAILED', async () => {
  const id = await fixture.ready();
  await fixture.report(id, PAID_OUT);
  fixture.pass(2 * HOUR_MS);
  await expect(fixture.resolve(id, FAILED)).rejects.toMatchObject({ code: 'INVALID_STATE' });
});

test('a resolution is rejected as FAILED within an hour, and beyond the amount requested or reported', async () => {
  const id = await fixture.ready();
  await fixture.report(id, UNKNOWN_PAYOUT);
  await expect(fixture.resolve(id, FAILED)).rejects.toThrow('The provider may still report another outcome');
  await expect(fixture.resolve(id, { ...COMPLETED, paidSantim: 100_01n })).rejects.toThrow(
    'must be at most 100.00 ETB',
  );
  await fixture.report(id, { ...PAID_OUT, amountSantim: 110_00n });
  await expect(fixture.resolve(id, { ...COMPLETED, paidSantim: 110_01n })).rejects.toThrow(
    'must be at most 110.00 ETB',
  );
  expect(await fixture.balance()).toEqual([FUNDED - TOTAL, TOTAL]);
  expect(await fixture.resolve(id, { ...COMPLETED, paidSantim: 100_00n })).toMatchObject({
    row: { status: 'SUCCESS' },
  });
});

test('a withdrawal reported with two different amounts can be resolved with the larger one', async () => {
  const id = await fixture.ready();
  await fixture.report(id, { ...PAID_OUT, amountSantim: 90_00n }, { ...PAID_OUT, amountSantim: 110_00n });
  await expect(fixture.resolve(id, { ...COMPLETED, paidSantim: 110_01n })).rejects.toThrow(
    'must be at most 110.00 ETB',
  );
  expect(await fixture.resolve(id, { ...COMPLETED, paidSantim: 110_00n })).toMatchObject({
    row: { status: 'SUCCESS' },
  });
});

test('a provider reference of one withdrawal is rejected for another', async () => {
  const [first, second] = [await fixture.ready(), await fixture.ready()];
  for (const id of [first, second]) await fixture.report(id, UNKNOWN_PAYOUT);
  await fixture.resolve(first, COMPLETED);
  const decision = { ...COMPLETED, providerReference: `OUT-9-${first}`, operatorId: 'opr_1', at: fixture.clock() };
  const again = fixture.runInTransaction((tx) => resolvePayout(tx, WITHDRAWAL, { id: second, ...decision }));
  await expect(again).rejects.toThrow(`providerReference is that of ${first}`);
  expect(await fixture.resolve(second, COMPLETED)).toMatchObject({ row: { status: 'SUCCESS' } });
});

test('a provider reference of a withdrawal that was reversed is rejected for another', async () => {
  const [first, second] = [await fixture.ready(), await fixture.ready()];
  await fixture.report(first, { ...PAID_OUT, providerReference: 'OUT-R' }, { ...REVERSED, providerReference: 'OUT-R' });
  await fixture.report(second, UNKNOWN_PAYOUT);
  const decision = { ...COMPLETED, providerReference: 'OUT-R', operatorId: 'opr_1', at: fixture.clock() };
  const again = fixture.runInTransaction((tx) => resolvePayout(tx, WITHDRAWAL, { id: second, ...decision }));
  await expect(again).rejects.toThrow(`providerReference is that of ${first}`);
});

test('a provider reference of a withdrawal in the other environment is accepted', async () => {
  const id = await fixture.ready();
  await fixture.report(id, UNKNOWN_PAYOUT);
  const live = await buildLive(fixture.db, fixture.scope);
  await fund(fixture, live, FUNDED);
  const { id: ofLive } = await withdraw(fixture, live, 100_00n);
  await fixture.runInTransaction((tx) => approveWithdrawal(tx, ofLive, { operatorId: 'opr_1', at: fixture.clock() }));
  await fixture.report(ofLive, { ...PAID_OUT, providerReference: `${COMPLETED.providerReference}-${id}` });
  expect(await fixture.resolve(id, COMPLETED)).toMatchObject({ row: { status: 'SUCCESS' } });
});

test('a SUBMITTED withdrawal can be resolved after a day, and not before', async () => {
  const id = await fixture.ready();
  await fixture.report(id, TAKEN);
  fixture.pass(DAY_MS - 1_000);
  await expect(fixture.resolve(id, FAILED)).rejects.toThrow('This withdrawal is SUBMITTED');
  fixture.pass(1_000);
  expect(await fixture.resolve(id, FAILED)).toMatchObject({ row: { status: 'FAILED' } });
  expect(await fixture.balance()).toEqual([FUNDED, 0n]);
});

test('a FAILED resolution can be corrected to COMPLETED, but not within an hour', async () => {
  const id = await fixture.ready();
  await fixture.report(id, UNKNOWN_PAYOUT);
  fixture.pass(HOUR_MS);
  await fixture.resolve(id, FAILED);
  await expect(fixture.resolve(id, COMPLETED)).rejects.toThrow('COMPLETED is accepted from');
  fixture.pass(HOUR_MS);
  expect(await fixture.resolve(id, COMPLETED)).toMatchObject({ row: { status: 'SUCCESS' } });
  expect(await fixture.balance()).toEqual([FUNDED - TOTAL, 0n]);
});

test('a withdrawal reported as paid with another amount stays UNKNOWN after any later report, and can be resolved', async () => {
  for (const later of [NOT_THERE, TAKEN]) {
    const id = await fixture.ready();
    await fixture.report(id, { ...PAID_OUT, amountSantim: 99_50n }, later);
    expect(await fixture.read(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
    expect(await fixture.resolve(id, { ...COMPLETED, paidSantim: 99_50n })).toMatchObject({
      row: { status: 'SUCCESS' },
    });
  }
});

test('a SUCCESS keeps its provider reference after a report of another reversal', async () => {
  const id = await fixture.ready();
  await fixture.report(id, PAID_OUT, { ...REVERSED, amountSantim: 40_00n, providerReference: 'REV-9' });
  expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS', providerReference: `OUT-${id}` });
});

test('concurrent resolutions of three withdrawals with one provider reference: exactly one succeeds', async () => {
  const ids = [await fixture.ready(), await fixture.ready(), await fixture.ready()];
  for (const id of ids) await fixture.report(id, UNKNOWN_PAYOUT);
  const decision = { ...COMPLETED, providerReference: `OUT-${ids[0]}`, operatorId: 'opr_1', at: fixture.clock() };
  const said = ids.map((id) =>
    fixture.runInTransaction((tx) => resolvePayout(tx, WITHDRAWAL, { id: id, ...decision })),
  );
  const outcomes = await Promise.allSettled(said);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a provider reference under which a refund was paid is that of no withdrawal', async () => {
  const find = 'SELECT id FROM transaction WHERE merchant_id = :merchantId';
  const [payment] = await rows<{ id: string }>(fixture.db, find, fixture.scope);
  const wanted = { transactionId: payment!.id, amountSantim: 1_00n, returnFee: false, requestedBy: 'key_test' };
  const { row } = await fixture.runInTransaction((tx) =>
    createRefund({ ...fixture, tx }, fixture.scope, { ...wanted, reference: 'R-1' }),
  );
  const id = await fixture.ready();
  await fixture.report(id, UNKNOWN_PAYOUT);
  fixture.provider.returnsForRefunds(returned(1_00n, `BOTH-${id}`));
  await createCheck(fixture, REFUND)(row.id, { minIntervalMs: 0, notifyWorkflow: true });
  // The fixture makes references unique by the id.
  const taken = fixture.resolve(id, { ...COMPLETED, providerReference: 'BOTH' });
  await expect(taken).rejects.toMatchObject({ code: 'INVALID_STATE', existing: { refundId: row.id } });
});
