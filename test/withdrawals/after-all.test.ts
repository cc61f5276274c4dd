import { listCases } from '../../src/withdrawals/conflicts.ts';
import { resolveWithdrawal, type Resolution } from '../../src/withdrawals/resolve.ts';
import { UNKNOWN_PAYOUT, NOT_THERE, PAID_OUT, REFUSED, REVERSED, TAKEN } from '../support/withdrawals.ts';
import { CHECK, createWithdrawalWorld, type WithdrawalWorld } from './world.ts';

const FUNDED = 1_000_00n;
/** 100 birr, 5 fee, 0.75 tax. */
const TOTAL = 105_75n;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const COMPLETED: Resolution = { outcome: 'COMPLETED', providerReference: 'OUT-9', reason: 'The receipt says so' };
const FAILED: Resolution = { outcome: 'FAILED', providerReference: 'CASE-7', reason: 'The provider never paid it' };

let world: WithdrawalWorld;
beforeAll(async () => {
  world = await createWithdrawalWorld();
});
beforeEach(() => world.newMerchant());
afterEach(() => world.expectLedgerHolds());
afterAll(() => world.close());

const resolve = (id: string, resolution: Resolution) => {
  // Each payout has a reference of its own.
  const providerReference = `${resolution.providerReference}-${id}`;
  const decision = { ...resolution, providerReference, operatorId: 'opr_1', at: world.clock() };
  return world.runInTransaction((tx) => resolveWithdrawal(tx, id, decision));
};

async function hear(id: string, ...answers: Parameters<WithdrawalWorld['provider']['returnsForPayouts']>) {
  world.provider.returnsForPayouts(...answers);
  for (const _ of answers) await world.checkPayout(id, { ...CHECK, proof: true });
}

test('paid, and then refused: never paid, says an operator, and it is reversed, booked and told', async () => {
  const id = await world.ready();
  await hear(id, PAID_OUT, REFUSED);
  await expect(resolve(id, { ...COMPLETED, paidSantim: 90_00n })).rejects.toThrow('paidAmount is booked, 100.00 ETB');
  await expect(resolve(id, FAILED)).rejects.toThrow('another outcome: FAILED is accepted from');
  world.pass(HOUR_MS);
  expect(await resolve(id, FAILED)).toMatchObject({ row: { status: 'REVERSED' }, missing: 0, isNew: true });
  expect(await resolve(id, FAILED)).toMatchObject({ isNew: false });
  expect(await world.balance()).toEqual([FUNDED, 0n]);
  expect(await world.events(id)).toContain('withdrawal.reversed');
  expect(await world.read(id)).toMatchObject({ status: 'REVERSED', failure: { message: FAILED.reason } });
});

test('paid, and then refused: paid all the same, says an operator, and nothing moves', async () => {
  const id = await world.ready();
  await hear(id, PAID_OUT, REFUSED);
  expect(await resolve(id, COMPLETED)).toMatchObject({ row: { status: 'SUCCESS' } });
  expect(await listCases(world.db, id)).toMatchObject([
    { status: 'SUCCESS', decision: 'COMPLETED', closedAt: expect.any(Date) },
  ]);
  expect(await world.balance()).toEqual([FUNDED - TOTAL, 0n]);
});

test('paid by an operator’s word alone can be found to be unpaid, an hour later', async () => {
  const id = await world.ready();
  await hear(id, UNKNOWN_PAYOUT);
  await resolve(id, COMPLETED);
  world.pass(HOUR_MS - 1_000);
  await expect(resolve(id, FAILED)).rejects.toThrow('another outcome: FAILED is accepted from');
  world.pass(1_000);
  expect(await resolve(id, FAILED)).toMatchObject({ row: { status: 'REVERSED' } });
  expect(await world.balance()).toEqual([FUNDED, 0n]);
});

test('paid by its provider’s word is not unpaid by an operator’s alone', async () => {
  const id = await world.ready();
  await hear(id, PAID_OUT);
  world.pass(2 * HOUR_MS);
  await expect(resolve(id, FAILED)).rejects.toMatchObject({ code: 'INVALID_STATE' });
});

test('nothing is called unpaid within an hour, nor paid beyond what was asked for or its provider has said', async () => {
  const id = await world.ready();
  await hear(id, UNKNOWN_PAYOUT);
  await expect(resolve(id, FAILED)).rejects.toThrow('The provider may still report another outcome');
  await expect(resolve(id, { ...COMPLETED, paidSantim: 100_01n })).rejects.toThrow('must be at most 100.00 ETB');
  await hear(id, { ...PAID_OUT, amountSantim: 110_00n });
  await expect(resolve(id, { ...COMPLETED, paidSantim: 110_01n })).rejects.toThrow('must be at most 110.00 ETB');
  expect(await world.balance()).toEqual([FUNDED - TOTAL, TOTAL]);
  expect(await resolve(id, { ...COMPLETED, paidSantim: 100_00n })).toMatchObject({ row: { status: 'SUCCESS' } });
});

test('a provider that names one amount after another may be believed with any of them', async () => {
  const id = await world.ready();
  await hear(id, { ...PAID_OUT, amountSantim: 90_00n }, { ...PAID_OUT, amountSantim: 110_00n });
  await expect(resolve(id, { ...COMPLETED, paidSantim: 110_01n })).rejects.toThrow('must be at most 110.00 ETB');
  expect(await resolve(id, { ...COMPLETED, paidSantim: 110_00n })).toMatchObject({ row: { status: 'SUCCESS' } });
});

test('a reference of the provider pays one withdrawal only', async () => {
  const [first, second] = [await world.ready(), await world.ready()];
  for (const id of [first, second]) await hear(id, UNKNOWN_PAYOUT);
  await resolve(first, COMPLETED);
  const decision = { ...COMPLETED, providerReference: `OUT-9-${first}`, operatorId: 'opr_1', at: world.clock() };
  const again = world.runInTransaction((tx) => resolveWithdrawal(tx, second, decision));
  await expect(again).rejects.toThrow(`providerReference is that of ${first}`);
  expect(await resolve(second, COMPLETED)).toMatchObject({ row: { status: 'SUCCESS' } });
});

test('pending for a day at its provider, it can be ended by an operator, and not before', async () => {
  const id = await world.ready();
  await hear(id, TAKEN);
  world.pass(DAY_MS - 1_000);
  await expect(resolve(id, FAILED)).rejects.toThrow('This withdrawal is SUBMITTED');
  world.pass(1_000);
  expect(await resolve(id, FAILED)).toMatchObject({ row: { status: 'FAILED' } });
  expect(await world.balance()).toEqual([FUNDED, 0n]);
});

test('unpaid by an operator’s word alone can be found to be paid, an hour later', async () => {
  const id = await world.ready();
  await hear(id, UNKNOWN_PAYOUT);
  world.pass(HOUR_MS);
  await resolve(id, FAILED);
  await expect(resolve(id, COMPLETED)).rejects.toThrow('COMPLETED is accepted from');
  world.pass(HOUR_MS);
  expect(await resolve(id, COMPLETED)).toMatchObject({ row: { status: 'SUCCESS' } });
  expect(await world.balance()).toEqual([FUNDED - TOTAL, 0n]);
});

test('what was once called paid waits for an operator, whatever its provider says after that', async () => {
  for (const later of [NOT_THERE, TAKEN]) {
    const id = await world.ready();
    await hear(id, { ...PAID_OUT, amountSantim: 99_50n }, later);
    expect(await world.read(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
    expect(await resolve(id, { ...COMPLETED, paidSantim: 99_50n })).toMatchObject({ row: { status: 'SUCCESS' } });
  }
});

test('what was paid keeps its reference, whatever its provider says after that', async () => {
  const id = await world.ready();
  await hear(id, PAID_OUT, { ...REVERSED, amountSantim: 40_00n, providerReference: 'REV-9' });
  expect(await world.read(id)).toMatchObject({ status: 'SUCCESS', providerReference: 'OUT-1' });
});

test('of two withdrawals that are called paid under one reference at once, one is', async () => {
  const ids = [await world.ready(), await world.ready(), await world.ready()];
  for (const id of ids) await hear(id, UNKNOWN_PAYOUT);
  const decision = { ...COMPLETED, providerReference: `OUT-${ids[0]}`, operatorId: 'opr_1', at: world.clock() };
  const said = ids.map((id) => world.runInTransaction((tx) => resolveWithdrawal(tx, id, decision)));
  const outcomes = await Promise.allSettled(said);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});
