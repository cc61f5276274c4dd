import { createRefund } from '../../src/payouts/refunds/create.ts';
import { readRefund } from '../../src/payouts/refunds/queries.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import { resolvePayout } from '../../src/payouts/resolve.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createReconciliationFixture, expectClearingAgrees, SANDBOX_CHANNELS } from './fixture.ts';
import type { ReconciliationFixture } from './fixture.ts';

let fixture: ReconciliationFixture;
let references = 0;
beforeEach(async () => {
  fixture = await createReconciliationFixture();
});
afterEach(async () => {
  await expectLedgerHolds(fixture.db);
  await fixture.close();
});

type SandboxChannel = (typeof SANDBOX_CHANNELS)[number];
const CHECK = { minIntervalMs: 0, notifyWorkflow: true };

/** A paid payment from this phone. */
async function pay(channel: SandboxChannel, phone = '0911000007', santim = 100_50n) {
  const paid = await fixture.pay(channel, phone, santim);
  await fixture.live(2_000);
  await fixture.checkAttempt(paid.attemptId, { notifyWorkflow: false });
  return paid;
}

/** A refund of it that was sent. */
async function refund(transactionId: string, amountSantim = 40_00n): Promise<string> {
  references += 1;
  const wanted = {
    transactionId,
    reference: `R-${references}`,
    amountSantim,
    returnFee: false,
    requestedBy: 'key_test',
  };
  const { row } = await fixture.runInTransaction((tx) => createRefund({ ...fixture, tx }, fixture.scope, wanted));
  await fixture.checkRefund(row.id, CHECK);
  await fixture.live(2_000);
  return row.id;
}

test('days with refunds are clean, and the debt of each provider in the ledger is the provider’s own total', async () => {
  for (const channel of SANDBOX_CHANNELS) {
    await pay(channel, '0911000007', 500_00n);
    const { transactionId } = await pay(channel);
    const paid = await refund(transactionId);
    await fixture.checkRefund(paid, CHECK);
    await fixture.checkRefund(await refund(transactionId, 20_00n), CHECK);
    const failed = await refund((await pay(channel, '0911000009')).transactionId);
    await fixture.checkRefund(failed, CHECK);
    expect(await readRefund(fixture.db, failed)).toMatchObject({ status: 'FAILED' });
    expect(await fixture.compare(channel)).toEqual({ status: 'CLEAN', discrepancies: 0 });
    const day = await fixture.db.knex()('reconciliation').where({ channel }).first();
    expect(day).toMatchObject({ listed: { refunds: { count: 2, santim: '6000' } } });
    expect(day.booked).toEqual(day.listed);
  }
  await expectClearingAgrees(fixture);
});

test('a listed refund whose outcome is not known yet is queried, and booked by what its provider answers', async () => {
  const { transactionId } = await pay('CBE_BIRR');
  const id = await refund(transactionId);
  expect(await readRefund(fixture.db, id)).toMatchObject({ status: 'PENDING' });
  expect(await fixture.compare('CBE_BIRR')).toEqual({ status: 'CLEAN', discrepancies: 0 });
  expect(await readRefund(fixture.db, id)).toMatchObject({ status: 'SUCCESS' });
});

test('a listed refund of another amount than booked, and one that is not known here, are discrepancies', async () => {
  const { transactionId } = await pay('CBE_BIRR');
  const other = await refund(transactionId, 10_00n);
  await fixture.checkRefund(other, CHECK);
  fixture.alterLists((page) =>
    page.kind === 'unknown'
      ? page
      : {
          ...page,
          rows: page.rows.flatMap((row) =>
            row.orderId === other
              ? [
                  { ...row, amountSantim: 11_00n },
                  { ...row, orderId: 'rfd_01JD0000000000000000000000' },
                ]
              : [row],
          ),
        },
  );
  expect(await fixture.compare('CBE_BIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 2 });
  expect(await fixture.open()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'AMOUNT_MISMATCH', type: 'refund', orderId: other, listedSantim: 11_00n }),
      expect.objectContaining({ kind: 'UNKNOWN_ORDER', type: 'refund', orderStatus: null }),
    ]),
  );
});

test('a refund of another amount matches the statement once an operator has resolved it with the paid amount', async () => {
  const { transactionId } = await pay('AWASH');
  await fixture.simulator.fault({ kind: 'paidWrongAmount', of: 'refund', next: 1 });
  const id = await refund(transactionId);
  await fixture.checkRefund(id, CHECK);
  expect(await fixture.compare('AWASH')).toEqual({ status: 'DISCREPANCIES', discrepancies: 1 });
  const [{ listedSantim } = {}] = await fixture.open();
  expect(listedSantim).toBe(41_00n);
  const found = { outcome: 'COMPLETED', providerReference: 'X', reason: 'Their receipt.', paidSantim: 41_00n } as const;
  const decision = { ...found, operatorId: 'opr_1', at: fixture.clock() };
  await fixture.runInTransaction((tx) => resolvePayout(tx, REFUND, { id: id, ...decision }));
  expect(await fixture.compare('AWASH')).toEqual({ status: 'CLEAN', discrepancies: 0 });
  const day = await fixture.db.knex()('reconciliation').where({ channel: 'AWASH' }).first();
  expect(day.booked).toMatchObject({ refunds: { count: 1, santim: '4100' } });
  await expectClearingAgrees(fixture);
});

test('a booked refund that the statement does not list is missing from it', async () => {
  const { transactionId } = await pay('AWASH');
  await fixture.simulator.fault({ kind: 'listDropped', of: 'refund', next: 1 });
  const id = await refund(transactionId);
  await fixture.checkRefund(id, CHECK);
  fixture.pass(20 * 60_000);
  expect(await fixture.compare('AWASH')).toEqual({ status: 'DISCREPANCIES', discrepancies: 1 });
  expect(await fixture.open()).toMatchObject([
    { kind: 'MISSING_FROM_STATEMENT', type: 'refund', orderId: id, bookedSantim: 40_00n, listedSantim: null },
  ]);
});
