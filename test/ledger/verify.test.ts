import pg from 'pg';

import { verify } from '../../src/app/commands/database.ts';
import { ledgerChecks } from '../../src/app/ledger-invariants.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { acceptHeldPayment } from '../../src/payments/holds.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { REFUND_CHECKS } from '../../src/payouts/refunds/monitoring.ts';
import { autoDecide } from '../../src/payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { RECEIPT_CHECKS } from '../../src/reconciliation/monitoring.ts';
import { markCredited, markSent } from '../../src/settlements/bank-results.ts';
import { approveSettlement } from '../../src/settlements/decide.ts';
import { SETTLEMENT_CHECKS } from '../../src/settlements/monitoring.ts';
import {
  ACCEPTED,
  buildAttempt,
  buildMerchant,
  buildPendingPayment,
  buildFixture,
  declined,
  PAID,
  PENDING,
  stateOfSession,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { requestSettlement, linkAccount, withdraw } from '../support/settlements.ts';
import { PAID_OUT, TAKEN } from '../support/withdrawals.ts';
import { CORRUPTIONS } from './corruptions.ts';

const MINUTE_MS = 60_000;
const OTHER_AMOUNT = { ...PAID, amountSantim: 8_000n };

/** The context of an operator's decision. */
const by = (fixture: Fixture) => ({ operatorId: 'opr_1', at: fixture.clock() });

async function pay(fixture: Fixture, scope: MerchantScope, outcome = PAID) {
  const payment = await buildPendingPayment(fixture, scope);
  fixture.provider.returns(outcome);
  await fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
  return payment;
}

/** A payment confirmed after the session has expired. */
async function payLate(fixture: Fixture, scope: MerchantScope) {
  const payment = await buildPendingPayment(fixture, scope);
  fixture.pass(30 * MINUTE_MS);
  fixture.provider.returns(PENDING);
  await fixture.expireAttempt(payment.attemptId, fixture.clock());
  fixture.pass(MINUTE_MS);
  fixture.provider.returns(PAID);
  await fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
  return payment;
}

/** A payment with two paid attempts. */
async function payTwice(fixture: Fixture, scope: MerchantScope) {
  const first = await buildPendingPayment(fixture, scope);
  fixture.provider.returns(declined(true), ACCEPTED, PAID);
  await fixture.checkAttempt(first.attemptId, { notifyWorkflow: false });
  fixture.pass(1_000);
  const second = await buildAttempt(fixture, { ...scope, sessionId: first.sessionId });
  for (const attemptId of [second, second, first.attemptId]) {
    await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  }
  return first;
}

/** A paid and an open withdrawal, a credited and an open settlement. */
async function takeOut(fixture: Fixture, scope: MerchantScope): Promise<void> {
  const { id } = await withdraw(fixture, scope);
  await autoDecide(fixture, id, fixture.clock());
  fixture.provider.returnsForPayouts(TAKEN, { ...PAID_OUT, amountSantim: 10_00n });
  const checkPayout = createCheck(fixture, WITHDRAWAL);
  for (const _ of ['sent', 'asked']) await checkPayout(id, { minIntervalMs: 0, notifyWorkflow: false });
  await withdraw(fixture, scope, 11_00n);
  await linkAccount(fixture, scope);
  const settled = await requestSettlement(fixture, scope, { amount: 20_00n });
  await fixture.runInTransaction((tx) => approveSettlement(tx, settled.id, by(fixture)));
  const answer = { ...by(fixture), bankReference: 'CBE-1' };
  await fixture.runInTransaction((tx) => markSent(tx, settled.id, answer));
  await fixture.runInTransaction((tx) => markCredited(tx, settled.id, { ...answer, creditedAt: fixture.clock() }));
  await requestSettlement(fixture, scope, { amount: 21_00n });
}

/** The line of an invariant in the printed table. */
function lineOf(holds: string, check: string): RegExp {
  return new RegExp(`^${holds} .* ${check.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`, 'm');
}

describe('meskot ledger verify', () => {
  let sound: TestDatabase;
  let database: TestDatabase;
  let payments: Record<'late' | 'doubled' | 'held' | 'accepted', Awaited<ReturnType<typeof pay>>>;
  beforeAll(async () => {
    sound = await createTestDatabase();
    const fixture = buildFixture(sound.db);
    const scope = await buildMerchant(sound.db);
    await pay(fixture, scope);
    payments = {
      held: await pay(fixture, scope, { ...PAID, amountSantim: 1n }),
      accepted: await pay(fixture, scope, OTHER_AMOUNT),
      late: await payLate(fixture, scope),
      doubled: await payTwice(fixture, scope),
    };
    const { transactionId, attemptId } = payments.accepted;
    await fixture.runInTransaction((tx) => acceptHeldPayment(tx, { transactionId, attemptId, at: fixture.clock() }));
    await takeOut(fixture, scope);
  });
  beforeEach(async () => {
    database = await createTestDatabase(sound);
  });
  afterEach(() => database.drop());
  afterAll(() => sound.drop());

  /** Writes with the ledger's triggers disabled, as direct access to the database allows. */
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

  test('all invariants hold after late, held and duplicate payments, withdrawals and settlements', async () => {
    const { db } = database;
    expect(await stateOfSession(db, payments.late.sessionId)).toMatchObject({
      transaction: 'SUCCESS',
      confirmedLate: true,
      attempts: ['SUCCEEDED'],
    });
    expect(await stateOfSession(db, payments.doubled.sessionId)).toMatchObject({
      transaction: 'SUCCESS',
      attempts: ['DUPLICATE', 'SUCCEEDED'],
    });
    expect(await stateOfSession(db, payments.held.sessionId)).toMatchObject({
      transaction: 'PENDING',
      attempts: ['HELD'],
    });
    const statuses = (await db.knex()('payout').where({ kind: 'withdrawal' }).select('status')) as { status: string }[];
    expect(statuses.map(({ status }) => status).toSorted()).toEqual(['PENDING', 'SUCCESS']);
    await expectLedgerHolds(db);
    const written: string[] = [];
    const terminal = { write: (text: string | Uint8Array) => void written.push(text.toString()), note: () => {} };
    await verify({ db, checks: ledgerChecks, terminal }, {});
    for (const { description } of ledgerChecks) expect(written.join('')).toMatch(lineOf('yes', description));
  });

  test.each(CORRUPTIONS)('meskot ledger verify finds %s', async (_what, sql, check) => {
    await corrupt(sql);
    const broken = await verifyLedger(database.db, ledgerChecks);
    expect(broken.map((one) => one.check)).toContain(check);
    const written: string[] = [];
    const terminal = { write: (text: string | Uint8Array) => void written.push(text.toString()), note: () => {} };
    const verified = verify({ db: database.db, checks: ledgerChecks, terminal }, {});
    await expect(verified).rejects.toMatchObject({ exitCode: 1 });
    expect(written.join('')).toMatch(lineOf('BROKEN', check));
  });

  test('each invariant has a corruption; those of settlements, refunds and receipts are in their own tests', () => {
    const planted = new Set<string>(CORRUPTIONS.map(([, , check]) => check));
    const own = ledgerChecks.filter(
      (check) => ![...SETTLEMENT_CHECKS, ...RECEIPT_CHECKS, ...REFUND_CHECKS].includes(check),
    );
    expect(own.map(({ description }) => description).filter((description) => !planted.has(description))).toEqual([]);
  });
});
