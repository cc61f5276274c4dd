import { readBalance } from '../../src/ledger/balance.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { expireDueSessions } from '../../src/payments/close-session.ts';
import type { ProviderOutcome } from '../../src/providers/provider.ts';
import type { Evidence } from '../invariants/evidence.ts';
import { eventsOfEnds, onlyListedMoves } from '../invariants/payments.ts';
import {
  ACCEPTED,
  buildAttempt,
  buildMerchant,
  buildPendingPayment,
  buildFixture,
  declined,
  PAID,
  stateOfSession,
  UNKNOWN,
  untilServed,
  type Fixture,
} from '../support/build.ts';
import { codeOf } from '../support/code-of.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { acceptHeld, giveHeldBack, OTHER_AMOUNT, payOtherAmount, type HeldMoney } from './held-money.ts';

/** Of the 80 birr that came 2.5 % are charged, and 15 % tax on that. */
const FEE = { feeSantim: 2_00n, feeTaxSantim: 30n };
const NET = 8_000n - FEE.feeSantim - FEE.feeTaxSantim;
const FULL_NET = 10_050n - 251n - 38n;

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
afterEach(async () => {
  await expectLedgerHolds(database.db);
  const evidence = { db: database.db } as Partial<Evidence> as Evidence;
  expect([...(await onlyListedMoves(evidence)), ...(await eventsOfEnds(evidence))]).toEqual([]);
});
afterAll(() => database.drop());

const accept = (payment: HeldMoney) => acceptHeld(fixture, payment);
const giveBack = (payment: HeldMoney, reference?: string) => giveHeldBack(fixture, payment, reference);
const held = () => payOtherAmount(fixture, scope);
const available = async () => (await readBalance(database.db, scope)).availableSantim;
/** The first try was declined and has brought another amount after all; the second one is under way. */
async function heldBesideAnother(...answers: ProviderOutcome[]): Promise<{ first: HeldMoney; second: string }> {
  const first = await buildPendingPayment(fixture, scope);
  fixture.provider.returns(declined(true), ACCEPTED, OTHER_AMOUNT, ...answers);
  await fixture.checkAttempt(first.attemptId, { notifyWorkflow: false });
  fixture.pass(1_000);
  const second = await buildAttempt(fixture, { ...scope, sessionId: first.sessionId });
  await fixture.checkAttempt(second, { notifyWorkflow: false });
  await fixture.checkAttempt(first.attemptId, { notifyWorkflow: false });
  return { first, second };
}

/** The same without another try: the session is open, and no longer for long. */
async function heldWhileOpen(): Promise<HeldMoney> {
  const payment = await buildPendingPayment(fixture, scope);
  fixture.provider.returns(declined(true), OTHER_AMOUNT);
  await fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
  await fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
  return payment;
}

const expireDue = () => expireDueSessions(fixture.runInTransaction, fixture.clock(), 100);

/** Paid by a second try, then by the first one as well. */
async function paidTwice(): Promise<HeldMoney> {
  const first = await buildPendingPayment(fixture, scope);
  fixture.provider.returns(declined(true), ACCEPTED, PAID);
  await fixture.checkAttempt(first.attemptId, { notifyWorkflow: false });
  fixture.pass(1_000);
  const second = await buildAttempt(fixture, { ...scope, sessionId: first.sessionId });
  await fixture.checkAttempt(second, { notifyWorkflow: false });
  await fixture.checkAttempt(second, { notifyWorkflow: false });
  await fixture.checkAttempt(first.attemptId, { notifyWorkflow: false });
  return first;
}

describe('a held payment of another amount', () => {
  test('accepted makes the transaction SUCCESS with the received amount less the fee, with events', async () => {
    const payment = await held();
    const { transaction, isNew } = await accept(payment);
    expect(isNew).toBe(true);
    expect(transaction).toMatchObject({ status: 'SUCCESS', holdReason: null, receivedSantim: 8_000n, ...FEE });
    expect(await available()).toBe(NET);
    const now = await stateOfSession(database.db, payment.sessionId);
    expect(now).toMatchObject({ session: 'COMPLETED', attempts: ['SUCCEEDED'], confirmedLate: false });
    expect(now['events']).toEqual(['checkout.completed', 'payment.created', 'payment.succeeded']);
    expect(now['timeline']).toEqual(expect.arrayContaining(['payment.held', 'payment.accepted', 'payment.succeeded']));
  });

  test('accepted eight times concurrently is posted once', async () => {
    const payment = await held();
    const decisions = await Promise.all(Array.from({ length: 8 }, () => accept(payment)));
    expect(decisions.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await available()).toBe(NET);
    expect(await codeOf(giveBack(payment))).toBe('INVALID_STATE');
  });

  test('accepted and returned concurrently gets one decision', async () => {
    const payment = await held();
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => codeOf(index % 2 === 0 ? accept(payment) : giveBack(payment))),
    );
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(4);
    expect(outcomes.filter((outcome) => outcome === 'INVALID_STATE')).toHaveLength(4);
    expect([0n, NET]).toContain(await available());
  });

  test('returned makes the transaction FAILED, with a timeline entry and no money for the merchant', async () => {
    const payment = await held();
    const { transaction } = await giveBack(payment);
    expect(transaction).toMatchObject({ status: 'FAILED', holdReason: null, failure: { code: 'REJECTED' } });
    expect(await available()).toBe(0n);
    const now = await stateOfSession(database.db, payment.sessionId);
    expect(now).toMatchObject({ session: 'FAILED', events: ['checkout.failed', 'payment.created'] });
    const sql = `SELECT detail FROM timeline WHERE resource_id = :id AND kind = 'payment.returned'`;
    expect(await rows(database.db, sql, { id: payment.transactionId })).toEqual([
      {
        detail: {
          attemptId: payment.attemptId,
          receivedSantim: 8_000,
          currency: 'ETB',
          reference: 'RET-1',
          reason: 'Too little',
          failed: true,
        },
      },
    ]);
    expect((await giveBack(payment)).isNew).toBe(false);
    expect(await codeOf(accept(payment))).toBe('INVALID_STATE');
  });

  test('received after the expiry is accepted as a late confirmation', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(ACCEPTED, OTHER_AMOUNT);
    fixture.pass(31 * 60_000);
    await fixture.expireAttempt(payment.attemptId, fixture.clock());
    await fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      session: 'EXPIRED',
      attempts: ['HELD'],
    });
    const { transaction } = await accept(payment);
    expect(transaction).toMatchObject({ status: 'SUCCESS', confirmedLate: true });
    expect(await available()).toBe(NET);
  });

  test('received after the expiry and returned leaves the transaction EXPIRED, without another event', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(ACCEPTED, OTHER_AMOUNT);
    fixture.pass(31 * 60_000);
    await fixture.expireAttempt(payment.attemptId, fixture.clock());
    await fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
    const { transaction } = await giveBack(payment);
    expect(transaction).toMatchObject({ status: 'EXPIRED', holdReason: null });
    const { events } = await stateOfSession(database.db, payment.sessionId);
    expect(events).toEqual(['checkout.expired', 'payment.created']);
  });

  test('returned during another attempt leaves that attempt in progress', async () => {
    const { first, second } = await heldBesideAnother(PAID);
    expect((await giveBack(first)).transaction).toMatchObject({ status: 'PENDING', holdReason: null });
    await fixture.checkAttempt(second, { notifyWorkflow: false });
    expect(await stateOfSession(database.db, first.sessionId)).toMatchObject({ transaction: 'SUCCESS' });
    expect(await available()).toBe(FULL_NET);
  });

  test('accepted after another attempt has paid is released, and the transaction stays as it is', async () => {
    const { first, second } = await heldBesideAnother(PAID);
    await fixture.checkAttempt(second, { notifyWorkflow: false });
    const { transaction } = await accept(first);
    expect(transaction).toMatchObject({ status: 'SUCCESS', holdReason: null, receivedSantim: null, feeSantim: 251n });
    expect(await stateOfSession(database.db, first.sessionId)).toMatchObject({ attempts: ['DUPLICATE', 'SUCCEEDED'] });
    expect(await available()).toBe(FULL_NET + NET);
  });

  test('beside another held one: the hold ends with the decision about the last of them', async () => {
    const heldTwice = async () => {
      const { first, second } = await heldBesideAnother(OTHER_AMOUNT);
      await fixture.checkAttempt(second, { notifyWorkflow: false });
      return [first, { ...first, attemptId: second }] as const;
    };
    const [returned, last] = await heldTwice();
    expect((await giveBack(returned)).transaction).toMatchObject({ status: 'PENDING', holdReason: 'WRONG_AMOUNT' });
    expect((await giveBack(last)).transaction).toMatchObject({ status: 'FAILED', holdReason: null });
    const [accepted, other] = await heldTwice();
    expect((await accept(accepted)).transaction).toMatchObject({ status: 'SUCCESS', holdReason: 'WRONG_AMOUNT' });
    expect((await accept(other)).transaction).toMatchObject({ status: 'SUCCESS', holdReason: null });
    expect(await available()).toBe(2n * NET);
  });
});

describe('a second payment', () => {
  test('accepted is released to the merchant, and the transaction stays as it is', async () => {
    const payment = await paidTwice();
    const before = await stateOfSession(database.db, payment.sessionId);
    const { transaction } = await accept(payment);
    expect(transaction).toMatchObject({ status: 'SUCCESS', receivedSantim: null, feeSantim: 251n });
    const after = await stateOfSession(database.db, payment.sessionId);
    expect(after).toMatchObject({ version: before['version'], events: before['events'] });
    expect(await available()).toBe(2n * FULL_NET);
  });

  test('returned leaves the transaction SUCCESS', async () => {
    const payment = await paidTwice();
    expect((await giveBack(payment)).transaction.status).toBe('SUCCESS');
    expect(await available()).toBe(FULL_NET);
  });
});

describe('a transaction with held money does not end by itself', () => {
  test('at its expiry: after the return of the money it expires', async () => {
    const payment = await heldWhileOpen();
    fixture.pass(31 * 60_000);
    expect(await expireDue()).toBe(0);
    expect(await fixture.closeUnpaid(payment.sessionId, 'CANCELLED')).toBe('OPEN');
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      session: 'OPEN',
      transaction: 'PENDING',
    });
    expect((await giveBack(payment)).transaction).toMatchObject({ status: 'PENDING', holdReason: null });
    expect(await expireDue()).toBe(1);
    const now = await stateOfSession(database.db, payment.sessionId);
    expect(now).toMatchObject({ transaction: 'EXPIRED', events: ['checkout.expired', 'payment.created'] });
  });

  test('at its expiry: accepted money makes it SUCCESS, not late', async () => {
    const payment = await heldWhileOpen();
    fixture.pass(31 * 60_000);
    expect(await expireDue()).toBe(0);
    expect((await accept(payment)).transaction).toMatchObject({ status: 'SUCCESS', confirmedLate: false });
    expect(await available()).toBe(NET);
  });

  test('after a hard decline of another attempt: the return ends it, with one event', async () => {
    const { first, second } = await heldBesideAnother(declined(false));
    await fixture.checkAttempt(second, { notifyWorkflow: false });
    const stays = { session: 'PROCESSING', transaction: 'PENDING', attempts: ['HELD', 'DECLINED'] };
    expect(await stateOfSession(database.db, first.sessionId)).toMatchObject({ ...stays, events: ['payment.created'] });
    expect((await giveBack(first)).transaction).toMatchObject({ status: 'FAILED', holdReason: null });
    const { events } = await stateOfSession(database.db, first.sessionId);
    expect(events).toEqual(['checkout.failed', 'payment.created']);
  });

  test('after another attempt expired unpaid', async () => {
    const { first, second } = await heldBesideAnother(ACCEPTED);
    fixture.pass(31 * 60_000);
    expect(await fixture.expireAttempt(second, fixture.clock())).toMatchObject({
      final: true,
      sessionStatus: 'PROCESSING',
    });
    const now = await stateOfSession(database.db, first.sessionId);
    expect(now).toMatchObject({ transaction: 'PENDING', attempts: ['HELD', 'ABANDONED'], needsReconciliation: false });
    expect((await accept(first)).transaction).toMatchObject({ status: 'SUCCESS', confirmedLate: false });
  });

  test('after another attempt expired with an unknown outcome, which is flagged', async () => {
    const { first, second } = await heldBesideAnother(UNKNOWN);
    fixture.pass(25 * 60 * 60_000);
    await fixture.expireAttempt(second, fixture.clock());
    const now = await stateOfSession(database.db, first.sessionId);
    expect(now).toMatchObject({ transaction: 'PENDING', attempts: ['HELD', 'ABANDONED'], needsReconciliation: true });
    expect((await giveBack(first)).transaction).toMatchObject({ status: 'FAILED', needsReconciliation: true });
  });

  test('when it expires just before the money arrives: session and transaction agree', async () => {
    for (let round = 0; round < 10; round += 1) {
      const payment = await buildPendingPayment(fixture, scope);
      fixture.provider.returns(declined(true), OTHER_AMOUNT);
      await fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
      fixture.pass(31 * 60_000);
      await Promise.all([
        untilServed(() => fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false })),
        untilServed(expireDue),
        untilServed(() => fixture.closeUnpaid(payment.sessionId, 'EXPIRED')),
      ]);
      const { session, transaction, holdReason: why, attempts } = await stateOfSession(database.db, payment.sessionId);
      expect([why, attempts]).toEqual(['WRONG_AMOUNT', ['HELD']]);
      expect([
        ['OPEN', 'PENDING'],
        ['EXPIRED', 'EXPIRED'],
      ]).toContainEqual([session, transaction]);
    }
  });
});
