import { DAY_MS } from '../../src/lib/dates.ts';
import { stateOfSession } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createReconciliationFixture, expectClearingAgrees, MINUTE_MS, type ReconciliationFixture } from './fixture.ts';

let fixture: ReconciliationFixture;
beforeEach(async () => {
  fixture = await createReconciliationFixture();
});
afterEach(async () => {
  await expectLedgerHolds(fixture.db);
  await fixture.close();
});

/** A payment that was sent and whose outcome stayed unknown until 24 h after its session's end. */
async function uncertain(phone: string) {
  const paid = await fixture.pay('TELEBIRR', phone);
  await fixture.live(31 * MINUTE_MS + DAY_MS);
  await fixture.simulator.fault({ kind: 'serverError', on: 'query' });
  await fixture.expireAttempt(paid.attemptId, fixture.clock());
  await fixture.simulator.clearFaults();
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject({
    transaction: 'EXPIRED',
    needsReconciliation: true,
  });
  return paid;
}

const [FIRST_DAY, SECOND_DAY] = ['2026-03-02', '2026-03-03'] as const;
const STAYS = { transaction: 'EXPIRED', needsReconciliation: true };
const CLEARED = {
  transaction: 'EXPIRED',
  needsReconciliation: false,
  timeline: expect.arrayContaining(['reconciliation.confirmed_unpaid']),
};
const HOUR_MS = 60 * MINUTE_MS;

test('the statements of two nights for each day of an attempt confirm it unpaid, one night does not', async () => {
  // Never answers, so never paid.
  const paid = await uncertain('0911000004');
  await fixture.simulator.fault({ kind: 'serverError', on: 'query' });
  await fixture.compare('TELEBIRR', FIRST_DAY);
  // Its second day is not over yet.
  await fixture.compare('TELEBIRR', SECOND_DAY);
  await fixture.live(DAY_MS);
  await fixture.compare('TELEBIRR', FIRST_DAY);
  await fixture.compare('TELEBIRR', SECOND_DAY);
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject(STAYS);
  // The same night again is no other night.
  await fixture.live(11 * HOUR_MS);
  await fixture.compare('TELEBIRR', SECOND_DAY);
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject(STAYS);
  await fixture.live(HOUR_MS);
  await fixture.compare('TELEBIRR', SECOND_DAY);
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject(CLEARED);
});

test('an attempt made half an hour after midnight in Addis Ababa needs no statement of the day before', async () => {
  await fixture.live(12.5 * HOUR_MS);
  const paid = await uncertain('0911000004');
  await fixture.simulator.fault({ kind: 'serverError', on: 'query' });
  for (const _night of [1, 2]) {
    await fixture.live(DAY_MS);
    for (const day of ['2026-03-03', '2026-03-04']) await fixture.compare('TELEBIRR', day);
  }
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject(CLEARED);
});

test('one night confirms an attempt unpaid together with its provider’s definite "not paid"', async () => {
  const paid = await uncertain('0911000004');
  await fixture.compare('TELEBIRR', FIRST_DAY);
  await fixture.compare('TELEBIRR', SECOND_DAY);
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject(STAYS);
  await fixture.live(DAY_MS);
  await fixture.simulator.fault({ kind: 'serverError', on: 'query' });
  await fixture.compare('TELEBIRR', SECOND_DAY);
  // Its earlier answer is superseded: the outcome is unknown now.
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject(STAYS);
  await fixture.simulator.clearFaults();
  await fixture.compare('TELEBIRR', SECOND_DAY);
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject(CLEARED);
});

test('a payment that a statement once listed stays unknown, even if later statements lack it', async () => {
  const paid = await uncertain('0911000004');
  await fixture.simulator.fault({ kind: 'serverError', on: 'query' });
  const row = { type: 'payment', amountSantim: 100_50n, currency: 'ETB', providerReference: 'ONCE' } as const;
  fixture.alterLists((page) =>
    page.kind === 'unknown' ? page : { ...page, rows: [{ ...row, orderId: paid.attemptId, at: fixture.clock() }] },
  );
  await fixture.compare('TELEBIRR', SECOND_DAY);
  fixture.alterLists((page) => page);
  for (let night = 0; night < 3; night += 1) {
    await fixture.live(DAY_MS);
    await fixture.compare('TELEBIRR', FIRST_DAY);
    await fixture.compare('TELEBIRR', SECOND_DAY);
  }
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject(STAYS);
});

test('a transaction with an unknown outcome that a statement lists becomes SUCCESS, late', async () => {
  const paid = await uncertain('0911000007');
  await fixture.compare('TELEBIRR');
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject({
    transaction: 'SUCCESS',
    confirmedLate: true,
    needsReconciliation: false,
  });
  await expectClearingAgrees(fixture);
});

test('a transaction with an unknown outcome is queried even if the statement no longer lists it', async () => {
  await fixture.simulator.fault({ kind: 'listDropped', next: 1 });
  const paid = await uncertain('0911000007');
  await fixture.compare('TELEBIRR');
  expect(await stateOfSession(fixture.db, paid.sessionId)).toMatchObject({
    transaction: 'SUCCESS',
    needsReconciliation: false,
  });
});

test('an order whose outcome the provider does not know is uncertain, and is queried again', async () => {
  await fixture.pay('TELEBIRR');
  await fixture.live(2_000);
  await fixture.simulator.fault({ kind: 'serverError', on: 'query', next: 1 });
  const id = 'sandbox-TELEBIRR-2026-03-02';
  await fixture.compare('TELEBIRR');
  expect(await fixture.open()).toMatchObject([{ kind: 'UNCONFIRMED' }]);
  await fixture.simulator.fault({ kind: 'serverError', on: 'query', next: 1 });
  const recheck = (after = '') => fixture.steps.recheckOrders(id, after, fixture.clock());
  const first = await recheck();
  expect(first).toMatchObject({ queried: 1, uncertainCount: 1 });
  expect(await recheck(first.after ?? '')).toEqual({ after: null, queried: 0, uncertainCount: 0 });
  expect(await recheck()).toMatchObject({ queried: 1, uncertainCount: 0 });
  expect(await recheck()).toEqual({ after: null, queried: 0, uncertainCount: 0 });
});
