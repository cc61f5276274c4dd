import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { FindProvider, StatementRow } from '../../src/providers/provider.ts';
import { requestRun } from '../../src/reconciliation/request.ts';
import { reconciliationId } from '../../src/reconciliation/workflow.ts';
import { createCheckPayout, type CheckPayout } from '../../src/withdrawals/sync.ts';
import { ACCEPTED, buildAttempt, buildSession, buildWorld, PAID, type World } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, buildLive, PAID_OUT, REFUSED } from '../support/withdrawals.ts';
import { createReconciliationSteps, TODAY } from './world.ts';

type Environment = MerchantScope['environment'];

let database: TestDatabase;
let world: World;
let checkPayout: CheckPayout;
let merchantId: string;
/** What TELEBIRR lists, in each environment. */
let listed: Record<Environment, StatementRow[]>;

beforeEach(async () => {
  database = await createTestDatabase();
  listed = { sandbox: [], live: [] };
  const { provider } = buildWorld(database.db);
  const findProvider: FindProvider = (channel, environment) =>
    channel === 'TELEBIRR'
      ? { ...provider, statement: async () => ({ kind: 'page', rows: listed[environment], next: null }) }
      : null;
  world = { ...buildWorld(database.db, { findProvider }), provider };
  checkPayout = createCheckPayout(world);
  ({ merchantId } = await buildFreeMerchant(world));
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
  at: world.clock(),
});

/** A payment of 1,000 birr that its provider has taken, or paid. */
async function pay(environment: Environment, answer: typeof ACCEPTED): Promise<string> {
  const scope = { merchantId, environment };
  const { sessionId } = await buildSession(world, scope, { amountSantim: 1_000_00n });
  const attemptId = await buildAttempt(world, { ...scope, sessionId });
  world.provider.returns(answer);
  await world.checkAttempt(attemptId, once);
  return attemptId;
}

/** A withdrawal of 100 birr that was paid. */
async function paidOut(environment: Environment): Promise<string> {
  const { id } = await withdraw(world, { merchantId, environment }, 100_00n);
  await rows(world.db, "UPDATE withdrawal SET stage = 'CREATED' WHERE id = :id", { id });
  world.provider.returnsForPayouts(PAID_OUT);
  await checkPayout(id, once);
  return id;
}

/** Reads, settles and compares the day, as its workflow does; answers what differs. */
async function compare(environment: Environment, addisDay = TODAY) {
  const day = { environment, channel: 'TELEBIRR', day: addisDay } as const;
  const steps = createReconciliationSteps({ ...world, checkPayout });
  await world.runInTransaction((tx) => requestRun(tx, world, day));
  const reading = await steps.startImport(reconciliationId(day), world.clock());
  while ((await steps.importNextPage(reading)).kind !== 'end');
  for (let after: string | null = ''; after !== null;) {
    after = (await steps.recheckOrders(reconciliationId(day), after, world.clock())).after;
  }
  await steps.compareDay(reconciliationId(day), world.clock());
  return rows(
    world.db,
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
  const queriedBefore = world.provider.queries.length;
  expect(await compare('sandbox')).toEqual([{ kind: 'UNKNOWN_ORDER', type: 'payment', orderId: waiting }]);
  expect(world.provider.queries).toHaveLength(queriedBefore);
});

test('a payment booked at midnight in Addis Ababa is missing from the statement of the day that begins', async () => {
  world.pass(Date.parse('2026-03-03T00:00:00.000+03:00') - world.clock().getTime());
  const orderId = await pay('sandbox', { ...PAID, amountSantim: 1_000_00n });
  world.pass(60 * 60_000);
  expect(await compare('sandbox')).toEqual([]);
  expect(await compare('sandbox', '2026-03-03')).toEqual([
    { kind: 'MISSING_FROM_STATEMENT', type: 'payment', orderId },
  ]);
});

test('a reversal in the statement of the other environment does not cancel out the payout of a FAILED withdrawal', async () => {
  const payment = await pay('sandbox', { ...PAID, amountSantim: 1_000_00n });
  const { id } = await withdraw(world, { merchantId, environment: 'sandbox' }, 100_00n);
  await rows(world.db, "UPDATE withdrawal SET stage = 'CREATED' WHERE id = :id", { id });
  world.provider.returnsForPayouts(REFUSED);
  await checkPayout(id, once);
  listed = {
    sandbox: [row('payment', payment, 1_000_00n), row('payout', id, 100_00n)],
    live: [row('payoutReversal', id, 100_00n)],
  };
  expect(await compare('live')).toEqual([{ kind: 'UNKNOWN_ORDER', type: 'payoutReversal', orderId: id }]);
  expect(await compare('sandbox')).toEqual([{ kind: 'UNCONFIRMED', type: 'payout', orderId: id }]);
});
