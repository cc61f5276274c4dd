import pg from 'pg';

import { ledgerChecks } from '../../src/ledger-checks.ts';
import { runLedgerCommand } from '../../src/ledger/cli.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import type { Owner } from '../../src/lib/owner.ts';
import { BANK_MONEY_CHECKS } from '../../src/reconciliation/ledger-checks.ts';
import { markCredited, markSent } from '../../src/settlements/bank-answer.ts';
import { approveSettlement } from '../../src/settlements/decide.ts';
import { SETTLEMENT_CHECKS } from '../../src/settlements/ledger-checks.ts';
import { acceptHeldPayment } from '../../src/transactions/held.ts';
import { createCheckPayout } from '../../src/withdrawals/check.ts';
import { decideInSandbox } from '../../src/withdrawals/sandbox-review.ts';
import {
  ACCEPTED,
  buildAttempt,
  buildMerchant,
  buildPendingPayment,
  buildWorld,
  declined,
  PAID,
  PENDING,
  standing,
  type World,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { ask, linkAccount, withdraw } from '../support/settlements.ts';
import { PAID_OUT, TAKEN } from '../support/withdrawals.ts';

const MINUTE_MS = 60_000;
const OTHER_AMOUNT = { ...PAID, amountSantim: 8_000n };

/** What an operator does, and when. */
const by = (world: World) => ({ operatorId: 'opr_1', at: world.clock() });

async function pay(world: World, owner: Owner, outcome = PAID) {
  const payment = await buildPendingPayment(world, owner);
  world.provider.answers(outcome);
  await world.checkAttempt(payment.attemptId, { tellWorkflow: false });
  return payment;
}

/** Paid once the session was over. */
async function payLate(world: World, owner: Owner) {
  const payment = await buildPendingPayment(world, owner);
  world.pass(30 * MINUTE_MS);
  world.provider.answers(PENDING);
  await world.expireAttempt(payment.attemptId, world.clock());
  world.pass(MINUTE_MS);
  world.provider.answers(PAID);
  await world.checkAttempt(payment.attemptId, { tellWorkflow: false });
  return payment;
}

/** Paid by a second try, then by the first one as well. */
async function payTwice(world: World, owner: Owner) {
  const first = await buildPendingPayment(world, owner);
  world.provider.answers(declined(true), ACCEPTED, PAID);
  await world.checkAttempt(first.attemptId, { tellWorkflow: false });
  world.pass(1_000);
  const second = await buildAttempt(world, { ...owner, sessionId: first.sessionId });
  for (const attemptId of [second, second, first.attemptId]) {
    await world.checkAttempt(attemptId, { tellWorkflow: false });
  }
  return first;
}

/** One withdrawal that is paid and one that is open; one settlement that is credited and one that is open. */
async function takeOut(world: World, owner: Owner): Promise<void> {
  const { id } = await withdraw(world, owner);
  await decideInSandbox(world, id, world.clock());
  world.provider.answersOfPayouts(TAKEN, { ...PAID_OUT, amountSantim: 10_00n });
  const checkPayout = createCheckPayout(world);
  for (const _ of ['sent', 'asked']) await checkPayout(id, { minIntervalMs: 0, tellWorkflow: false });
  await withdraw(world, owner, 11_00n);
  await linkAccount(world, owner);
  const settled = await ask(world, owner, { amount: 20_00n });
  await world.runChange((change) => approveSettlement(change, settled.id, by(world)));
  const answer = { ...by(world), bankReference: 'CBE-1' };
  await world.runChange((change) => markSent(change, settled.id, answer));
  await world.runChange((change) => markCredited(change, settled.id, { ...answer, creditedAt: world.clock() }));
  await ask(world, owner, { amount: 21_00n });
}

describe('meskot ledger verify', () => {
  let database: TestDatabase;
  let world: World;
  let payments: Record<'late' | 'doubled' | 'held' | 'accepted', Awaited<ReturnType<typeof pay>>>;
  beforeEach(async () => {
    database = await createTestDatabase();
    world = buildWorld(database.db);
    const owner = await buildMerchant(database.db);
    await pay(world, owner);
    payments = {
      held: await pay(world, owner, { ...PAID, amountSantim: 1n }),
      accepted: await pay(world, owner, OTHER_AMOUNT),
      late: await payLate(world, owner),
      doubled: await payTwice(world, owner),
    };
    const { transactionId, attemptId } = payments.accepted;
    await world.runChange((change) => acceptHeldPayment(change, { transactionId, attemptId, at: world.clock() }));
    await takeOut(world, owner);
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

  test('all holds after payments, late, held and doubled ones included, and money out', async () => {
    const { db } = database;
    expect(await standing(db, payments.late.sessionId)).toMatchObject({
      transaction: 'SUCCESS',
      lateConfirmation: true,
      attempts: ['SUCCEEDED'],
    });
    expect(await standing(db, payments.doubled.sessionId)).toMatchObject({
      transaction: 'SUCCESS',
      attempts: ['DUPLICATE', 'SUCCEEDED'],
    });
    expect(await standing(db, payments.held.sessionId)).toMatchObject({ transaction: 'PENDING', attempts: ['HELD'] });
    const statuses = (await db('withdrawal').select('status')) as { status: string }[];
    expect(statuses.map(({ status }) => status).toSorted()).toEqual(['PENDING', 'SUCCESS']);
    await expectLedgerHolds(db);
    const written: string[] = [];
    const write = (text: string | Uint8Array): void => void written.push(text.toString());
    expect(await runLedgerCommand(['verify'], { db, checks: ledgerChecks, write })).toBe(0);
    for (const { says } of ledgerChecks) expect(written.join('')).toContain(`yes    ${says}`);
  });

  const JOURNAL = `(SELECT id FROM ledger_journal WHERE kind = 'PAYMENT' ORDER BY id LIMIT 1)`;
  const OPEN = `(SELECT id FROM withdrawal WHERE status = 'PENDING')`;
  const CORRUPTIONS = [
    [
      'an entry is gone',
      `DELETE FROM ledger_entry WHERE journal_id = ${JOURNAL} AND position = 1`,
      'the entries of each journal sum to zero',
    ],
    [
      'an entry has another amount',
      `UPDATE ledger_entry SET amount_santim = amount_santim + 1 WHERE journal_id = ${JOURNAL} AND position = 3`,
      'the entries of each journal sum to zero',
    ],
    [
      'an entry is on an account of the other environment',
      `WITH other AS (
         INSERT INTO ledger_account (environment, currency, kind) VALUES ('live', 'ETB', 'FEE_REVENUE') RETURNING id
       ) UPDATE ledger_entry SET account_id = (SELECT id FROM other) WHERE journal_id = ${JOURNAL} AND position = 3`,
      'all accounts of an environment sum to zero',
    ],
    [
      'a journal is gone',
      `DELETE FROM ledger_journal WHERE id = ${JOURNAL}`,
      'every entry has its journal and its account, both of one environment',
    ],
    [
      'a balance was topped up',
      'UPDATE ledger_balance SET available_santim = available_santim + 1',
      "a merchant's balance is the sum of its entries",
    ],
    ['a balance is gone', 'DELETE FROM ledger_balance', "a merchant's balance is the sum of its entries"],
    [
      'fees were forgotten',
      'UPDATE ledger_balance SET fees_santim = 0',
      'fees and settlements to date are what the journals have booked',
    ],
    [
      'a settlement was forgotten',
      'UPDATE ledger_balance SET settled_santim = 0',
      'fees and settlements to date are what the journals have booked',
    ],
    [
      'a running balance is wrong',
      `UPDATE ledger_entry SET balance_after_santim = balance_after_santim + 1 WHERE sequence = 1`,
      'the balance after an entry is the one before it, plus the entry',
    ],
    [
      'a payment was booked that is no SUCCESS',
      `UPDATE transaction SET status = 'PENDING' WHERE status = 'SUCCESS'`,
      'each SUCCESS transaction has one journal that made it so, and no other transaction has one',
    ],
    [
      'a SUCCESS was never booked',
      `UPDATE transaction SET status = 'SUCCESS' WHERE status = 'PENDING'`,
      'each SUCCESS transaction has one journal that made it so, and no other transaction has one',
    ],
    [
      'a fee is not what was booked',
      `UPDATE transaction SET fee_santim = 0 WHERE status = 'SUCCESS'`,
      'net, fee and tax of a payment are what was paid, and what was booked',
    ],
    [
      'a withdrawal has paid out another amount than was booked',
      `UPDATE withdrawal SET paid_santim = amount_santim - 1 WHERE status = 'SUCCESS'`,
      'what a withdrawal has paid out is what its beneficiary got, and what came back is the same',
    ],
    [
      'held money was never set aside',
      `UPDATE payment_attempt SET status = 'HELD', received_currency = 'ETB' WHERE status = 'SUCCEEDED'`,
      'money that is held waits in suspense',
    ],
    [
      'money is held by the journals, and its attempt has succeeded',
      `UPDATE payment_attempt SET status = 'SUCCEEDED' WHERE status = 'HELD'`,
      'money that is held waits in suspense',
    ],
    [
      'a payment was booked in the other environment',
      `UPDATE ledger_journal SET environment = 'live' WHERE id = ${JOURNAL}`,
      'a payment is booked for its own merchant, in its own environment, over a channel it was tried on',
    ],
    [
      "a withdrawal was booked over another provider's channel",
      `UPDATE withdrawal SET channel = 'CBE_BIRR' WHERE status = 'SUCCESS'`,
      'a withdrawal is booked for its own merchant, in its own environment, over its own channel',
    ],
    [
      'money was given back by a decision and by no journal',
      `UPDATE payment_attempt SET decided = 'RETURNED', decided_at = now(), return_reference = 'RET-1'
       WHERE status = 'DUPLICATE'`,
      'what was decided about held money is what was booked',
    ],
    [
      'money was given to the merchant by a journal and by no decision',
      `UPDATE payment_attempt SET decided = NULL, decided_at = NULL WHERE decided = 'ACCEPTED'`,
      'what was decided about held money is what was booked',
    ],
    [
      'a withdrawal was paid and given back',
      `INSERT INTO ledger_journal (id, key, kind, environment, currency, amount_santim, resource_type, resource_id, at)
       VALUES ('jrn_1', 'a', 'WITHDRAWAL_PAID', 'sandbox', 'ETB', 1, 'withdrawal', 'wd_1', now()),
              ('jrn_2', 'b', 'WITHDRAWAL_RELEASED', 'sandbox', 'ETB', 1, 'withdrawal', 'wd_1', now())`,
      'nothing set aside is both paid out and given back',
    ],
    [
      'a withdrawal is SUCCESS that was never paid',
      `UPDATE withdrawal SET status = 'SUCCESS', stage = 'ENDED', completed_at = now() WHERE id = ${OPEN}`,
      'each withdrawal has the journals of its status, and no others',
    ],
    [
      'a withdrawal is FAILED whose money was not given back',
      `UPDATE withdrawal SET status = 'FAILED' WHERE status = 'SUCCESS'`,
      'each withdrawal has the journals of its status, and no others',
    ],
    [
      'a withdrawal has set aside less than it takes',
      `UPDATE withdrawal SET fee_santim = fee_santim + 1 WHERE status = 'SUCCESS'`,
      'what a withdrawal sets aside is its amount, fee and tax',
    ],
    [
      'a withdrawal is gone',
      `DELETE FROM withdrawal_timeline; DELETE FROM withdrawal WHERE id = ${OPEN}`,
      'no journal stands for a withdrawal that is not there',
    ],
    [
      'more is reserved than what is open takes',
      'UPDATE ledger_balance SET available_santim = available_santim - 1, reserved_santim = reserved_santim + 1',
      'what is reserved is what open withdrawals and settlements take',
    ],
    [
      'an open withdrawal takes less than is reserved',
      `UPDATE withdrawal SET amount_santim = amount_santim - 1 WHERE id = ${OPEN}`,
      'what is reserved is what open withdrawals and settlements take',
    ],
    [
      'the bank got another amount than was settled',
      `UPDATE ledger_entry SET amount_santim = amount_santim - 1 WHERE account_id = (SELECT id FROM ledger_account WHERE kind = 'BANK')`,
      'what a settlement sets aside is its amount, fee and tax, and the bank gets its amount',
    ],
    [
      'more is held than waits in suspense',
      `UPDATE payment_attempt SET received_santim = received_santim + 1 WHERE status = 'DUPLICATE' AND decided IS NULL`,
      'what is in suspense is held money, unmatched money and what payouts have paid too much',
    ],
  ] as const;
  test.each(CORRUPTIONS)('it finds that %s', async (_what, sql, check) => {
    await corrupt(sql);
    const broken = await verifyLedger(database.db, ledgerChecks);
    expect(broken.map((one) => one.check)).toContain(check);
    const write = (): void => {};
    expect(await runLedgerCommand(['verify'], { db: database.db, checks: ledgerChecks, write })).toBe(1);
  });

  test('there is a corruption for each check; those of one slice alone are in its tests', () => {
    const planted = new Set<string>(CORRUPTIONS.map(([, , check]) => check));
    const own = ledgerChecks.filter((check) => ![...SETTLEMENT_CHECKS, ...BANK_MONEY_CHECKS].includes(check));
    expect(own.map(({ says }) => says).filter((says) => !planted.has(says))).toEqual([]);
  });
});
