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
import { CORRUPTIONS } from './corruptions.ts';

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
  let sound: TestDatabase;
  let database: TestDatabase;
  let payments: Record<'late' | 'doubled' | 'held' | 'accepted', Awaited<ReturnType<typeof pay>>>;
  beforeAll(async () => {
    sound = await createTestDatabase();
    const world = buildWorld(sound.db);
    const owner = await buildMerchant(sound.db);
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
  beforeEach(async () => {
    database = await createTestDatabase(sound);
  });
  afterEach(() => database.drop());
  afterAll(() => sound.drop());

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
