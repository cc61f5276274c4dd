import { recordReceipt } from '../../src/reconciliation/receipts/operations.ts';
import { readWithdrawal } from '../../src/withdrawals/queries.ts';
import { buildAttempt, stateOfSession } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import {
  createReconciliationWorld,
  expectClearingAgrees,
  MINUTE_MS,
  SANDBOX_CHANNELS,
  type ReconciliationWorld,
} from './world.ts';

let world: ReconciliationWorld;
beforeAll(async () => {
  world = await createReconciliationWorld();
});
afterAll(async () => {
  await expectLedgerHolds(world.db);
  await world.close();
});

const check = (attemptId: string) => world.checkAttempt(attemptId, { notifyWorkflow: false });

test('the debt of each provider in the ledger is the provider’s own total after payments, payouts and remittances', async () => {
  for (const channel of SANDBOX_CHANNELS) {
    const paid = await world.pay(channel, '0911000007', 5_000_00n);
    await world.live(2_000);
    await check(paid.attemptId);

    // Asked for twice: the first try is declined by mistake of the provider's query, and paid after all.
    const twice = await world.pay(channel);
    await world
      .db('paymentAttempt')
      .where({ id: twice.attemptId })
      .update({ status: 'DECLINED', endedAt: world.clock() });
    await world.db('checkoutSession').where({ id: twice.sessionId }).update({ status: 'OPEN' });
    const second = await buildAttempt(
      world,
      { ...world.scope, sessionId: twice.sessionId },
      { channel, phone: '0911000007' },
    );
    await check(second);
    await world.live(2_000);
    await check(second);

    const held = await world.pay(channel, '0911000008');
    const late = await world.pay(channel, '0911000006');
    const [out, reversed] = [await world.withdraw(channel), await world.withdraw(channel, '0911000006', 30_00n)];
    await world.withdraw(channel, '0911000002');
    await world.live(30 * MINUTE_MS + 2_000);
    await world.expireAttempt(late.attemptId, world.clock());
    await world.live(3 * MINUTE_MS);
    const transfer = { channel, environment: 'sandbox', amountSantim: 1_234_56n, at: world.clock() } as const;
    await world.simulator.transferToBank(channel, '1234.56');
    await world.runInTransaction((tx) => recordReceipt(tx, { ...transfer, bankReference: `FT-${channel}` }));

    expect(await world.compare(channel)).toEqual({ status: 'CLEAN', differences: 0 });
    expect(await stateOfSession(world.db, twice.sessionId)).toMatchObject({ attempts: ['DUPLICATE', 'SUCCEEDED'] });
    expect(await stateOfSession(world.db, held.sessionId)).toMatchObject({ attempts: ['HELD'] });
    expect(await stateOfSession(world.db, late.sessionId)).toMatchObject({
      transaction: 'SUCCESS',
      confirmedLate: true,
    });
    expect((await readWithdrawal(world.db, out)).status).toBe('SUCCESS');
    expect((await readWithdrawal(world.db, reversed)).status).toBe('REVERSED');
    const day = await world.db('reconciliation').where({ channel }).first();
    expect(day).toMatchObject({
      listed: { payments: { count: 5 }, payouts: { count: 2 }, reversals: { count: 1 } },
      booked: { payments: { count: 5 }, payouts: { count: 2 } },
    });
    expect(day.listed.payments).toEqual(day.booked.payments);
  }
  await expectClearingAgrees(world.db, world.simulator);
});
