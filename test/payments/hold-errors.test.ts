import { readBalance } from '../../src/ledger/balance.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { TRANSACTION_CHECKS } from '../../src/payments/monitoring.ts';
import { buildMerchant, buildPendingPayment, buildFixture, PAID, type Fixture } from '../support/build.ts';
import { codeOf } from '../support/code-of.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { acceptHeld, giveHeldBack, payOtherAmount, type HeldMoney } from './held-money.ts';

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  fixture = buildFixture(database.db);
  scope = await buildMerchant(database.db);
});
afterEach(() => expectLedgerHolds(database.db));
afterAll(() => database.drop());

const accept = (payment: HeldMoney) => acceptHeld(fixture, payment);
const giveBack = (payment: HeldMoney, reference?: string) => giveHeldBack(fixture, payment, reference);
const available = async () => (await readBalance(database.db, scope)).availableSantim;

test('the ledger is compared with the decisions about held money', async () => {
  const payment = await payOtherAmount(fixture, scope);
  await accept(payment);
  const decide = (sql: string) => rows(database.db, `UPDATE payment_attempt SET ${sql} WHERE id = :attemptId`, payment);
  await decide(`hold_resolution = 'RETURNED', return_reference = 'RET-1', status = 'HELD'`);
  const found = await verifyLedger(database.db, TRANSACTION_CHECKS);
  expect(found.map(({ check }) => check)).toContain('the booking of held money matches the decision about it');
  await decide(`hold_resolution = NULL, hold_resolved_at = NULL, return_reference = NULL, status = 'SUCCEEDED'`);
  expect((await verifyLedger(database.db, TRANSACTION_CHECKS)).map(({ check }) => check)).toEqual([
    'held money is in suspense',
    'the booking of held money matches the decision about it',
  ]);
  await decide(`hold_resolution = 'ACCEPTED', hold_resolved_at = now()`);
});

describe('decisions about held money that fail', () => {
  test('money of another currency cannot be accepted, only returned', async () => {
    const payment = await payOtherAmount(fixture, scope, { ...PAID, currency: 'USD' });
    expect(await codeOf(accept(payment))).toBe('INVALID_STATE');
    expect((await giveBack(payment)).transaction.status).toBe('FAILED');
    expect(await available()).toBe(0n);
  });

  test('a transaction without held money and an unknown transaction are not found', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    expect(await codeOf(accept(payment))).toBe('NOT_FOUND');
    expect(await codeOf(accept({ ...payment, transactionId: 'txn_none' }))).toBe('NOT_FOUND');
  });

  test('a payment of another transaction is not found', async () => {
    const [one, other] = [await payOtherAmount(fixture, scope), await payOtherAmount(fixture, scope)];
    expect(await codeOf(accept({ ...one, attemptId: other.attemptId }))).toBe('NOT_FOUND');
    expect(await available()).toBe(0n);
  });

  test('an amount of zero cannot be accepted, only recorded as returned, and is not posted', async () => {
    const payment = await payOtherAmount(fixture, scope, { ...PAID, amountSantim: 0n });
    await expect(accept(payment)).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringContaining('is 0.00 ETB: it can only be returned'),
    });
    expect((await giveBack(payment)).transaction).toMatchObject({ status: 'FAILED', holdReason: null });
    expect((await giveBack(payment)).isNew).toBe(false);
    const sql = 'SELECT 1 FROM ledger_journal WHERE resource_id = :transactionId';
    expect(await rows(database.db, sql, { transactionId: payment.transactionId })).toEqual([]);
  });

  test('a second return under another reference fails and names the first reference', async () => {
    const payment = await payOtherAmount(fixture, scope);
    await giveBack(payment, 'RET-1');
    await expect(giveBack(payment, 'RET-2')).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringContaining('under the reference RET-1'),
    });
    expect((await giveBack(payment, 'RET-1')).payment).toMatchObject({ returnReference: 'RET-1' });
  });
});
