import { rows } from '../../src/lib/db.ts';
import { listCases } from '../../src/payouts/cases.ts';
import { resolvePayout } from '../../src/payouts/resolve.ts';
import { transitionPayout } from '../../src/payouts/transition.ts';
import { readWithdrawal } from '../../src/payouts/withdrawals/queries.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { DISCREPANCY_REVIEW_ITEMS } from '../../src/reconciliation/monitoring.ts';
import { anOrder } from '../providers/sandbox.ts';
import { stateOfSession } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import {
  createReconciliationFixture,
  expectClearingAgrees,
  MINUTE_MS,
  SANDBOX_CHANNELS,
  TODAY,
  type ReconciliationFixture,
} from './fixture.ts';

let fixture: ReconciliationFixture;
beforeEach(async () => {
  fixture = await createReconciliationFixture();
});
afterEach(async () => {
  await expectLedgerHolds(fixture.db);
  await fixture.close();
});

const check = (attemptId: string) => fixture.checkAttempt(attemptId, { notifyWorkflow: false });
const day = async (channel = 'TELEBIRR') => fixture.db.knex()('reconciliation').where({ channel }).first();

test.each(SANDBOX_CHANNELS)('%s: a listed payment that is not booked is queried and booked', async (channel) => {
  const paid = await fixture.pay(channel);
  await fixture.live(2_000);
  expect(await fixture.compare(channel)).toEqual({ status: 'CLEAN', discrepancies: 0 });
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject({ transaction: 'SUCCESS' });
  expect(await day(channel)).toMatchObject({
    status: 'CLEAN',
    listed: { payments: { count: 1, santim: '10050' } },
    booked: { payments: { count: 1, santim: '10050' } },
    clearingSantim: 100_50n,
    isRunning: false,
  });
  await expectClearingAgrees(fixture);
});

test('a listed payment of an expired session makes it SUCCESS, late', async () => {
  const paid = await fixture.pay('TELEBIRR', '0911000006');
  await fixture.live(30 * MINUTE_MS + 2_000);
  await fixture.expireAttempt(paid.attemptId, fixture.clock());
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject({ transaction: 'EXPIRED' });
  await fixture.live(10 * MINUTE_MS);
  expect((await fixture.compare('TELEBIRR')).status).toBe('CLEAN');
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject({
    transaction: 'SUCCESS',
    confirmedLate: true,
  });
  await expectClearingAgrees(fixture);
});

test('a listed payment that the provider does not confirm is a discrepancy and is not booked', async () => {
  await fixture.simulator.fault({ kind: 'queryLag', of: 'payment', next: 1, delayMs: 10 * MINUTE_MS });
  const paid = await fixture.pay('TELEBIRR');
  await fixture.live(2_000);
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 1 });
  expect(await fixture.open()).toMatchObject([
    { kind: 'UNCONFIRMED', orderId: paid.attemptId, orderStatus: 'PENDING', bookedSantim: null, listedSantim: 100_50n },
  ]);
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject({ transaction: 'PENDING' });

  await fixture.live(10 * MINUTE_MS);
  expect((await fixture.compare('TELEBIRR')).status).toBe('CLEAN');
  expect(await fixture.db.knex()('reconciliationDiscrepancy').first()).toMatchObject({
    closedBy: null,
    resolutionNote: 'A later comparison no longer found it.',
  });
});

test('booked payments and payouts are discrepancies until a statement lists them', async () => {
  await fixture
    .pay('TELEBIRR', '0911000007', 1_000_00n)
    .then(({ attemptId }) => fixture.live(2_000).then(() => check(attemptId)));
  await fixture.simulator.fault({ kind: 'listDropped', next: 2 });
  const paid = await fixture.pay('TELEBIRR');
  const out = await fixture.withdraw('TELEBIRR');
  await fixture.live(2_000);
  await check(paid.attemptId);
  await fixture.checkPayout(out, { minIntervalMs: 0, notifyWorkflow: false });
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 2 });
  expect(await fixture.open()).toMatchObject([
    {
      kind: 'MISSING_FROM_STATEMENT',
      type: 'payment',
      orderId: paid.attemptId,
      bookedSantim: 100_50n,
      listedSantim: null,
      day: TODAY,
    },
    {
      kind: 'MISSING_FROM_STATEMENT',
      type: 'payout',
      orderId: out,
      orderStatus: 'SUCCESS',
      bookedSantim: 20_00n,
      listedSantim: null,
    },
  ]);
  expect(await day()).toMatchObject({
    listed: { payments: { count: 1 }, payouts: { count: 0 } },
    booked: { payments: { count: 2 }, payouts: { count: 1 } },
  });

  const row = { type: 'payment', currency: 'ETB', providerReference: 'LATE-1', at: fixture.clock() } as const;
  fixture.alterLists((page) => {
    if (page.kind === 'unknown') return page;
    const late = { ...row, orderId: paid.attemptId, amountSantim: 100_50n };
    return { ...page, rows: [...page.rows, late, { ...late, type: 'payout', orderId: out, amountSantim: 20_00n }] };
  });
  expect((await fixture.compare('TELEBIRR')).status).toBe('CLEAN');
  expect(await fixture.open()).toEqual([]);
});

test('an unlisted posting without an attempt is a discrepancy of its transaction', async () => {
  const paid = await fixture.pay('TELEBIRR');
  await fixture.live(2_000);
  await check(paid.attemptId);
  const attempt = () => fixture.db.knex()('paymentAttempt').where({ id: paid.attemptId });
  await attempt().update({ status: 'ABANDONED' });
  fixture.alterLists((page) => (page.kind === 'unknown' ? page : { ...page, rows: [] }));
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 1 });
  expect(await fixture.open()).toMatchObject([
    { kind: 'MISSING_FROM_STATEMENT', orderId: paid.transactionId, bookedSantim: 100_50n },
  ]);
  await attempt().update({ status: 'SUCCEEDED' });
});

test('an order that is listed with another amount, or twice, is a discrepancy', async () => {
  await fixture.simulator.fault({ kind: 'listWrongAmount', channel: 'TELEBIRR', next: 1 });
  const wrong = await fixture.pay('TELEBIRR');
  const twice = await fixture.pay('TELEBIRR');
  await fixture.live(2_000);
  fixture.alterLists((page) => {
    if (page.kind === 'unknown') return page;
    const again = page.rows.filter(({ orderId }) => orderId === twice.attemptId);
    return { ...page, rows: [...page.rows, ...again.map((row) => ({ ...row, providerReference: 'AGAIN' }))] };
  });
  await fixture.compare('TELEBIRR');
  expect(await fixture.open()).toMatchObject([
    { kind: 'AMOUNT_MISMATCH', orderId: wrong.attemptId, bookedSantim: 100_50n, listedSantim: 101_50n },
    { kind: 'AMOUNT_MISMATCH', orderId: twice.attemptId, bookedSantim: 100_50n, listedSantim: 201_00n },
  ]);
});

test('an order that is unknown or of another channel is a discrepancy and is not booked', async () => {
  const provider = fixture.findProvider('TELEBIRR', 'sandbox');
  const foreign = anOrder('http://127.0.0.1:9', { expiresAt: new Date(fixture.clock().getTime() + 30 * MINUTE_MS) });
  await provider?.initiate(foreign);
  const awash = await fixture.pay('AWASH');
  await fixture.live(2_000);
  await check(awash.attemptId);
  fixture.alterLists((page) =>
    page.kind === 'unknown' || page.rows[0] === undefined
      ? page
      : {
          ...page,
          rows: [...page.rows, { ...page.rows[0], orderId: awash.attemptId }, { ...page.rows[0], orderId: 'TILL 7' }],
        },
  );
  await fixture.compare('TELEBIRR');
  const found = await fixture.open();
  expect(new Set(found.map(({ orderId }) => orderId))).toEqual(new Set([foreign.orderId, awash.attemptId, 'TILL 7']));
  for (const one of found)
    expect(one).toMatchObject({ kind: 'UNKNOWN_ORDER', orderStatus: null, listedSantim: 100_50n });
});

test('a held payment of another amount matches the statement', async () => {
  const paid = await fixture.pay('CBE_BIRR', '0911000008');
  await fixture.live(2_000);
  expect((await fixture.compare('CBE_BIRR')).status).toBe('CLEAN');
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject({
    holdReason: 'WRONG_AMOUNT',
    attempts: ['HELD'],
  });
  await expectClearingAgrees(fixture);
});

test('pending payouts that are listed as paid are queried, and one that is listed as reversed is reversed', async () => {
  const { attemptId } = await fixture.pay('AWASH', '0911000007', 1_000_00n);
  await fixture.live(2_000);
  await check(attemptId);
  const [paid, reversed] = [await fixture.withdraw('AWASH'), await fixture.withdraw('AWASH', '0911000006')];
  await fixture.live(1_500);
  expect((await readWithdrawal(fixture.db, paid)).status).toBe('PENDING');
  await fixture.compare('AWASH');
  expect((await readWithdrawal(fixture.db, paid)).status).toBe('SUCCESS');
  expect((await readWithdrawal(fixture.db, reversed)).status).toBe('SUCCESS');
  await fixture.live(2 * MINUTE_MS);
  expect((await fixture.compare('AWASH')).status).toBe('CLEAN');
  expect((await readWithdrawal(fixture.db, reversed)).status).toBe('REVERSED');
  expect(await day('AWASH')).toMatchObject({
    listed: { payouts: { count: 2 }, reversals: { count: 1 } },
    booked: { payouts: { count: 2 }, reversals: { count: 1 } },
  });
  await expectClearingAgrees(fixture);
});

test('a FAILED payout that is listed as paid is queried, not sent again, and left to operators', async () => {
  const { attemptId } = await fixture.pay('AWASH', '0911000007', 1_000_00n);
  await fixture.live(2_000);
  await check(attemptId);
  const id = await fixture.withdraw('AWASH');
  await fixture.live(1_500);
  await fail(id);
  const submissions = async () => (await fixture.simulator.payoutOf(id))?.submissions;
  const sent = await submissions();
  await fixture.simulator.fault({ kind: 'serverError', on: 'queryPayout', next: 1 });
  // The provider does not know the outcome: the order is uncertain, and is queried again.
  await fixture.compare('AWASH');
  const recheck = () => fixture.steps.recheckOrders(`sandbox-AWASH-${TODAY}`, 'payout/', fixture.clock());
  expect(await listCases(fixture.db, id)).toEqual([]);
  await fixture.simulator.fault({ kind: 'serverError', on: 'queryPayout', next: 1 });
  expect(await recheck()).toMatchObject({ queried: 1, uncertainCount: 1 });
  expect(await recheck()).toMatchObject({ queried: 1, uncertainCount: 0 });

  expect(await fixture.compare('AWASH')).toEqual({ status: 'DISCREPANCIES', discrepancies: 1 });
  expect(await fixture.open()).toMatchObject([
    {
      kind: 'UNCONFIRMED',
      type: 'payout',
      orderId: id,
      orderStatus: 'FAILED',
      bookedSantim: null,
      listedSantim: 20_00n,
    },
  ]);
  expect(await readWithdrawal(fixture.db, id)).toMatchObject({ status: 'FAILED' });
  expect(await listCases(fixture.db, id)).toMatchObject([{ status: 'FAILED', closedAt: null }]);
  expect(await submissions()).toBe(sent);
  const [waiting] = await rows<{ what: string }>(fixture.db, DISCREPANCY_REVIEW_ITEMS.sql);
  expect(waiting?.what).toBe('The provider lists a payout that did not succeed here: the merchant has the money back');
  // A closed case stays a discrepancy, and is not queried again.
  await fixture.db.knex()('payout_case').where({ payoutId: id }).update({ closedAt: fixture.clock() });
  expect(await recheck()).toEqual({ after: null, queried: 0, uncertainCount: 0 });
});

/** As a decline of its provider does. */
async function fail(id: string): Promise<void> {
  const failure = { code: 'REJECTED', message: 'No.', providerCode: 'E1', retryable: false } as const;
  const failed = {
    to: 'FAILED',
    entry: { kind: 'payout.failed', detail: { code: 'REJECTED' } },
    changes: { failure },
  } as const;
  const change = { ...failed, at: fixture.clock(), notifyWorkflow: false };
  const row = await readWithdrawal(fixture.db, id);
  await fixture.runInTransaction((tx) => transitionPayout(tx, WITHDRAWAL, { ...change, before: row }));
}

test('a payout of another amount matches the statement once an operator has resolved it with the paid amount', async () => {
  const { attemptId } = await fixture.pay('AWASH', '0911000007', 1_000_00n);
  await fixture.live(2_000);
  await check(attemptId);
  await fixture.simulator.fault({ kind: 'paidWrongAmount', of: 'payout', next: 1 });
  const withdrawalId = await fixture.withdraw('AWASH');
  await fixture.live(1_500);
  expect(await fixture.compare('AWASH')).toEqual({ status: 'DISCREPANCIES', discrepancies: 1 });
  const [{ listedSantim } = {}] = await fixture.open();
  expect(listedSantim).not.toBe(20_00n);
  const receipt = { outcome: 'COMPLETED', providerReference: 'X', reason: 'Their receipt.' } as const;
  const by = { operatorId: 'opr_1', at: fixture.clock() };
  const resolution = { id: withdrawalId, ...receipt, ...by, paidSantim: listedSantim ?? undefined };
  await fixture.runInTransaction((tx) => resolvePayout(tx, WITHDRAWAL, resolution));
  expect((await fixture.compare('AWASH')).status).toBe('CLEAN');
  await expectClearingAgrees(fixture);
});

test('comparing a day again changes nothing', async () => {
  await fixture.simulator.fault({ kind: 'listWrongAmount', channel: 'TELEBIRR', next: 1 });
  await fixture.pay('TELEBIRR');
  await fixture.live(2_000);
  const everything = async () => ({
    journals: await fixture.db.knex()('ledgerJournal').orderBy('id'),
    listed: await rows(fixture.db, 'SELECT order_id, type, amount_santim FROM current_statement_row ORDER BY order_id'),
    discrepancies: (await fixture.db.knex()('reconciliationDiscrepancy').orderBy('id')).map((row) => ({
      ...row,
      comparisonNo: 0,
    })),
    events: await fixture.db.knex()('webhookEvent').orderBy('id').select('id'),
    timeline: await fixture.db.knex()('timeline').orderBy('id').select('id'),
  });
  await fixture.compare('TELEBIRR');
  const before = await everything();
  expect(before.discrepancies).toHaveLength(1);
  await fixture.live(MINUTE_MS);
  await fixture.compare('TELEBIRR');
  expect(await everything()).toEqual(before);
});
