import { ledgerChecks } from '../../src/app/ledger-invariants.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { addisDay, startOfAddisDay } from '../../src/lib/dates.ts';
import { decideReceipt, type ReceiptDecision, recordReceipt } from '../../src/reconciliation/receipts/operations.ts';
import { markCredited, markReturned, markSent } from '../../src/settlements/bank-results.ts';
import { approveSettlement } from '../../src/settlements/decide.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { requestSettlement, linkAccount } from '../support/settlements.ts';
import { createReconciliationFixture, type ReconciliationFixture } from './fixture.ts';

let fixture: ReconciliationFixture;
let settlementId: string;
const by = () => ({ operatorId: 'opr_1', at: fixture.clock() });

/** A settlement that the bank has credited. */
beforeEach(async () => {
  fixture = await createReconciliationFixture();
  const { runInTransaction, scope } = fixture;
  const { attemptId } = await fixture.pay('TELEBIRR', '0911000007', 1_000_00n);
  await fixture.live(2_000);
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  await linkAccount(fixture, scope);
  settlementId = (await requestSettlement(fixture, scope)).id;
  await runInTransaction((tx) => approveSettlement(tx, settlementId, by()));
  await runInTransaction((tx) => markSent(tx, settlementId, by()));
  const creditedAt = startOfAddisDay(addisDay(fixture.clock()));
  await runInTransaction((tx) => markCredited(tx, settlementId, { ...by(), bankReference: 'FT-OUT', creditedAt }));
});
afterEach(async () => {
  await expectLedgerHolds(fixture.db);
  await fixture.close();
});

const returnSettlement = (bankReference = 'FT-BACK') =>
  fixture.runInTransaction((tx) => markReturned(tx, settlementId, { ...by(), reason: 'Dormant.', bankReference }));
const receive = (bankReference = 'FT-BACK') => {
  const money = { environment: 'sandbox', amountSantim: 150_00n, bankReference, at: fixture.clock() } as const;
  return fixture.runInTransaction((tx) => recordReceipt(tx, money));
};
const decide = (id: string, decision: ReceiptDecision) =>
  fixture.runInTransaction((tx) => decideReceipt(tx, id, { decision, at: fixture.clock() }));
const returnReceipt = (id: string, returnReference: string) => decide(id, { as: 'RETURNED', returnReference });
/** Another settlement that was sent to the bank. */
async function send(): Promise<string> {
  const { id } = await requestSettlement(fixture, fixture.scope);
  await fixture.runInTransaction((tx) => approveSettlement(tx, id, by()));
  await fixture.runInTransaction((tx) => markSent(tx, id, by()));
  return id;
}
const credit = (id: string, bankReference: string) =>
  fixture.runInTransaction((tx) => markCredited(tx, id, { ...by(), bankReference, creditedAt: fixture.clock() }));

const broken = async () => (await verifyLedger(fixture.db, ledgerChecks)).map(({ check }) => check);
const CHECK = 'each reference of the bank or a provider belongs to the one booking that has it';

test('booking a receipt under the trace id of a returned settlement answers DUPLICATE_REFERENCE', async () => {
  await returnSettlement();
  await expect(receive()).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringContaining(
      `bankReference "FT-BACK" was booked as the return of a settlement, 150.00 ETB, on`,
    ),
    existing: { settlementId },
  });
});

test('returning a settlement under the trace id of a receipt answers DUPLICATE_REFERENCE until that is corrected', async () => {
  const { money } = await receive();
  await expect(returnSettlement()).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringMatching(/"FT-BACK" was booked as an unallocated receipt, 150\.00 ETB, .* correct it first/),
    existing: { receiptId: money.id },
  });
  await decide(money.id, { as: 'CORRECTED' });
  expect((await returnSettlement()).settlement.status).toBe('FAILED');
});

test('ledger verify finds a return of a settlement whose trace id belongs to a receipt', async () => {
  await receive('FT-2');
  await returnSettlement();
  await fixture.db.knex()('bank_receipt').update({ reference: 'FT-BACK' });
  expect(await broken()).toEqual([CHECK]);
  await fixture.db.knex()('bank_receipt').update({ reference: 'FT-2' });
});

test('returning a receipt under the trace id of a settlement’s credit answers DUPLICATE_REFERENCE', async () => {
  const { money } = await receive();
  await expect(returnReceipt(money.id, 'FT-OUT')).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    existing: { settlementId },
  });
});

test('crediting a settlement under the trace id of a returned receipt answers DUPLICATE_REFERENCE', async () => {
  const { money } = await receive();
  await returnReceipt(money.id, 'FT-1');
  const id = await send();
  await expect(credit(id, 'FT-1')).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringContaining('"FT-1" was booked as the return of an unallocated receipt, 150.00 ETB, on'),
    existing: { receiptId: money.id },
  });
});

test('ledger verify finds a returned receipt whose trace id belongs to the credit of a settlement', async () => {
  const { money } = await receive();
  await returnReceipt(money.id, 'FT-1');
  await fixture.db.knex()('bank_receipt').update({ returnReference: 'FT-OUT' });
  expect(await broken()).toEqual([CHECK]);
  await fixture.db.knex()('bank_receipt').update({ returnReference: 'FT-1' });
});

test('of a credit and a return that book one trace id concurrently, one succeeds', async () => {
  for (let round = 1; round <= 5; round += 1) {
    const { money } = await receive(`FT-IN-${round}`);
    const id = await send();
    const outcomes = await Promise.allSettled([returnReceipt(money.id, `FT-R${round}`), credit(id, `FT-R${round}`)]);
    const errors = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(errors).toMatchObject([{ code: 'DUPLICATE_REFERENCE' }]);
  }
});
