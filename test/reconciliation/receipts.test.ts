import { ledgerChecks } from '../../src/app/ledger-invariants.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { openDatabase, rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import {
  recordExcessTakenBack,
  decideReceipt,
  type ReceiptDecision,
} from '../../src/reconciliation/receipts/decide.ts';
import { recordArrival } from '../../src/reconciliation/receipts/record.ts';
import { RECEIPT_REVIEW_ITEMS } from '../../src/reconciliation/review-items.ts';
import { readWithdrawal } from '../../src/withdrawals/queries.ts';
import { resolveWithdrawal } from '../../src/withdrawals/resolve.ts';
import { transitionWithdrawal } from '../../src/withdrawals/transition.ts';
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

type Arrival = Partial<Parameters<typeof recordArrival>[1]>;
const arrive = (more: Arrival = {}) =>
  world.runInTransaction((tx) => {
    const money = { environment: 'live', amountSantim: 1_000_00n, bankReference: 'FT-SAME' } as const;
    return recordArrival(tx, { ...money, at: world.clock(), ...more });
  });
const settle = (id: string, decision: ReceiptDecision) =>
  world.runInTransaction((tx) => decideReceipt(tx, id, { decision, at: world.clock() }));

/** Of the live accounts, in whole birr. */
async function balances(): Promise<Record<string, number>> {
  const found = await rows<{ account: string; birr: number }>(
    world.db,
    `SELECT coalesce(a.channel, a.kind) AS account, CAST(sum(e.amount_santim) / 100 AS integer) AS birr
     FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE a.environment = 'live'
     GROUP BY 1 HAVING sum(e.amount_santim) <> 0`,
  );
  return Object.fromEntries(found.map(({ account, birr }) => [account, birr]));
}
const waiting = async () =>
  rows<{ kind: string; id: string; what: string }>(world.db, `SELECT * FROM (${RECEIPT_REVIEW_ITEMS.sql}) each`);

test('what the provider pays to the bank it owes no more, once for each reference', async () => {
  const { attemptId } = await world.pay('TELEBIRR', '0911000007', 1_000_00n);
  await world.live(2_000);
  await world.checkAttempt(attemptId, { notifyWorkflow: false });
  const transfer = { channel: 'TELEBIRR', environment: 'sandbox', amountSantim: 300_25n } as const;
  const record = (more: Arrival = {}) => arrive({ ...transfer, bankReference: 'FT26061X', ...more });
  await world.simulator.transferToBank('TELEBIRR', '300.25');
  const first = await record();
  expect(first).toMatchObject({ isNew: true, money: { kind: 'REMITTANCE', channel: 'TELEBIRR' } });
  expect(await record()).toEqual({ ...first, isNew: false });
  await expectClearingAgrees(world.db, world.simulator);
  await expect(record({ amountSantim: 0n })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  await expect(record({ bankReference: ' ' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  expect((await world.compare('TELEBIRR')).status).toBe('CLEAN');
  expect(await world.db('reconciliation').first()).toMatchObject({ clearingSantim: 699_75n });
});

test('a trace id that was booked is refused as anything else, and the refusal names what it is', async () => {
  const { money } = await arrive({ channel: 'TELEBIRR' });
  for (const other of [{ channel: 'AWASH' }, {}, { channel: 'TELEBIRR', amountSantim: 1n }] as const) {
    await expect(arrive(other)).rejects.toMatchObject({
      code: 'DUPLICATE_REFERENCE',
      message: `bankReference "FT-SAME" was booked as a transfer of TELEBIRR, 1000.00 ETB, on 2026-03-02 (${money.id}). Where that is wrong, correct it first.`,
      existing: { bankMoneyId: money.id },
    });
  }
  expect(await balances()).toEqual({ BANK: -1_000, TELEBIRR: 1_000 });
  // Another environment has trace ids of its own.
  expect((await arrive({ environment: 'sandbox' })).isNew).toBe(true);
});

test('of ten who book one trace id in the same moment as two things, those of one thing succeed, and it is booked once', async () => {
  const asked = Array.from({ length: 10 }, (_, nth) => arrive(nth % 2 === 0 ? {} : { channel: 'CBE_BIRR' }));
  const answers = await Promise.allSettled(asked);
  const booked = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(booked.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(new Set(booked.map(({ money }) => money.id)).size).toBe(1);
  const refused = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(refused).toEqual(Array.from({ length: 5 }, () => 'DUPLICATE_REFERENCE'));
  expect((await balances())['BANK']).toBe(-1_000);
});

test('unmatched money waits until it is placed: the provider owes so much less', async () => {
  const { money } = await arrive();
  expect(await balances()).toEqual({ BANK: -1_000, SUSPENSE: 1_000 });
  expect(await waiting()).toMatchObject([{ kind: 'RECEIPT_UNALLOCATED', id: money.id, amountSantim: 1_000_00n }]);
  const placed = await settle(money.id, { as: 'ALLOCATED', channel: 'AWASH' });
  expect(placed).toMatchObject({ changed: true, money: { outcome: 'ALLOCATED', channel: 'AWASH' } });
  expect(await settle(money.id, { as: 'ALLOCATED', channel: 'AWASH' })).toMatchObject({ changed: false });
  expect(await balances()).toEqual({ BANK: -1_000, AWASH: 1_000 });
  expect(await waiting()).toEqual([]);
  for (const decision of [
    { as: 'ALLOCATED', channel: 'TELEBIRR' },
    { as: 'RETURNED', returnReference: 'FT-OUT' },
  ] as const) {
    await expect(settle(money.id, decision)).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringContaining('was placed as a transfer of AWASH'),
    });
  }
  expect((await arrive()).money).toEqual(placed.money);
});

test('unmatched money that went back leaves suspense and the bank, and one way back is of one of them', async () => {
  const { money } = await arrive();
  const back = { as: 'RETURNED', returnReference: 'FT-OUT' } as const;
  expect((await settle(money.id, back)).changed).toBe(true);
  expect((await settle(money.id, back)).changed).toBe(false);
  expect(await balances()).toEqual({});
  const { money: other } = await arrive({ bankReference: 'FT-2' });
  await expect(settle(other.id, back)).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringContaining(
      'returnReference "FT-OUT" was booked as the way back of unmatched money, 1000.00 ETB',
    ),
    existing: { bankMoneyId: money.id },
  });
  await expect(settle(other.id, { as: 'RETURNED', returnReference: '?' })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
  });
  await expect(settle(newId('bkm'), back)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('of ten who settle it in the same moment in two ways, those of one way succeed, and it is booked once', async () => {
  const { money } = await arrive();
  const words = [
    { as: 'ALLOCATED', channel: 'AWASH' },
    { as: 'RETURNED', returnReference: 'FT-OUT' },
  ] as const;
  const answers = await Promise.allSettled(
    Array.from({ length: 10 }, (_, nth) => settle(money.id, nth % 2 === 0 ? words[0] : words[1])),
  );
  const done = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(done.filter(({ changed }) => changed)).toHaveLength(1);
  const refused = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(refused).toEqual(Array.from({ length: 5 }, () => 'INVALID_STATE'));
});

test('a transfer of the wrong channel is taken back, and booked anew under its own trace id', async () => {
  const { money } = await arrive({ channel: 'TELEBIRR', amountSantim: 10_000_00n });
  await expect(settle(money.id, { as: 'ALLOCATED', channel: 'AWASH' })).rejects.toMatchObject({
    code: 'INVALID_STATE',
  });
  expect((await settle(money.id, { as: 'CORRECTED' })).changed).toBe(true);
  expect((await settle(money.id, { as: 'CORRECTED' })).changed).toBe(false);
  expect(await balances()).toEqual({});
  const right = await arrive({ channel: 'AWASH' });
  expect(right.isNew).toBe(true);
  expect(right.money.id).not.toBe(money.id);
  expect(await balances()).toEqual({ BANK: -1_000, AWASH: 1_000 });
  await expect(arrive({ channel: 'TELEBIRR', amountSantim: 10_000_00n })).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
  });
});

test.each([{ as: 'ALLOCATED', channel: 'AWASH' } as const, { as: 'RETURNED', returnReference: 'FT-OUT' } as const])(
  'what was made of unmatched money is taken back with it (%j)',
  async (decision) => {
    const { money } = await arrive();
    await settle(money.id, decision);
    await settle(money.id, { as: 'CORRECTED' });
    expect(await balances()).toEqual({});
    await expect(settle(money.id, decision)).rejects.toMatchObject({ code: 'INVALID_STATE' });
    const again = await arrive();
    expect(again.isNew).toBe(true);
    expect((await settle(again.money.id, decision)).changed).toBe(true);
  },
);

/** A withdrawal whose provider has paid this much more than it was told. */
async function overpaid(providerReference = 'X'): Promise<{ id: string; excess: bigint }> {
  const { attemptId } = await world.pay('AWASH', '0911000007', 1_000_00n);
  await world.live(2_000);
  await world.checkAttempt(attemptId, { notifyWorkflow: false });
  await world.simulator.fault({ kind: 'paidWrongAmount', of: 'payout', next: 1 });
  const id = await world.withdraw('AWASH');
  await world.live(1_500);
  await world.compare('AWASH');
  const [{ theirSantim } = {}] = await world.open();
  const said = { outcome: 'COMPLETED', providerReference, reason: 'Their receipt.', operatorId: 'opr_1' } as const;
  const paidSantim = theirSantim ?? 0n;
  await world.runInTransaction((tx) => resolveWithdrawal(tx, id, { ...said, at: world.clock(), paidSantim }));
  return { id, excess: paidSantim - 20_00n };
}
const takeBack = (withdrawalId: string, reference = 'AW-1') =>
  world.runInTransaction((tx) => recordExcessTakenBack(tx, { withdrawalId, reference, at: world.clock() }));
const suspense = async () => {
  const sql = `SELECT CAST(coalesce(sum(e.amount_santim), 0) AS bigint) AS santim
               FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE a.kind = 'SUSPENSE'`;
  return (await rows<{ santim: bigint }>(world.db, sql))[0]?.santim;
};

test('what a payout was too much waits until its provider has taken it back, once', async () => {
  const { id, excess } = await overpaid();
  expect(excess).toBeGreaterThan(0n);
  expect([await suspense(), await waiting()]).toMatchObject([-excess, [{ kind: 'PAYOUT_OVERPAID', id }]]);
  expect(await takeBack(id)).toMatchObject({ isNew: true, money: { amountSantim: excess, channel: 'AWASH' } });
  expect(await takeBack(id)).toMatchObject({ isNew: false });
  expect([await suspense(), await waiting()]).toEqual([0n, []]);
  await expect(takeBack(id, 'AW-2')).rejects.toMatchObject({ code: 'DUPLICATE_REFERENCE' });
  const exact = await world.withdraw('AWASH');
  await expect(takeBack(exact)).rejects.toMatchObject({ code: 'INVALID_STATE' });
  await expect(takeBack(newId('wd'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('one reference of a provider takes back what one payout was too much', async () => {
  const [one, other] = [await overpaid(), await overpaid('X-2')];
  const { money } = await takeBack(one.id);
  await expect(takeBack(other.id)).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringContaining(`reference "AW-1" was booked as taken back by AWASH of ${one.id}`),
    existing: { bankMoneyId: money.id },
  });
  expect(await takeBack(other.id, 'AW-2')).toMatchObject({ isNew: true });
  // What the bank calls by the same name is another thing.
  expect((await arrive({ bankReference: 'AW-1', environment: 'sandbox' })).isNew).toBe(true);
});

test('what was taken back and then came back whole waits to be corrected', async () => {
  const { id, excess } = await overpaid();
  const { money } = await takeBack(id);
  const { status: from } = await readWithdrawal(world.db, id);
  expect(from).toBe('SUCCESS');
  const reversed = { to: 'REVERSED', kind: 'payout.reversed', event: 'withdrawal.reversed', detail: {} } as const;
  await world.runInTransaction((tx) => transitionWithdrawal(tx, { id, ...reversed, at: world.clock(), signal: null }));
  expect(await suspense()).toBe(excess);
  expect(await waiting()).toMatchObject([{ kind: 'PAYOUT_OVERPAID', id: money.id }]);
  await settle(money.id, { as: 'CORRECTED' });
  expect([await suspense(), await waiting()]).toEqual([0n, []]);
  await expect(takeBack(id)).rejects.toMatchObject({
    code: 'INVALID_STATE',
    message: expect.stringContaining('came back whole'),
  });
});

describe('meskot ledger verify', () => {
  /** What is broken by it, in a transaction that is not kept. */
  async function broken(spoil: string): Promise<string[]> {
    const scope = openDatabase({ url: world.database.ownerUrl, poolMax: 1, applicationName: 'test' });
    const found = await scope
      .transaction(async (trx) => {
        await rows(trx, spoil);
        const each = await Promise.all(
          ledgerChecks.map(async ({ description, sql }) => ((await rows(trx, sql)).length > 0 ? [description] : [])),
        );
        throw new Found(each.flat());
      })
      .catch((error: unknown) => {
        if (error instanceof Found) return error.description;
        throw error;
      })
      .finally(() => scope.destroy());
    return found;
  }
  class Found extends Error {
    readonly description: string[];
    constructor(description: string[]) {
      super('not kept');
      this.description = description;
    }
  }
  const JOURNALS = 'each booking of bank money has its journals, and no others stand for one';
  const SUSPENSE = 'what is in suspense is held money, unmatched money and what payouts have paid too much';
  const ONCE = 'what happened outside under one reference is booked once';

  test.each([
    ["UPDATE bank_receipt SET amount_santim = 1 WHERE kind = 'REMITTANCE'", [JOURNALS]],
    ["UPDATE bank_receipt SET reversed_at = now() WHERE kind = 'REMITTANCE'", [JOURNALS]],
    [
      "UPDATE bank_receipt SET outcome = 'ALLOCATED', channel = 'AWASH', outcome_at = now() WHERE kind = 'UNALLOCATED'",
      [JOURNALS, SUSPENSE],
    ],
    ["DELETE FROM bank_receipt WHERE kind = 'REMITTANCE'", [JOURNALS]],
    ["DELETE FROM bank_receipt WHERE kind = 'UNALLOCATED'", [JOURNALS, SUSPENSE]],
    [
      "DO $$ BEGIN DROP INDEX bank_receipt_in; UPDATE bank_receipt SET reference = 'FT-SAME' WHERE kind = 'UNALLOCATED'; END $$",
      [ONCE],
    ],
  ])('finds what was spoilt: %s', async (spoil, description) => {
    await arrive({ channel: 'TELEBIRR' });
    await arrive({ bankReference: 'FT-2' });
    expect(await verifyLedger(world.db, ledgerChecks)).toEqual([]);
    expect(await broken(spoil)).toEqual(description);
  });
});
