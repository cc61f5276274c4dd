import { readWithdrawal } from '../../src/payouts/withdrawals/queries.ts';
import { recordReceipt } from '../../src/reconciliation/receipts/operations.ts';
import { buildAttempt, stateOfSession } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import {
  createReconciliationFixture,
  expectClearingAgrees,
  MINUTE_MS,
  SANDBOX_CHANNELS,
  type ReconciliationFixture,
} from './fixture.ts';

let fixture: ReconciliationFixture;
beforeAll(async () => {
  fixture = await createReconciliationFixture();
});
afterAll(async () => {
  await expectLedgerHolds(fixture.db);
  await fixture.close();
});

const check = (attemptId: string) => fixture.checkAttempt(attemptId, { notifyWorkflow: false });

test('the debt of each provider in the ledger is the provider’s own total after payments, payouts and remittances', async () => {
  for (const channel of SANDBOX_CHANNELS) {
    const paid = await fixture.pay(channel, '0911000007', 5_000_00n);
    await fixture.live(2_000);
    await check(paid.attemptId);

    // Asked for twice: the first try is declined by mistake of the provider's query, and paid after all.
    const twice = await fixture.pay(channel);
    await fixture.db
      .knex()('paymentAttempt')
      .where({ id: twice.attemptId })
      .update({ status: 'DECLINED', endedAt: fixture.clock() });
    await fixture.db.knex()('checkoutSession').where({ id: twice.sessionId }).update({ status: 'OPEN' });
    const second = await buildAttempt(
      fixture,
      { ...fixture.scope, sessionId: twice.sessionId },
      { channel, phone: '0911000007' },
    );
    await check(second);
    await fixture.live(2_000);
    await check(second);

    const held = await fixture.pay(channel, '0911000008');
    const late = await fixture.pay(channel, '0911000006');
    const [out, reversed] = [await fixture.withdraw(channel), await fixture.withdraw(channel, '0911000006', 30_00n)];
    await fixture.withdraw(channel, '0911000002');
    await fixture.live(30 * MINUTE_MS + 2_000);
    await fixture.expireAttempt(late.attemptId, fixture.clock());
    await fixture.live(3 * MINUTE_MS);
    const transfer = { channel, environment: 'sandbox', amountSantim: 1_234_56n, at: fixture.clock() } as const;
    await fixture.runInTransaction((tx) => recordReceipt(tx, { ...transfer, bankReference: `FT-${channel}` }));

    expect(await fixture.compare(channel)).toEqual({ status: 'CLEAN', discrepancies: 0 });
    expect(await stateOfSession(fixture.db, twice.sessionId)).toMatchObject({ attempts: ['DUPLICATE', 'SUCCEEDED'] });
    expect(await stateOfSession(fixture.db, held.sessionId)).toMatchObject({ attempts: ['HELD'] });
    expect(await stateOfSession(fixture.db, late.sessionId)).toMatchObject({
      transaction: 'SUCCESS',
      confirmedLate: true,
    });
    expect((await readWithdrawal(fixture.db, out)).status).toBe('SUCCESS');
    expect((await readWithdrawal(fixture.db, reversed)).status).toBe('REVERSED');
    const day = await fixture.db.knex()('reconciliation').where({ channel }).first();
    expect(day).toMatchObject({
      listed: { payments: { count: 5 }, payouts: { count: 2 }, reversals: { count: 1 } },
      booked: { payments: { count: 5 }, payouts: { count: 2 } },
    });
    expect(day.listed.payments).toEqual(day.booked.payments);
  }
  await expectClearingAgrees(fixture, { TELEBIRR: 1_234_56n, CBE_BIRR: 1_234_56n, AWASH: 1_234_56n });
});
