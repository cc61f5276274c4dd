import { ledgerChecks } from '../../src/app/ledger-invariants.ts';
import { createValidator } from '../../src/http/validate.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { openDatabase, rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { resolvePayout } from '../../src/payouts/resolve.ts';
import { transitionPayout } from '../../src/payouts/transition.ts';
import { readWithdrawal } from '../../src/payouts/withdrawals/queries.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { RECEIPT_REVIEW_ITEMS } from '../../src/reconciliation/monitoring.ts';
import { decideReceipt, recordReceipt, recordRecovery } from '../../src/reconciliation/receipts/operations.ts';
import { ReceiptDecision, Remittance } from '../../src/reconciliation/receipts/schema.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createReconciliationFixture, expectClearingAgrees, type ReconciliationFixture } from './fixture.ts';

let fixture: ReconciliationFixture;
beforeEach(async () => {
  fixture = await createReconciliationFixture();
});
afterEach(async () => {
  await expectLedgerHolds(fixture.db);
  await fixture.close();
});

type Receipt = Partial<Parameters<typeof recordReceipt>[1]>;
const receive = (more: Receipt = {}) =>
  fixture.runInTransaction((tx) => {
    const money = { environment: 'live', amountSantim: 1_000_00n, bankReference: 'FT-SAME' } as const;
    return recordReceipt(tx, { ...money, at: fixture.clock(), ...more });
  });
const decide = (id: string, decision: Parameters<typeof decideReceipt>[2]['decision']) =>
  fixture.runInTransaction((tx) => decideReceipt(tx, id, { decision, at: fixture.clock() }));

/** Of the live accounts, in whole birr. */
async function balances(): Promise<Record<string, number>> {
  const found = await rows<{ account: string; birr: number }>(
    fixture.db,
    `SELECT coalesce(a.channel, a.kind) AS account, CAST(sum(e.amount_santim) / 100 AS integer) AS birr
     FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE a.environment = 'live'
     GROUP BY 1 HAVING sum(e.amount_santim) <> 0`,
  );
  return Object.fromEntries(found.map(({ account, birr }) => [account, birr]));
}
const waiting = async () =>
  rows<{ kind: string; id: string; what: string }>(fixture.db, `SELECT * FROM (${RECEIPT_REVIEW_ITEMS.sql}) each`);

test('a remittance reduces the debt of its provider, once per trace id', async () => {
  const { attemptId } = await fixture.pay('TELEBIRR', '0911000007', 1_000_00n);
  await fixture.live(2_000);
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  const transfer = { channel: 'TELEBIRR', environment: 'sandbox', amountSantim: 300_25n } as const;
  const record = (more: Receipt = {}) => receive({ ...transfer, bankReference: 'FT26061X', ...more });
  const first = await record();
  expect(first).toMatchObject({ isNew: true, money: { kind: 'REMITTANCE', channel: 'TELEBIRR' } });
  expect(await record()).toEqual({ ...first, isNew: false });
  await expectClearingAgrees(fixture, { TELEBIRR: 300_25n });
  expect((await fixture.compare('TELEBIRR')).status).toBe('CLEAN');
  expect(await fixture.db.knex()('reconciliation').first()).toMatchObject({ clearingSantim: 699_75n });
});

test('booking a trace id as anything else answers DUPLICATE_REFERENCE and names its booking', async () => {
  const { money } = await receive({ channel: 'TELEBIRR' });
  for (const other of [{ channel: 'AWASH' }, {}, { channel: 'TELEBIRR', amountSantim: 1n }] as const) {
    await expect(receive(other)).rejects.toMatchObject({
      code: 'DUPLICATE_REFERENCE',
      message: `bankReference "FT-SAME" was booked as a remittance of TELEBIRR, 1000.00 ETB, on 2026-03-02 (${money.id}). Where that is wrong, correct it first.`,
      existing: { receiptId: money.id },
    });
  }
  expect(await balances()).toEqual({ BANK: -1_000, TELEBIRR: 1_000 });
  // Another environment has trace ids of its own.
  expect((await receive({ environment: 'sandbox' })).isNew).toBe(true);
});

test.each([
  [Remittance, { amount: 0 }],
  [Remittance, { bankReference: ' ' }],
  [ReceiptDecision, { as: 'RETURNED', returnReference: '?' }],
  [ReceiptDecision, { as: 'RETURNED' }],
  [ReceiptDecision, { as: 'ALLOCATED' }],
  [ReceiptDecision, { as: 'ALLOCATED', channel: 'AWASH', returnReference: 'FT-OUT' }],
  [ReceiptDecision, { as: 'CORRECTED', channel: 'AWASH' }],
])('an operator’s input with a wrong amount, reference or field is rejected (%#)', (body, wrong) => {
  const transfer = { environment: 'live', amount: 1, bankReference: 'FT', channel: 'AWASH' };
  const value = { reason: 'Why', ...(body === Remittance && transfer), ...wrong };
  expect(() => createValidator({ body }, 'x')({ params: {}, query: {}, body: value })).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR' }),
  );
});

test('ten concurrent bookings of one trace id as two kinds book it once, and those of the other kind fail', async () => {
  const bookings = Array.from({ length: 10 }, (_, nth) => receive(nth % 2 === 0 ? {} : { channel: 'CBE_BIRR' }));
  const results = await Promise.allSettled(bookings);
  const booked = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(booked.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(new Set(booked.map(({ money }) => money.id)).size).toBe(1);
  const errors = results.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(errors).toEqual(Array.from({ length: 5 }, () => 'DUPLICATE_REFERENCE'));
  expect((await balances())['BANK']).toBe(-1_000);
});

test('unallocated money is in suspense and in the work queue until it is allocated to a provider, whose debt it reduces', async () => {
  const { money } = await receive();
  expect(await balances()).toEqual({ BANK: -1_000, SUSPENSE: 1_000 });
  expect(await waiting()).toMatchObject([{ kind: 'RECEIPT_UNALLOCATED', id: money.id, amountSantim: 1_000_00n }]);
  const placed = await decide(money.id, { as: 'ALLOCATED', channel: 'AWASH' });
  expect(placed).toMatchObject({ changed: true, money: { outcome: 'ALLOCATED', channel: 'AWASH' } });
  expect(await decide(money.id, { as: 'ALLOCATED', channel: 'AWASH' })).toMatchObject({ changed: false });
  expect(await balances()).toEqual({ BANK: -1_000, AWASH: 1_000 });
  expect(await waiting()).toEqual([]);
  for (const decision of [
    { as: 'ALLOCATED', channel: 'TELEBIRR' },
    { as: 'RETURNED', returnReference: 'FT-OUT' },
  ] as const) {
    await expect(decide(money.id, decision)).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringContaining('was allocated as a remittance of AWASH'),
    });
  }
  expect((await receive()).money).toEqual(placed.money);
});

test('a return takes unallocated money out of suspense and the bank, under a trace id of its own', async () => {
  const { money } = await receive();
  const back = { as: 'RETURNED', returnReference: 'FT-OUT' } as const;
  expect((await decide(money.id, back)).changed).toBe(true);
  expect((await decide(money.id, back)).changed).toBe(false);
  expect(await balances()).toEqual({});
  const { money: other } = await receive({ bankReference: 'FT-2' });
  await expect(decide(other.id, back)).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringContaining(
      'returnReference "FT-OUT" was booked as the return of an unallocated receipt, 1000.00 ETB',
    ),
    existing: { receiptId: money.id },
  });
  await expect(decide(newId('rcp'), back)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('of ten concurrent decisions of two kinds, those of one kind succeed and one posts', async () => {
  const { money } = await receive();
  const decisions = [
    { as: 'ALLOCATED', channel: 'AWASH' },
    { as: 'RETURNED', returnReference: 'FT-OUT' },
  ] as const;
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, nth) => decide(money.id, nth % 2 === 0 ? decisions[0] : decisions[1])),
  );
  const done = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(done.filter(({ changed }) => changed)).toHaveLength(1);
  const errors = results.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(errors).toEqual(Array.from({ length: 5 }, () => 'INVALID_STATE'));
});

test('correcting a remittance of the wrong channel reverses it and frees its trace id', async () => {
  const { money } = await receive({ channel: 'TELEBIRR', amountSantim: 10_000_00n });
  await expect(decide(money.id, { as: 'ALLOCATED', channel: 'AWASH' })).rejects.toMatchObject({
    code: 'INVALID_STATE',
  });
  expect((await decide(money.id, { as: 'CORRECTED' })).changed).toBe(true);
  expect((await decide(money.id, { as: 'CORRECTED' })).changed).toBe(false);
  expect(await balances()).toEqual({});
  const right = await receive({ channel: 'AWASH' });
  expect(right.isNew).toBe(true);
  expect(right.money.id).not.toBe(money.id);
  expect(await balances()).toEqual({ BANK: -1_000, AWASH: 1_000 });
  await expect(receive({ channel: 'TELEBIRR', amountSantim: 10_000_00n })).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
  });
});

test.each([{ as: 'ALLOCATED', channel: 'AWASH' } as const, { as: 'RETURNED', returnReference: 'FT-OUT' } as const])(
  'correcting unallocated money reverses its outcome too, and frees both trace ids (%j)',
  async (decision) => {
    const { money } = await receive();
    await decide(money.id, decision);
    await decide(money.id, { as: 'CORRECTED' });
    expect(await balances()).toEqual({});
    await expect(decide(money.id, decision)).rejects.toMatchObject({ code: 'INVALID_STATE' });
    const again = await receive();
    expect(again.isNew).toBe(true);
    expect((await decide(again.money.id, decision)).changed).toBe(true);
  },
);

/** A withdrawal whose provider has paid `excess` more than its amount. */
async function overpaid(providerReference = 'X'): Promise<{ id: string; excess: bigint }> {
  const { attemptId } = await fixture.pay('AWASH', '0911000007', 1_000_00n);
  await fixture.live(2_000);
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  await fixture.simulator.fault({ kind: 'paidWrongAmount', of: 'payout', next: 1 });
  const id = await fixture.withdraw('AWASH');
  await fixture.live(1_500);
  await fixture.compare('AWASH');
  const [{ listedSantim } = {}] = await fixture.open();
  const receipt = { outcome: 'COMPLETED', providerReference, reason: 'Their receipt.', operatorId: 'opr_1' } as const;
  const resolution = { id, ...receipt, at: fixture.clock(), paidSantim: listedSantim ?? 0n };
  await fixture.runInTransaction((tx) => resolvePayout(tx, WITHDRAWAL, resolution));
  return { id, excess: resolution.paidSantim - 20_00n };
}
const recover = (id: string, reference = 'AW-1', of = { kind: 'withdrawal' as const, id }) =>
  fixture.runInTransaction((tx) => recordRecovery(tx, { of, reference, at: fixture.clock() }));
const suspense = async () => {
  const sql = `SELECT CAST(coalesce(sum(e.amount_santim), 0) AS bigint) AS santim
               FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE a.kind = 'SUSPENSE'`;
  return (await rows<{ santim: bigint }>(fixture.db, sql))[0]?.santim;
};

test('the excess of an overpaid payout is in the work queue until its provider has taken it back, once', async () => {
  const { id, excess } = await overpaid();
  expect(excess).toBeGreaterThan(0n);
  expect([await suspense(), await waiting()]).toMatchObject([-excess, [{ kind: 'PAYOUT_OVERPAID', id }]]);
  expect(await recover(id)).toMatchObject({ isNew: true, money: { amountSantim: excess, channel: 'AWASH' } });
  expect(await recover(id)).toMatchObject({ isNew: false });
  expect([await suspense(), await waiting()]).toEqual([0n, []]);
  await expect(recover(id, 'AW-2')).rejects.toMatchObject({ code: 'DUPLICATE_REFERENCE' });
  const exact = await fixture.withdraw('AWASH');
  await expect(recover(exact)).rejects.toMatchObject({ code: 'INVALID_STATE' });
  await expect(recover(newId('wd'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a reference of a provider recovers the excess of one payout', async () => {
  const [one, other] = [await overpaid(), await overpaid('X-2')];
  const { money } = await recover(one.id);
  await expect(recover(other.id)).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringContaining(`reference "AW-1" was booked as taken back by AWASH of ${one.id}`),
    existing: { receiptId: money.id },
  });
  expect(await recover(other.id, 'AW-2')).toMatchObject({ isNew: true });
  // A trace id of the bank may equal it.
  expect((await receive({ bankReference: 'AW-1', environment: 'sandbox' })).isNew).toBe(true);
});

test('a recovery whose payout is reversed afterwards is in the work queue until it is corrected', async () => {
  const { id, excess } = await overpaid();
  const { money } = await recover(id);
  const paid = await readWithdrawal(fixture.db, id);
  expect(paid.status).toBe('SUCCESS');
  const reversed = { to: 'REVERSED', before: paid, at: fixture.clock() } as const;
  await fixture.runInTransaction((tx) => transitionPayout(tx, WITHDRAWAL, reversed));
  expect(await suspense()).toBe(excess);
  expect(await waiting()).toMatchObject([{ kind: 'PAYOUT_OVERPAID', id: money.id }]);
  await decide(money.id, { as: 'CORRECTED' });
  expect([await suspense(), await waiting()]).toEqual([0n, []]);
  await expect(recover(id)).rejects.toMatchObject({
    code: 'INVALID_STATE',
    message: expect.stringContaining('was reversed as a whole'),
  });
});

describe('meskot ledger verify', () => {
  /** The invariants that `spoil` violates, in a transaction that is rolled back. */
  async function broken(spoil: string): Promise<string[]> {
    const scope = openDatabase({ url: fixture.database.ownerUrl, poolMax: 1, applicationName: 'test' });
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
      super('rolled back');
      this.description = description;
    }
  }
  const JOURNALS = 'each receipt has its journals, and no other such journals exist';
  const SUSPENSE = 'suspense is the sum of held money, unallocated money and overpayments';
  const REFERENCES = 'each reference of the bank or a provider belongs to the one booking that has it';

  test.each([
    ["UPDATE bank_receipt SET amount_santim = 1 WHERE kind = 'REMITTANCE'", [JOURNALS]],
    ["UPDATE bank_receipt SET reversed_at = now() WHERE kind = 'REMITTANCE'", [JOURNALS, REFERENCES]],
    [
      "UPDATE bank_receipt SET outcome = 'ALLOCATED', channel = 'AWASH', outcome_at = now() WHERE kind = 'UNALLOCATED'",
      [JOURNALS, SUSPENSE],
    ],
    ["DELETE FROM bank_receipt WHERE kind = 'REMITTANCE'", [JOURNALS, REFERENCES]],
    ["DELETE FROM bank_receipt WHERE kind = 'UNALLOCATED'", [JOURNALS, REFERENCES, SUSPENSE]],
    ["UPDATE bank_receipt SET reference = 'FT-SAME' WHERE kind = 'UNALLOCATED'", [REFERENCES]],
    ["DELETE FROM external_reference WHERE reference = 'FT-SAME'", [REFERENCES]],
    ["UPDATE external_reference SET resource_id = 'rcp_other'", [REFERENCES]],
  ])('finds the violation after: %s', async (spoil, description) => {
    await receive({ channel: 'TELEBIRR' });
    await receive({ bankReference: 'FT-2' });
    expect(await verifyLedger(fixture.db, ledgerChecks)).toEqual([]);
    expect(await broken(spoil)).toEqual(description);
  });
});
