import { addisDay, DAY_MS, HOUR_MS, startOfAddisDay } from '../../src/lib/dates.ts';
import { first, rows } from '../../src/lib/db.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import type { AccountStatement, FindProvider, ReadStatement, StatementRow } from '../../src/providers/provider.ts';
import { DISCREPANCY_REVIEW_ITEMS } from '../../src/reconciliation/monitoring.ts';
import { requestRun } from '../../src/reconciliation/request.ts';
import { listReconciledDays } from '../../src/reconciliation/runs.ts';
import {
  buildAttempt,
  buildFixture,
  buildMerchant,
  buildSession,
  PAID,
  stateOfSession,
  UNKNOWN,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { buildLive } from '../support/withdrawals.ts';
import { createReconciliationSteps } from './fixture.ts';

const DAY = addisDay(new Date());
/** A time that is not near the end of the day. */
const clock = () => new Date(startOfAddisDay(DAY).getTime() + 12 * HOUR_MS);
const ID = `live-TELEBIRR-${DAY}`;
const AWAY: ReadStatement = async () => ({ kind: 'unknown', reason: 'http', message: 'status 401' });

let database: TestDatabase;
let fixture: Fixture;
let steps: ReturnType<typeof createReconciliationSteps>;
/** Of a platform's account, 100, and two merchants', 200 and 300. */
let statements: Map<string, ReadStatement>;

beforeEach(async () => {
  database = await createTestDatabase();
  statements = new Map(['100', '200', '300'].map((account) => [account, lists()]));
  const { provider } = buildFixture(database.db);
  const accountStatements = async (): Promise<AccountStatement[]> =>
    [...statements].map(([account, statement]) => ({ account, statement }));
  const findProvider: FindProvider = (channel) => (channel === 'TELEBIRR' ? { ...provider, accountStatements } : null);
  fixture = { ...buildFixture(database.db, { clock, findProvider }), provider };
  steps = createReconciliationSteps({
    ...fixture,
    checkPayout: createCheck(fixture, WITHDRAWAL),
    checkRefund: createCheck(fixture, REFUND),
  });
});
afterEach(async () => {
  await expectLedgerHolds(database.db);
  await database.drop();
});

const rowOf = (orderId: string): StatementRow => ({
  orderId,
  type: 'payment',
  amountSantim: PAID.amountSantim,
  currency: 'ETB',
  providerReference: `REF-${orderId}`,
  at: new Date(),
});

/** A statement of one row a page. */
function lists(...orderIds: string[]): ReadStatement {
  return async (_day, cursor) => {
    const nth = Number(cursor ?? 0);
    const next = nth + 1 < orderIds.length ? String(nth + 1) : null;
    return { kind: 'page', rows: orderIds.slice(nth, nth + 1).map(rowOf), next };
  };
}

/** A payment that was sent and confirmed by this account. */
async function paidBy(account: string): Promise<string> {
  const live = await buildLive(database.db, await buildMerchant(database.db));
  const { sessionId } = await buildSession(fixture, live, { amountSantim: PAID.amountSantim });
  const id = await buildAttempt(fixture, { ...live, sessionId });
  fixture.provider.returns({ ...PAID, providerReference: `REF-${id}` });
  await fixture.checkAttempt(id, { notifyWorkflow: false });
  await rows(database.db, 'UPDATE payment_attempt SET provider_account = :account WHERE id = :id', { id, account });
  return id;
}

/** Imports until the end, without the pauses, and compares. */
async function compare(of = DAY) {
  const id = `live-TELEBIRR-${of}`;
  await fixture.runInTransaction((tx) => requestRun(tx, fixture, { day: of, environment: 'live' }));
  const run = await steps.startImport(id, fixture.clock());
  let failures = 0;
  for (let page = await steps.importNextPage(run); page.kind !== 'end'; page = await steps.importNextPage(run)) {
    if (page.kind === 'endless' || failures > 50) throw new Error(page.kind);
    if (page.kind === 'unknown') failures += 1;
  }
  const result = await steps.compareDay(id, fixture.clock());
  const [day] = await listReconciledDays(database.db, { startDate: of, endDate: of });
  return { ...result, run, error: day?.error, failures };
}

const open = async () =>
  (
    await rows<{ kind: string; account: string; orderId: string }>(
      database.db,
      'SELECT kind, account, order_id FROM reconciliation_discrepancy WHERE closed_at IS NULL ORDER BY account, kind',
    )
  ).map(({ kind, account, orderId }) => [kind, account, orderId]);

const failedItems = () =>
  rows<{ what: string }>(
    database.db,
    `SELECT what FROM (${DISCREPANCY_REVIEW_ITEMS.sql}) i WHERE kind = 'RECONCILIATION_FAILED'`,
  );

test('each statement confirms the orders of its account, page by page', async () => {
  const [one, two, three] = [await paidBy('100'), await paidBy('100'), await paidBy('200')];
  statements.set('100', lists(one, two)).set('200', lists(three));
  expect(await compare()).toMatchObject({ status: 'CLEAN', error: null, failures: 0 });
  expect(await failedItems()).toEqual([]);
});

test("an order in another account's statement is unknown there, and still missing from its own", async () => {
  const order = await paidBy('100');
  statements.set('200', lists(order));
  expect(await compare()).toMatchObject({ status: 'DISCREPANCIES', discrepancies: 2 });
  expect(await open()).toEqual([
    ['MISSING_FROM_STATEMENT', '100', order],
    ['UNKNOWN_ORDER', '200', order],
  ]);
  const look = 'SELECT count(*)::int AS count FROM ledger_journal WHERE kind = :kind';
  expect(await first(database.db, look, { kind: 'PAYMENT' })).toEqual({ count: 1 });
  statements.set('100', lists(order)).set('300', lists(order));
  await compare();
  expect(await open()).toEqual([
    ['UNKNOWN_ORDER', '200', order],
    ['UNKNOWN_ORDER', '300', order],
  ]);
});

test("a merchant's statement that cannot be read is left out and named, and the other accounts are compared", async () => {
  const [listed, missing] = [await paidBy('100'), await paidBy('300')];
  await paidBy('200');
  statements.set('100', lists(listed)).set('200', AWAY);
  const message = 'account 200: page 1 of the statement is not available (http): status 401';
  expect(await compare()).toMatchObject({ status: 'DISCREPANCIES', error: message, failures: 8 });
  expect(await open()).toEqual([['MISSING_FROM_STATEMENT', '300', missing]]);
  expect(await failedItems()).toEqual([
    { what: `The day was compared without the statements of some accounts. Request it again. Error: ${message}` },
  ]);
});

test('a retry requests each statement that was left out once more, and no other', async () => {
  const [listed, late] = [await paidBy('100'), await paidBy('200')];
  const asked: string[] = [];
  const answer = (account: string, by: ReadStatement) =>
    statements.set(account, async (...page) => {
      asked.push(account);
      return by(...page);
    });
  for (const [account, by] of [
    ['100', lists(listed)],
    ['200', AWAY],
    ['300', AWAY],
  ] as const)
    answer(account, by);
  const { run } = await compare();
  asked.length = 0;
  const pageOf = (retries: number) => steps.importNextPage({ ...run, retries });
  expect(await pageOf(0)).toEqual({ kind: 'end', pages: 1, isPartial: true });
  expect(await pageOf(1)).toMatchObject({ kind: 'more', isFailed: true });
  expect(await pageOf(1)).toEqual({ kind: 'end', pages: 1, isPartial: true });
  expect(asked).toEqual(['200', '300']);
  for (const account of ['200', '300']) answer(account, lists(...(account === '200' ? [late] : [])));
  expect(await pageOf(2)).toEqual({ kind: 'more', pages: 2 });
  expect(await pageOf(2)).toEqual({ kind: 'end', pages: 3 });
  expect(await steps.compareDay(ID, fixture.clock())).toEqual({ status: 'CLEAN', discrepancies: 0 });
});

test('a statement that was read before keeps its rows and discrepancies while it cannot be read', async () => {
  const [listed, missing] = [await paidBy('200'), await paidBy('200')];
  statements.set('200', lists(listed));
  await compare();
  statements.set('200', AWAY);
  expect(await compare()).toMatchObject({ discrepancies: 1, error: expect.stringContaining('account 200') });
  expect(await open()).toEqual([['MISSING_FROM_STATEMENT', '200', missing]]);
  statements.delete('200');
  await compare();
  expect(await open()).toEqual([['MISSING_FROM_STATEMENT', '200', missing]]);
  statements.set('200', lists(listed, missing));
  expect(await compare()).toMatchObject({ status: 'CLEAN', error: null });
});

test('a statement that fails in its middle continues at its page after the others, and is complete', async () => {
  const orders = [await paidBy('100'), await paidBy('100'), await paidBy('200')];
  const [list, asked] = [lists(...orders.slice(0, 2)), [] as string[]];
  statements.set('200', lists(orders[2]!));
  statements.set('100', async (day, cursor) => {
    asked.push(cursor ?? 'first');
    return cursor !== null && asked.length < 4 ? AWAY(day, cursor) : list(day, cursor);
  });
  expect(await compare()).toMatchObject({ status: 'CLEAN', error: null, failures: 1 });
  expect(asked).toEqual(['first', '1', '1', '1']);
});

test('orders of an account that is not configured now are named, not missing', async () => {
  await paidBy('400');
  expect(await compare()).toMatchObject({
    status: 'CLEAN',
    error: expect.stringMatching(/^account 400: orders of the day were sent by it/),
  });
});

test("an order with an unknown outcome is confirmed unpaid by its own account's statements only", async () => {
  const live = await buildLive(database.db, await buildMerchant(database.db));
  const { sessionId } = await buildSession(fixture, live);
  const id = await buildAttempt(fixture, { ...live, sessionId });
  fixture.provider.returns(UNKNOWN);
  await fixture.checkAttempt(id, { notifyWorkflow: false });
  await rows(database.db, "UPDATE payment_attempt SET provider_account = '100' WHERE id = :id", { id });
  fixture.pass(DAY_MS + HOUR_MS);
  await fixture.expireAttempt(id, fixture.clock());
  const nights = async (account: string, answers: ReadStatement) => {
    for (const _night of [1, 2]) {
      statements.set(account, answers);
      fixture.pass(DAY_MS);
      for (const day of [DAY, addisDay(new Date(clock().getTime() + DAY_MS))]) await compare(day);
    }
    return (await stateOfSession(database.db, sessionId))['needsReconciliation'];
  };
  expect(await nights('100', AWAY)).toBe(true);
  expect(await nights('100', lists())).toBe(false);
});

test('an import of which no statement can be read stays unknown', async () => {
  for (const account of statements.keys()) statements.set(account, AWAY);
  await fixture.runInTransaction((tx) => requestRun(tx, fixture, { day: DAY, environment: 'live' }));
  const run = await steps.startImport(ID, fixture.clock());
  for (let passes = 0; passes < 20; passes += 1) {
    for (const _ of ['100', '200'])
      expect(await steps.importNextPage(run)).toMatchObject({ kind: 'more', isFailed: true });
    expect(await steps.importNextPage(run)).toEqual({ kind: 'unknown', reason: 'http' });
  }
  await expect(steps.compareDay(ID, fixture.clock())).rejects.toMatchObject({ code: 'INVALID_STATE' });
  statements.clear();
  const again = await steps.startImport(ID, fixture.clock());
  expect(await steps.importNextPage(again)).toEqual({ kind: 'unknown', reason: 'not-configured' });
  const abandoned = await steps.abandonRun(again, null);
  expect(abandoned.status).toBe('INCOMPLETE');
  const [day] = await listReconciledDays(database.db, { startDate: DAY, endDate: DAY });
  expect(day?.error).toBe('no account of TELEBIRR is configured');
});
