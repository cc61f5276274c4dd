import { ledgerChecks } from '../../src/app/ledger-invariants.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { addisDay, startOfAddisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { decideReceipt, type ReceiptDecision } from '../../src/reconciliation/receipts/decide.ts';
import { recordArrival } from '../../src/reconciliation/receipts/record.ts';
import { RECEIPT_REVIEW_ITEMS } from '../../src/reconciliation/review-items.ts';
import { markCredited, markReturned, markSent } from '../../src/settlements/bank-results.ts';
import { approveSettlement } from '../../src/settlements/decide.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { ask, linkAccount } from '../support/settlements.ts';
import { createReconciliationWorld, type ReconciliationWorld } from './world.ts';

let world: ReconciliationWorld;
let settlementId: string;
const by = () => ({ operatorId: 'opr_1', at: world.clock() });

/** A settlement that the bank has credited. */
beforeEach(async () => {
  world = await createReconciliationWorld();
  const { runInTransaction, scope } = world;
  const { attemptId } = await world.pay('TELEBIRR', '0911000007', 1_000_00n);
  await world.live(2_000);
  await world.checkAttempt(attemptId, { notifyWorkflow: false });
  await linkAccount(world, scope);
  settlementId = (await ask(world, scope)).id;
  await runInTransaction((tx) => approveSettlement(tx, settlementId, by()));
  await runInTransaction((tx) => markSent(tx, settlementId, by()));
  const creditedAt = startOfAddisDay(addisDay(world.clock()));
  await runInTransaction((tx) => markCredited(tx, settlementId, { ...by(), bankReference: 'FT-OUT', creditedAt }));
});
afterEach(async () => {
  await expectLedgerHolds(world.db);
  await world.close();
});

const comesBack = (bankReference = 'FT-BACK') =>
  world.runInTransaction((tx) => markReturned(tx, settlementId, { ...by(), reason: 'Dormant.', bankReference }));
const arrive = (bankReference = 'FT-BACK') => {
  const money = { environment: 'sandbox', amountSantim: 150_00n, bankReference, at: world.clock() } as const;
  return world.runInTransaction((tx) => recordArrival(tx, money));
};
const settle = (id: string, decision: ReceiptDecision) =>
  world.runInTransaction((tx) => decideReceipt(tx, id, { decision, at: world.clock() }));
const goesBack = (id: string, returnReference: string) => settle(id, { as: 'RETURNED', returnReference });
/** Another settlement that was given to the bank. */
async function send(): Promise<string> {
  const { id } = await ask(world, world.scope);
  await world.runInTransaction((tx) => approveSettlement(tx, id, by()));
  await world.runInTransaction((tx) => markSent(tx, id, by()));
  return id;
}
const credit = (id: string, bankReference: string) =>
  world.runInTransaction((tx) => markCredited(tx, id, { ...by(), bankReference, creditedAt: world.clock() }));
const broken = () => verifyLedger(world.db, ledgerChecks);
const waiting = () => rows<object>(world.db, `SELECT kind, id FROM (${RECEIPT_REVIEW_ITEMS.sql}) each`);
const CHECK = 'what happened outside under one reference is booked once';

test('the way back of a settlement is not booked as money that came, too', async () => {
  await comesBack();
  await expect(arrive()).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringContaining(
      `bankReference "FT-BACK" was booked as the return of a settlement, 150.00 ETB, on`,
    ),
    existing: { settlementId },
  });
});

test('nor the other way round: what was entered as unmatched money is corrected first', async () => {
  const { money } = await arrive();
  await expect(comesBack()).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringMatching(/"FT-BACK" was booked as unmatched money, 150\.00 ETB, .* correct it first/),
    existing: { bankMoneyId: money.id },
  });
  await settle(money.id, { as: 'CORRECTED' });
  expect((await comesBack()).settlement.status).toBe('FAILED');
});

test('what was booked as both before is found, and is no money that waits to be placed', async () => {
  const { money } = await arrive('FT-2');
  expect(await waiting()).toEqual([{ kind: 'RECEIPT_UNALLOCATED', id: money.id }]);
  await comesBack();
  await world.db('bank_receipt').update({ reference: 'FT-BACK' });
  expect(await broken()).toMatchObject([{ check: CHECK, about: expect.stringContaining(settlementId) }]);
  expect(await waiting()).toEqual([{ kind: 'TRACE_ID_TWICE', id: money.id }]);
  await settle(money.id, { as: 'CORRECTED' });
  expect(await waiting()).toEqual([]);
});

test('what a settlement was sent by is not the way back of unmatched money', async () => {
  const { money } = await arrive();
  await expect(goesBack(money.id, 'FT-OUT')).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    existing: { settlementId },
  });
});

test('nor is a settlement credited by the way back of unmatched money', async () => {
  const { money } = await arrive();
  await goesBack(money.id, 'FT-1');
  const id = await send();
  await expect(credit(id, 'FT-1')).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringContaining('"FT-1" was booked as the way back of unmatched money, 150.00 ETB, on'),
    existing: { bankMoneyId: money.id },
  });
});

test('what left the bank as both before is found, and waits to be corrected', async () => {
  const { money } = await arrive();
  await goesBack(money.id, 'FT-1');
  await world.db('bank_receipt').update({ returnReference: 'FT-OUT' });
  expect(await broken()).toMatchObject([{ check: CHECK, about: expect.stringContaining(settlementId) }]);
  expect(await waiting()).toEqual([{ kind: 'TRACE_ID_TWICE', id: money.id }]);
  await settle(money.id, { as: 'CORRECTED' });
  expect(await waiting()).toEqual([]);
});

test('of a credit and a way back that claim one trace id in the same moment, one is booked', async () => {
  for (let round = 1; round <= 5; round += 1) {
    const { money } = await arrive(`FT-IN-${round}`);
    const id = await send();
    const outcomes = await Promise.allSettled([goesBack(money.id, `FT-R${round}`), credit(id, `FT-R${round}`)]);
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toMatchObject([{ code: 'DUPLICATE_REFERENCE' }]);
  }
});
