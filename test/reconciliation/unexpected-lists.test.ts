import { rows } from '../../src/lib/db.ts';
import { createSyncAttempt } from '../../src/payments/sync.ts';
import { transitionPayout } from '../../src/payouts/transition.ts';
import { readWithdrawal } from '../../src/payouts/withdrawals/queries.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { DISCREPANCY_REVIEW_ITEMS } from '../../src/reconciliation/monitoring.ts';
import { anOrder } from '../providers/sandbox.ts';
import { UNKNOWN } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createReconciliationFixture, MINUTE_MS, TODAY, type ReconciliationFixture } from './fixture.ts';

let fixture: ReconciliationFixture;
beforeEach(async () => {
  fixture = await createReconciliationFixture();
});
afterEach(async () => {
  await expectLedgerHolds(fixture.db);
  await fixture.close();
});

const check = (attemptId: string) => fixture.checkAttempt(attemptId, { notifyWorkflow: false });

test('one reference with two amounts, on one page or two, is a discrepancy until it has one amount', async () => {
  const paid = [await fixture.pay('TELEBIRR'), await fixture.pay('TELEBIRR')];
  await fixture.live(2_000);
  for (const { attemptId } of paid) await check(attemptId);
  const [wide, torn] = paid.map(({ attemptId }) => attemptId);
  const list = fixture.findProvider('TELEBIRR', 'sandbox');
  const page = await list?.statement(TODAY, null);
  if (page?.kind !== 'page') throw new Error('there is no list');
  // Of one the second row is on the same page; of the other on the next, where it comes last and has the right amount.
  const again = page.rows.map((row) => ({ ...row, amountSantim: row.orderId === torn ? 0n : 9_00n }));
  fixture.alterLists((_page, { cursor }) =>
    cursor === null
      ? { kind: 'page', rows: [...page.rows.filter(({ orderId }) => orderId === wide), ...again], next: '2' }
      : { kind: 'page', rows: page.rows.filter(({ orderId }) => orderId === torn), next: null },
  );
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 2 });
  expect(await fixture.open()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'AMOUNT_MISMATCH', orderId: wide, bookedSantim: 100_50n, listedSantim: 109_50n }),
      expect.objectContaining({ kind: 'AMOUNT_MISMATCH', orderId: torn, bookedSantim: 100_50n, listedSantim: 100_50n }),
    ]),
  );
  fixture.alterLists((each) => each);
  expect((await fixture.compare('TELEBIRR')).status).toBe('CLEAN');
});

test('a listed payment of the right amount in another currency is a discrepancy, and the day was never clean', async () => {
  const { attemptId } = await fixture.pay('TELEBIRR');
  await fixture.live(2_000);
  await check(attemptId);
  fixture.alterLists((page) =>
    page.kind === 'unknown' ? page : { ...page, rows: page.rows.map((row) => ({ ...row, currency: 'USD' })) },
  );
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 1 });
  expect(await fixture.open()).toMatchObject([
    { kind: 'AMOUNT_MISMATCH', orderId: attemptId, bookedSantim: 100_50n, listedSantim: 100_50n },
  ]);
  expect(await fixture.db.knex()('reconciliation').first()).toMatchObject({
    status: 'DISCREPANCIES',
    lastCleanAt: null,
  });
});

test('a payment that came in another currency, and is held, matches a statement that lists it so', async () => {
  const { attemptId } = await fixture.pay('TELEBIRR');
  await fixture.live(2_000);
  const provider = fixture.findProvider('TELEBIRR', 'sandbox');
  const inDollars = async (orderId: string) => ({ ...((await provider?.query(orderId)) ?? UNKNOWN), currency: 'USD' });
  const findProvider = () => provider && { ...provider, query: inDollars };
  await createSyncAttempt({ ...fixture, findProvider })(attemptId, { notifyWorkflow: false });
  expect(await fixture.db.knex()('paymentAttempt').first()).toMatchObject({ status: 'HELD', receivedCurrency: 'USD' });
  fixture.alterLists((page) =>
    page.kind === 'unknown' ? page : { ...page, rows: page.rows.map((row) => ({ ...row, currency: 'USD' })) },
  );
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'CLEAN', discrepancies: 0 });
});

/** Paid and later sent back there; unsent and ended so here, as after a backup was restored. */
async function endUnsent(status: 'REJECTED' | 'CANCELLED'): Promise<string> {
  const { attemptId } = await fixture.pay('AWASH', '0911000007', 1_000_00n);
  await fixture.live(2_000);
  await check(attemptId);
  const id = await fixture.withdraw('AWASH', '0911000006');
  await fixture.live(1_500);
  await rows(fixture.db, "UPDATE payout SET stage = 'CREATED', submitted_at = NULL WHERE id = :id", { id });
  const ended = {
    REJECTED: { to: 'REJECTED', entry: { kind: 'review.rejected' } },
    CANCELLED: { to: 'CANCELLED', entry: { kind: 'withdrawal.cancelled' } },
  } as const;
  const move = { ...ended[status], at: fixture.clock(), notifyWorkflow: false };
  const row = await readWithdrawal(fixture.db, id);
  await fixture.runInTransaction((tx) => transitionPayout(tx, WITHDRAWAL, { ...move, before: row }));
  return id;
}

test('a work item does not contain a response about rows that the latest import lacks', async () => {
  const id = await endUnsent('REJECTED');
  await fixture.simulator.fault({ kind: 'serverError', on: 'queryPayout', next: 1 });
  await fixture.compare('AWASH');
  fixture.alterLists((page) =>
    page.kind === 'page'
      ? { ...page, rows: page.rows.map((row) => (row.orderId === id ? { ...row, providerReference: 'OTHER' } : row)) }
      : page,
  );
  await fixture.compare('AWASH');
  const [waiting] = await rows(
    fixture.db,
    `SELECT * FROM (${DISCREPANCY_REVIEW_ITEMS.sql}) w WHERE detail ->> 'orderId' = :id`,
    {
      id,
    },
  );
  expect(waiting).toMatchObject({
    what: 'The provider reports a payout that was never sent to it',
    detail: { providerSays: 'succeeded' },
  });
});

test.each(['REJECTED', 'CANCELLED'] as const)(
  'a %s payout that is listed as paid is queried, and is a discrepancy even after its reversal',
  async (status) => {
    const id = await endUnsent(status);
    const away = () => fixture.simulator.fault({ kind: 'serverError', on: 'queryPayout', next: 1 });
    const waiting = async () => (await rows<{ what: string }>(fixture.db, DISCREPANCY_REVIEW_ITEMS.sql))[0];
    const recheck = () => fixture.steps.recheckOrders(`sandbox-AWASH-${TODAY}`, 'payout/', fixture.clock());
    await away();
    await fixture.compare('AWASH');
    expect(await waiting()).toMatchObject({
      what: 'The provider lists a payout that did not succeed here: the merchant has the money back',
      detail: { discrepancy: 'UNCONFIRMED', orderId: id, ourStatus: status, providerSays: 'unknown' },
    });
    await away();
    expect(await recheck()).toMatchObject({ queried: 1, uncertainCount: 1 });
    expect(await recheck()).toMatchObject({ queried: 1, uncertainCount: 0 });
    expect(await waiting()).toMatchObject({
      what: 'The provider reports a payout that was never sent to it',
      detail: { providerSays: 'succeeded' },
    });
    await fixture.live(2 * MINUTE_MS);
    await fixture.compare('AWASH');
    expect(await fixture.open()).toMatchObject([
      { kind: 'UNCONFIRMED', type: 'payout', orderId: id, orderStatus: status },
      { kind: 'UNCONFIRMED', type: 'payoutReversal', orderId: id, orderStatus: status },
    ]);
    expect((await readWithdrawal(fixture.db, id)).status).toBe(status);
  },
);

test('a row that a later import lacks no longer counts', async () => {
  const foreign = anOrder('http://127.0.0.1:9', { expiresAt: new Date(fixture.clock().getTime() + 30 * MINUTE_MS) });
  await fixture.findProvider('AWASH', 'sandbox')?.initiate(foreign);
  await fixture.live(2_000);
  await fixture.compare('AWASH');
  expect(await fixture.open()).toHaveLength(1);
  fixture.alterLists((page) => (page.kind === 'unknown' ? page : { ...page, rows: [] }));
  expect((await fixture.compare('AWASH')).status).toBe('CLEAN');
  expect(await fixture.open()).toEqual([]);
  expect(await fixture.db.knex()('reconciliation').where({ channel: 'AWASH' }).first()).toMatchObject({
    listed: { payments: { count: 0, santim: '0' } },
  });
});
