import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createCheck, type Check } from '../../src/payouts/check.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import type { WithdrawalRow } from '../../src/payouts/withdrawals/queries.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import type { FindProvider, StatementRow } from '../../src/providers/provider.ts';
import { requestRun } from '../../src/reconciliation/request.ts';
import { reconciliationId } from '../../src/reconciliation/workflow.ts';
import { ACCEPTED, buildAttempt, buildSession, buildFixture, PAID, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, buildLive, PAID_OUT, REFUSED } from '../support/withdrawals.ts';
import { createReconciliationSteps, TODAY } from './fixture.ts';

type Environment = MerchantScope['environment'];

let database: TestDatabase;
let fixture: Fixture;
let checkPayout: Check<WithdrawalRow>;
let merchantId: string;
/** What TELEBIRR lists, in each environment. */
let listed: Record<Environment, StatementRow[]>;

beforeEach(async () => {
  database = await createTestDatabase();
  listed = { sandbox: [], live: [] };
  const { provider } = buildFixture(database.db);
  const findProvider: FindProvider = (channel, environment) =>
    channel === 'TELEBIRR'
      ? { ...provider, statement: async () => ({ kind: 'page', rows: listed[environment], next: null }) }
      : null;
  fixture = { ...buildFixture(database.db, { findProvider }), provider };
  checkPayout = createCheck(fixture, WITHDRAWAL);
  ({ merchantId } = await buildFreeMerchant(fixture));
  await buildLive(database.db, { merchantId });
});
afterEach(async () => {
  await expectLedgerHolds(database.db);
  await database.drop();
});

const once = { minIntervalMs: 0, notifyWorkflow: false };
const row = (type: StatementRow['type'], orderId: string, amountSantim: bigint): StatementRow => ({
  type,
  orderId,
  amountSantim,
  currency: 'ETB',
  providerReference: `REF-${orderId}`,
  at: fixture.clock(),
});

/** A payment of 1,000 birr that its provider has taken, or paid. */
async function pay(environment: Environment, answer: typeof ACCEPTED): Promise<string> {
  const scope = { merchantId, environment };
  const { sessionId } = await buildSession(fixture, scope, { amountSantim: 1_000_00n });
  const attemptId = await buildAttempt(fixture, { ...scope, sessionId });
  fixture.provider.returns(answer);
  await fixture.checkAttempt(attemptId, once);
  return attemptId;
}

/** A withdrawal of 100 birr that was paid. */
async function paidOut(environment: Environment): Promise<string> {
  const { id } = await withdraw(fixture, { merchantId, environment }, 100_00n);
  await rows(fixture.db, "UPDATE payout SET stage = 'CREATED' WHERE id = :id", { id });
  fixture.provider.returnsForPayouts(PAID_OUT);
  await checkPayout(id, once);
  return id;
}

/** Reads, settles and compares the day, as its workflow does; answers what differs. */
async function compare(environment: Environment, addisDay = TODAY) {
  const day = { environment, channel: 'TELEBIRR', day: addisDay } as const;
  const steps = createReconciliationSteps({ ...fixture, checkPayout, checkRefund: createCheck(fixture, REFUND) });
  await fixture.runInTransaction((tx) => requestRun(tx, fixture, day));
  const reading = await steps.startImport(reconciliationId(day), fixture.clock());
  while ((await steps.importNextPage(reading)).kind !== 'end');
  for (let after: string | null = ''; after !== null;) {
    after = (await steps.recheckOrders(reconciliationId(day), after, fixture.clock())).after;
  }
  await steps.compareDay(reconciliationId(day), fixture.clock());
  return rows(
    fixture.db,
    `SELECT kind, type, order_id FROM reconciliation_discrepancy
     WHERE environment = :environment AND day = :addisDay AND closed_at IS NULL ORDER BY kind, type`,
    { environment, addisDay },
  );
}

test.each([
  ['sandbox', 'live'],
  ['live', 'sandbox'],
] as const)(
  'an order in the %s statement is unknown if it is of %s, and only its own environment’s statement lists it',
  async (one, other) => {
    const mine = { payment: await pay(one, { ...PAID, amountSantim: 1_000_00n }), payout: await paidOut(one) };
    const others = { payment: await pay(other, { ...PAID, amountSantim: 1_000_00n }), payout: await paidOut(other) };
    const both = (of: typeof mine) => [row('payment', of.payment, 1_000_00n), row('payout', of.payout, 100_00n)];
    listed = { ...listed, [one]: both(mine), [other]: both(others) };
    expect([await compare(one), await compare(other)]).toEqual([[], []]);

    listed = { ...listed, [one]: [...both(mine), ...both(others)], [other]: [] };
    expect(await compare(one)).toEqual([
      { kind: 'UNKNOWN_ORDER', type: 'payment', orderId: others.payment },
      { kind: 'UNKNOWN_ORDER', type: 'payout', orderId: others.payout },
    ]);
    expect(await compare(other)).toEqual([
      { kind: 'MISSING_FROM_STATEMENT', type: 'payment', orderId: others.payment },
      { kind: 'MISSING_FROM_STATEMENT', type: 'payout', orderId: others.payout },
    ]);
  },
);

test('a pending live payment that the sandbox statement lists is not queried', async () => {
  const waiting = await pay('live', ACCEPTED);
  listed.sandbox = [row('payment', waiting, 1_000_00n)];
  const queriedBefore = fixture.provider.queries.length;
  expect(await compare('sandbox')).toEqual([{ kind: 'UNKNOWN_ORDER', type: 'payment', orderId: waiting }]);
  expect(fixture.provider.queries).toHaveLength(queriedBefore);
});

test('a payment booked at midnight in Addis Ababa is missing from the statement of the day that begins', async () => {
  fixture.pass(Date.parse('2026-03-03T00:00:00.000+03:00') - fixture.clock().getTime());
  const orderId = await pay('sandbox', { ...PAID, amountSantim: 1_000_00n });
  fixture.pass(60 * 60_000);
  expect(await compare('sandbox')).toEqual([]);
  expect(await compare('sandbox', '2026-03-03')).toEqual([
    { kind: 'MISSING_FROM_STATEMENT', type: 'payment', orderId },
  ]);
});

test('a reversal in the statement of the other environment does not cancel out the payout of a FAILED withdrawal', async () => {
  const payment = await pay('sandbox', { ...PAID, amountSantim: 1_000_00n });
  const { id } = await withdraw(fixture, { merchantId, environment: 'sandbox' }, 100_00n);
  await rows(fixture.db, "UPDATE payout SET stage = 'CREATED' WHERE id = :id", { id });
  fixture.provider.returnsForPayouts(REFUSED);
  await checkPayout(id, once);
  listed = {
    sandbox: [row('payment', payment, 1_000_00n), row('payout', id, 100_00n)],
    live: [row('payoutReversal', id, 100_00n)],
  };
  expect(await compare('live')).toEqual([{ kind: 'UNKNOWN_ORDER', type: 'payoutReversal', orderId: id }]);
  expect(await compare('sandbox')).toEqual([{ kind: 'UNCONFIRMED', type: 'payout', orderId: id }]);
});
