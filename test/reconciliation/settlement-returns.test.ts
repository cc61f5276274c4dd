import { ledgerChecks } from '../../src/ledger-checks.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { addisDay, startOfAddisDay } from '../../src/lib/dates.ts';
import { recordArrival } from '../../src/reconciliation/bank-money.ts';
import { settleBankMoney } from '../../src/reconciliation/settle-bank-money.ts';
import { markCredited, markReturned, markSent } from '../../src/settlements/bank-answer.ts';
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
  const { runChange, owner } = world;
  const { attemptId } = await world.pay('TELEBIRR', '0911000007', 1_000_00n);
  await world.live(2_000);
  await world.checkAttempt(attemptId, { tellWorkflow: false });
  await linkAccount(world, owner);
  settlementId = (await ask(world, owner)).id;
  await runChange((change) => approveSettlement(change, settlementId, by()));
  await runChange((change) => markSent(change, settlementId, by()));
  const creditedAt = startOfAddisDay(addisDay(world.clock()));
  await runChange((change) => markCredited(change, settlementId, { ...by(), bankReference: 'FT-OUT', creditedAt }));
});
afterEach(async () => {
  await expectLedgerHolds(world.db);
  await world.close();
});

const comesBack = () =>
  world.runChange((change) =>
    markReturned(change, settlementId, { ...by(), reason: 'Dormant.', bankReference: 'FT-BACK' }),
  );
const arrive = () => {
  const money = { environment: 'sandbox', amountSantim: 150_00n, bankReference: 'FT-BACK', at: world.clock() } as const;
  return world.runChange((change) => recordArrival(change, money));
};

test('the way back of a settlement is not booked as money that came, too', async () => {
  await comesBack();
  await expect(arrive()).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: `bankReference "FT-BACK" was booked as the return of ${settlementId}.`,
  });
});

test('where it was entered as unmatched money before, that is found, and corrected', async () => {
  const { money } = await arrive();
  await comesBack();
  expect(await verifyLedger(world.db, ledgerChecks)).toMatchObject([
    { check: 'what came to the bank under one trace id is booked once', about: expect.stringContaining(settlementId) },
  ]);
  await world.runChange((change) =>
    settleBankMoney(change, money.id, { word: { as: 'CORRECTED' }, at: world.clock() }),
  );
});

test('what a settlement was sent by is not the way back of unmatched money', async () => {
  const { money } = await arrive();
  const word = { as: 'RETURNED', returnReference: 'FT-OUT' } as const;
  const settle = () => world.runChange((change) => settleBankMoney(change, money.id, { word, at: world.clock() }));
  await expect(settle()).rejects.toMatchObject({ code: 'DUPLICATE_REFERENCE', existing: { settlementId } });
});
