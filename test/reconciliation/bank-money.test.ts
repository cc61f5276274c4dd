import { rows } from '../../src/lib/db.ts';
import { recordProviderTransfer, recordUnmatchedMoney } from '../../src/reconciliation/bank-money.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createReconciliationWorld, expectClearingAgrees, type ReconciliationWorld } from './world.ts';

let world: ReconciliationWorld;
beforeEach(async () => {
  world = await createReconciliationWorld();
});
afterEach(async () => {
  await expectLedgerHolds(world.db);
  await world.close();
});

test('what the provider pays to the bank it owes no more, once for each reference', async () => {
  const { attemptId } = await world.pay('TELEBIRR', '0911000007', 1_000_00n);
  await world.live(2_000);
  await world.checkAttempt(attemptId, { tellWorkflow: false });
  const transfer = {
    channel: 'TELEBIRR',
    environment: 'sandbox',
    amountSantim: 300_25n,
    bankReference: 'FT26061X',
  } as const;
  const record = (more = {}) =>
    world.runChange((change) => recordProviderTransfer(change, { ...transfer, at: world.clock(), ...more }));
  await world.simulator.transferToBank('TELEBIRR', '300.25');
  expect(await record()).toBe('posted');
  expect(await record()).toBe('already');
  await expectClearingAgrees(world.db, world.simulator);
  await expect(record({ amountSantim: 1n })).rejects.toMatchObject({ code: 'DUPLICATE_REFERENCE' });
  await expect(record({ amountSantim: 0n })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  await expect(record({ bankReference: ' ' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  expect((await world.compare('TELEBIRR')).status).toBe('CLEAN');
  expect(await world.db('reconciliation').first()).toMatchObject({ clearingSantim: 699_75n });
});

test('money at the bank that nobody can place waits in suspense', async () => {
  const deposit = { environment: 'live', amountSantim: 50_00n, bankReference: 'FT-1', at: world.clock() } as const;
  const record = () => world.runChange((change) => recordUnmatchedMoney(change, deposit));
  expect([await record(), await record()]).toEqual(['posted', 'already']);
  const entries = await rows(
    world.db,
    `SELECT a.kind, e.amount_santim FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
     WHERE a.environment = 'live' ORDER BY a.kind`,
  );
  expect(entries).toEqual([
    { kind: 'BANK', amountSantim: -50_00n },
    { kind: 'SUSPENSE', amountSantim: 50_00n },
  ]);
});
