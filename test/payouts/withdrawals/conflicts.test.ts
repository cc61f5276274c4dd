import { listWorkItems, REVIEW_ITEMS } from '../../../src/backoffice/work-queue.ts';
import { createRegistry } from '../../../src/http/metrics.ts';
import { rows } from '../../../src/lib/db.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { isContradicted, listCases } from '../../../src/payouts/cases.ts';
import { recheckOutgoing } from '../../../src/payouts/check.ts';
import { createCheck } from '../../../src/payouts/check.ts';
import { measureWithdrawals } from '../../../src/payouts/withdrawals/monitoring.ts';
import { readWithdrawal } from '../../../src/payouts/withdrawals/queries.ts';
import { WITHDRAWAL } from '../../../src/payouts/withdrawals/withdrawal.ts';
import type { PayoutOutcome } from '../../../src/providers/provider.ts';
import { recordRecovery } from '../../../src/reconciliation/receipts/operations.ts';
import { NOT_THERE, PAID_OUT, REFUSED, REVERSED } from '../../support/withdrawals.ts';
import { CHECK, COMPLETED, FUNDED, TOTAL, useWithdrawalFixture } from './fixture.ts';

const FIRST_PAGE = { page: 1, limit: 50, after: null };

const fixture = useWithdrawalFixture();

async function conflictOf(id: string) {
  const row = await readWithdrawal(fixture.db, id);
  const cases = await listCases(fixture.db, id);
  return { status: row.status, stage: row.stage, isContradicted: isContradicted(row, cases), cases };
}

/** How many the worker's metrics show. */
async function contradicted(): Promise<number> {
  const registry = createRegistry('test');
  measureWithdrawals(registry, fixture.db);
  return (await registry.getSingleMetric('meskot_withdrawals_in_conflict')?.get())?.values[0]?.value ?? NaN;
}

test('a decline after a report of another amount releases no money and sends nothing; the exact amount completes it', async () => {
  const id = await fixture.ready();
  await fixture.report(id, { ...PAID_OUT, amountSantim: 99_50n }, REFUSED);
  expect(await conflictOf(id)).toMatchObject({
    status: 'PENDING',
    stage: 'UNKNOWN',
    isContradicted: false,
    cases: [{ status: 'PENDING', evidence: { outcome: 'declined' }, closedAt: null }],
  });
  const { payoutQueries } = fixture.provider;
  const before = payoutQueries.length;
  await fixture.report(id, NOT_THERE, REFUSED);
  expect(payoutQueries.slice(before).filter(({ operation }) => operation === 'payout')).toEqual([]);
  expect(await conflictOf(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
  expect(await fixture.balance()).toEqual([FUNDED - TOTAL, TOTAL]);
  // The right amount is an end all the same.
  await fixture.report(id, PAID_OUT);
  expect(await conflictOf(id)).toMatchObject({
    status: 'SUCCESS',
    isContradicted: false,
    cases: [{ status: 'PENDING', decision: null, closedAt: expect.any(Date) }],
  });
});

test('a report in another currency moves no money, and its amount is none that operators may confirm', async () => {
  const id = await fixture.ready();
  await fixture.report(id, { ...PAID_OUT, currency: 'USD' }, { ...PAID_OUT, currency: 'USD', amountSantim: 200_00n });
  expect(await conflictOf(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN', cases: [{ closedAt: null }] });
  expect(await fixture.balance()).toEqual([FUNDED - TOTAL, TOTAL]);
  await expect(fixture.resolve(id, { ...COMPLETED, paidSantim: 150_00n })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining('must be at most 100.00 ETB'),
  });
  await fixture.report(id, PAID_OUT);
  const paid = await fixture.balance();
  await fixture.report(id, { ...REVERSED, currency: 'USD' });
  expect(await conflictOf(id)).toMatchObject({ status: 'SUCCESS', isContradicted: true });
  expect(await fixture.balance()).toEqual(paid);
});

test('a payout reported as paid under the reference of another one keeps its money reserved until operators find its own', async () => {
  const paid = { ...PAID_OUT, providerReference: 'OUT-TWICE' };
  const first = await fixture.ready();
  await fixture.report(first, paid, paid);
  const id = await fixture.ready();
  await fixture.report(id, paid, REFUSED, paid);
  expect(await conflictOf(id)).toMatchObject({
    status: 'PENDING',
    stage: 'UNKNOWN',
    cases: [{ status: 'PENDING', evidence: { outcome: 'succeeded', providerReference: 'OUT-TWICE' }, closedAt: null }],
  });
  expect(await fixture.balance()).toEqual([FUNDED - 2n * TOTAL, TOTAL]);
  const filter = { merchantId: fixture.scope.merchantId };
  const at = fixture.clock();
  const { rows: items } = await listWorkItems(fixture.db, REVIEW_ITEMS, { filter, page: FIRST_PAGE, at });
  const what = 'The provider reports a payment under a reference that has paid another order';
  expect(items).toMatchObject([{ kind: 'WITHDRAWAL_UNKNOWN', id, what }]);
  await fixture.resolve(id, COMPLETED);
  expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS', providerReference: `OUT-9-${id}` });
});

test('of two payouts that are reported as paid under one reference at the same time, one is confirmed', async () => {
  const ids = [await fixture.ready(), await fixture.ready()];
  fixture.provider.returnsForPayouts({ ...PAID_OUT, providerReference: 'OUT-RACE' });
  const checked = await Promise.all(ids.map(async (id) => fixture.checkPayout(id, CHECK)));
  expect(checked.map(({ row }) => row.status).toSorted()).toEqual(['PENDING', 'SUCCESS']);
});

test('a payout that was paid exactly has no excess that its provider could take back', async () => {
  const id = await fixture.ready();
  await fixture.report(id, PAID_OUT);
  const recovery = { of: { kind: 'withdrawal' as const, id }, reference: 'BACK-1', at: fixture.clock() };
  await expect(fixture.runInTransaction((tx) => recordRecovery(tx, recovery))).rejects.toMatchObject({
    code: 'INVALID_STATE',
    message: expect.stringContaining('was not paid more than its amount'),
  });
});

test('a repeat of the report that left a withdrawal UNKNOWN contradicts the operators’ COMPLETED', async () => {
  const id = await fixture.ready();
  await fixture.report(id, { ...PAID_OUT, amountSantim: 99_50n }, REFUSED);
  await fixture.resolve(id, { ...COMPLETED, paidSantim: 99_50n });
  expect(await conflictOf(id)).toMatchObject({ status: 'SUCCESS', isContradicted: false });
  await fixture.report(id, REFUSED);
  expect(await conflictOf(id)).toMatchObject({ status: 'SUCCESS', isContradicted: true });
});

test('a decline after SUCCESS posts nothing and opens a case; a repeat does not open the decided case again', async () => {
  const id = await fixture.ready();
  const before = await contradicted();
  await fixture.report(id, PAID_OUT, REFUSED);
  expect(await conflictOf(id)).toMatchObject({ status: 'SUCCESS', isContradicted: true });
  expect(await contradicted()).toBe(before + 1);
  expect(await fixture.balance()).toEqual([FUNDED - TOTAL, 0n]);
  await rows(fixture.db, 'UPDATE payout_case SET closed_at = now() WHERE payout_id = :id', { id });
  await fixture.report(id, REFUSED);
  expect(await conflictOf(id)).toMatchObject({ isContradicted: false });
  await fixture.report(id, PAID_OUT, REFUSED);
  expect(await conflictOf(id)).toMatchObject({ status: 'SUCCESS', isContradicted: true });
  const { timeline } = await fixture.read(id);
  expect(timeline.filter(({ kind }: { kind: string }) => kind === 'provider.conflict')).toHaveLength(2);
});

const PHONE = '251911000001';
/** A provider that repeats in its words whom it was to pay. */
const REFUSED_BY_NAME: PayoutOutcome = {
  kind: 'declined',
  failure: {
    code: 'INVALID_PAYEE',
    message: `No wallet ${PHONE} of Abebe Bikila.`,
    providerCode: 'E404',
    retryable: false,
  },
};

test.each([
  ['paid, then refused', [PAID_OUT, REFUSED_BY_NAME], /had paid/],
  ['refused, then paid', [REFUSED_BY_NAME, PAID_OUT], /had declined/],
  ['another amount, then refused', [{ ...PAID_OUT, amountSantim: 99_50n }, REFUSED_BY_NAME], /itself/],
])('the log line of a conflict (%s) has the withdrawal’s id, never its phone or name', async (_, answers, says) => {
  const id = await fixture.ready();
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('trace', 'test', { destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  const checkPayout = createCheck({ ...fixture, log }, WITHDRAWAL);
  fixture.provider.returnsForPayouts(...answers);
  for (const _answer of answers) await checkPayout(id, { ...CHECK, proof: true });
  expect(lines.at(-1)).toMatchObject({ withdrawalId: id, msg: expect.stringMatching(says) });
  expect(JSON.stringify(lines)).not.toMatch(/911000001|Abebe/);
});

test('a partial reversal of a SUCCESS opens a case; a full one makes it REVERSED', async () => {
  const id = await fixture.ready();
  await fixture.report(id, PAID_OUT, { ...REVERSED, amountSantim: 40_00n });
  expect(await conflictOf(id)).toMatchObject({ status: 'SUCCESS', isContradicted: true });
  expect(await fixture.balance()).toEqual([FUNDED - TOTAL, 0n]);
  await fixture.report(id, REVERSED);
  expect(await conflictOf(id)).toMatchObject({ status: 'REVERSED' });
  expect(await fixture.balance()).toEqual([FUNDED, 0n]);
});

test('a partial reversal of a PENDING withdrawal leaves it UNKNOWN', async () => {
  const id = await fixture.ready();
  await fixture.report(id, { ...REVERSED, amountSantim: 40_00n });
  expect(await conflictOf(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
  expect(await fixture.balance()).toEqual([FUNDED - TOTAL, TOTAL]);
});

/** Paid, and a second later its provider has sent a genuine callback. */
async function paidAndCalledBack(): Promise<string> {
  const id = await fixture.ready();
  await fixture.report(id, PAID_OUT);
  await rows(
    fixture.db,
    `INSERT INTO provider_callback (payout_id, channel, body, verified, created_at)
     VALUES (:id, 'TELEBIRR', 'a callback', true, CAST(:now AS timestamptz) + interval '1 second')`,
    { id, now: fixture.clock() },
  );
  return id;
}

test('a verified callback after SUCCESS is rechecked until the provider reports the reversal', async () => {
  const id = await paidAndCalledBack();
  fixture.pass(2 * 60_000);
  expect(await recheckOutgoing({ ...fixture, check: fixture.checkPayout }, WITHDRAWAL, 10)).toBe(1);
  expect(await recheckOutgoing({ ...fixture, check: fixture.checkPayout }, WITHDRAWAL, 10)).toBe(0);
  fixture.pass(30 * 60_000);
  fixture.provider.returnsForPayouts(REVERSED);
  expect(await recheckOutgoing({ ...fixture, check: fixture.checkPayout }, WITHDRAWAL, 10)).toBe(1);
  expect((await fixture.read(id)).status).toBe('REVERSED');
  expect(await fixture.balance()).toEqual([FUNDED, 0n]);
});

test('a verified callback after SUCCESS is rechecked every two minutes for twenty minutes, then no more', async () => {
  await paidAndCalledBack();
  let queried = 0;
  for (let minutes = 0; minutes < 600; minutes += 2) {
    fixture.pass(2 * 60_000);
    queried += await recheckOutgoing({ ...fixture, check: fixture.checkPayout }, WITHDRAWAL, 10);
  }
  // One each two minutes, until one came twenty minutes after the callback.
  expect(queried).toBe(11);
});
