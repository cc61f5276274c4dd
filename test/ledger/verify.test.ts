import pg from 'pg';

import { ledgerChecks } from '../../src/ledger-checks.ts';
import { runLedgerCommand } from '../../src/ledger/cli.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { buildMerchant, buildPendingPayment, buildWorld, PAID, type World } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';

describe('meskot ledger verify', () => {
  let database: TestDatabase;
  let world: World;
  beforeEach(async () => {
    database = await createTestDatabase();
    world = buildWorld(database.db);
    const owner = await buildMerchant(database.db);
    const pay = async (outcome: typeof PAID): Promise<void> => {
      const { attemptId } = await buildPendingPayment(world, owner);
      world.provider.answers(outcome);
      await world.checkAttempt(attemptId, { tellWorkflow: false });
    };
    await pay(PAID);
    await pay(PAID);
    await pay({ ...PAID, amountSantim: 1n });
  });
  afterEach(() => database.drop());

  /** Writes past the ledger's own guards, as somebody with the keys to the database could. */
  async function corrupt(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: database.ownerUrl });
    await client.connect();
    try {
      for (const table of ['ledger_journal', 'ledger_entry']) {
        await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
      }
      await client.query(sql);
    } finally {
      await client.end();
    }
  }

  test('all holds after payments, late, held and doubled ones included', async () => {
    await expectLedgerHolds(database.db);
    const written: string[] = [];
    const write = (text: string): void => void written.push(text);
    expect(await runLedgerCommand(['verify'], { db: database.db, checks: ledgerChecks, write })).toBe(0);
    expect(written.join('')).toContain('yes    the entries of each journal sum to zero');
  });

  const JOURNAL = `(SELECT id FROM ledger_journal WHERE kind = 'PAYMENT' ORDER BY id LIMIT 1)`;
  test.each([
    ['an entry is gone', `DELETE FROM ledger_entry WHERE journal_id = ${JOURNAL} AND position = 1`, 'sum to zero'],
    [
      'an entry has another amount',
      `UPDATE ledger_entry SET amount_santim = amount_santim + 1 WHERE journal_id = ${JOURNAL} AND position = 3`,
      'sum to zero',
    ],
    ['a journal is gone', `DELETE FROM ledger_journal WHERE id = ${JOURNAL}`, 'every entry has its journal'],
    [
      'a balance was topped up',
      'UPDATE ledger_balance SET available_santim = available_santim + 1',
      'is the sum of its',
    ],
    ['a balance is gone', 'DELETE FROM ledger_balance', 'is the sum of its'],
    ['fees were forgotten', 'UPDATE ledger_balance SET fees_santim = 0', 'fees and settlements to date'],
    [
      'a running balance is wrong',
      `UPDATE ledger_entry SET balance_after_santim = balance_after_santim + 1 WHERE sequence = 1`,
      'the balance after an entry',
    ],
    [
      'a payment was booked that is no SUCCESS',
      `UPDATE transaction SET status = 'PENDING' WHERE status = 'SUCCESS'`,
      'each SUCCESS transaction',
    ],
    [
      'a SUCCESS was never booked',
      `UPDATE transaction SET status = 'SUCCESS' WHERE status = 'PENDING'`,
      'each SUCCESS transaction',
    ],
    [
      'a fee is not what was booked',
      `UPDATE transaction SET fee_santim = 0 WHERE status = 'SUCCESS'`,
      'net, fee and tax',
    ],
    [
      'held money was never set aside',
      `UPDATE payment_attempt SET status = 'HELD', received_currency = 'ETB' WHERE status = 'SUCCEEDED'`,
      'money that is held',
    ],
    [
      'a withdrawal was paid and given back',
      `INSERT INTO ledger_journal (id, key, kind, environment, currency, amount_santim, resource_type, resource_id, at)
       VALUES ('jrn_1', 'a', 'WITHDRAWAL_PAID', 'sandbox', 'ETB', 1, 'withdrawal', 'wd_1', now()),
              ('jrn_2', 'b', 'WITHDRAWAL_RELEASED', 'sandbox', 'ETB', 1, 'withdrawal', 'wd_1', now())`,
      'both paid out and given back',
    ],
  ])('it finds that %s', async (_what, sql, check) => {
    await corrupt(sql);
    const broken = await verifyLedger(database.db, ledgerChecks);
    expect(broken.map((one) => one.check)).toContainEqual(expect.stringContaining(check));
    const write = (): void => {};
    expect(await runLedgerCommand(['verify'], { db: database.db, checks: ledgerChecks, write })).toBe(1);
  });
});
