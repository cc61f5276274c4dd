import { accessOperatorRoutes } from '../../src/access/operator-routes.ts';
import { runOpsCommand } from '../../src/app/commands/ops-commands.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createTransactionRunner } from '../../src/outbox/record.ts';
import { buildPendingPayment, PAID } from '../support/build.ts';
import { createTestDatabase } from '../support/database.ts';
import { requestSettlement, linkAccount, withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { PEPPER, runOps, startDesk, type Desk } from './desk.ts';

let desk: Desk;
let scope: MerchantScope;

beforeAll(async () => {
  desk = await startDesk();
});
beforeEach(async () => {
  scope = await buildFreeMerchant(desk.world);
});
afterAll(() => desk.close());

const run = (...args: string[]) => runOps(desk, args);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).text);

/** A held payment: its transaction, and what says which payment of it is meant. */
async function held(): Promise<[string, string, string]> {
  const payment = await buildPendingPayment(desk.world, scope);
  desk.world.provider.returns({ ...PAID, amountSantim: 8_000n });
  await desk.world.checkAttempt(payment.attemptId, { notifyWorkflow: false });
  return [payment.transactionId, '--attempt', payment.attemptId];
}

test('the queue is a table, or JSON, and a held payment in it is accepted and noted as this operator', async () => {
  const payment = await held();
  const [transactionId] = payment;
  const { text, exitCode } = await run('queue', '--merchant', scope.merchantId);
  expect(exitCode).toBe(0);
  expect(text).toMatch(
    /^since +kind +id +merchantId +amount +what\n\S+ +PAYMENT_HELD +pat_\w+ +mrc_\w+ +80 +txn_\w+: another/,
  );
  const decided = await json('accept', ...payment, '--operator', desk.people.support.operatorId);
  expect(decided).toMatchObject({ transactionId, status: 'SUCCESS', decision: 'ACCEPTED', received: 80 });
  expect(await json('queue', '--merchant', scope.merchantId)).toEqual([]);
  const [entry] = await json('audit', '--resource', transactionId);
  expect(entry).toMatchObject({ action: 'payment.accept', operatorId: desk.people.support.operatorId });
});

test('money that went back needs a reason and a reference', async () => {
  const payment = await held();
  expect((await run('reject', ...payment)).text).toContain('--reason is needed');
  expect((await run('reject', ...payment, '--reason', 'Too little')).text).toContain('--reference is needed');
  const back = await json('reject', ...payment, '--reason', 'Too little', '--reference', 'RET-1');
  expect(back).toMatchObject({ status: 'FAILED', decision: 'RETURNED', reference: 'RET-1' });
});

test('an operator without the role is refused, one that is not there is not found, and nothing is noted', async () => {
  const payment = await held();
  const [transactionId] = payment;
  const refused = await run('accept', ...payment, '--operator', desk.people.viewer.operatorId);
  expect([refused.exitCode, refused.text]).toEqual([
    3,
    expect.stringContaining('role support or finance or admin; this one is viewer'),
  ]);
  expect((await run('accept', ...payment, '--operator', newId('opr'))).exitCode).toBe(4);
  expect((await run('accept', newId('txn'), '--attempt', newId('pat'))).exitCode).toBe(4);
  expect((await run('accept', transactionId)).text).toContain('--attempt is needed');
  expect((await run('accept')).exitCode).toBe(2);
  expect((await run('approve', transactionId)).exitCode).toBe(2);
  expect(await desk.audited(transactionId)).toEqual([]);
});

test('nothing live is decided or listed without --live', async () => {
  const payment = await held();
  const [transactionId] = payment;
  for (const table of ['transaction', 'payment_attempt', 'checkout_session']) {
    await rows(desk.database.db, `UPDATE ${table} SET environment = 'live' WHERE merchant_id = :merchantId`, {
      merchantId: scope.merchantId,
    });
  }
  const hint = /^These are the sandbox's; 1 more are live: add --live\.\nsince +kind/;
  expect((await run('queue', '--merchant', scope.merchantId)).text).toMatch(hint);
  expect(await json('queue', '--merchant', scope.merchantId, '--live')).toHaveLength(1);
  const refused = await run('reject', ...payment, '--reason', 'x', '--reference', 'y');
  expect([refused.exitCode, refused.text]).toEqual([2, expect.stringContaining('is live: add --live')]);
  expect(await desk.audited(transactionId)).toEqual([]);
  expect(await json('queue', '--merchant', scope.merchantId, '--live')).toHaveLength(1);
  // Put back: the ledger's journal of it is the sandbox's.
  for (const table of ['transaction', 'payment_attempt', 'checkout_session']) {
    await rows(desk.database.db, `UPDATE ${table} SET environment = 'sandbox' WHERE merchant_id = :merchantId`, {
      merchantId: scope.merchantId,
    });
  }
});

test('a linked bank account is verified by its id, and rejected later', async () => {
  await linkAccount(desk.world, scope);
  const [account] = await rows<{ id: string }>(
    desk.database.db,
    `UPDATE bank_account SET status = 'PENDING', decided_by = NULL, decided_at = NULL, verified_at = NULL WHERE merchant_id = :merchantId
     RETURNING id`,
    { merchantId: scope.merchantId },
  );
  const id = account?.id ?? '';
  expect(await json('approve', id)).toMatchObject({ bankAccountId: id, status: 'VERIFIED' });
  expect((await run('approve', newId('bac'))).exitCode).toBe(4);
  expect(await json('reject', id, '--reason', 'Sold since')).toMatchObject({ status: 'REJECTED' });
  expect((await run('approve', id)).exitCode).toBe(1);
  expect(await desk.audited(id)).toEqual(['bank-account.verify', 'bank-account.reject']);
});

test('an application is approved by the number of what was read, and not a later one', async () => {
  const { merchantId } = scope;
  await rows(
    desk.database.db,
    `INSERT INTO kyc_application (merchant_id, environment, status, submissions, submitted_at)
     VALUES (:merchantId, 'live', 'SUBMITTED', 2, now())`,
    { merchantId },
  );
  const queue = await run('queue', '--live', '--merchant', merchantId);
  expect(queue.text).toContain('KYC application to decide (submission 2)');
  expect((await run('approve', merchantId, '--live')).text).toContain('--submission is needed');
  const unread = await run('approve', merchantId, '--live', '--submission', '1');
  expect([unread.exitCode, unread.text]).toEqual([1, expect.stringContaining('submitted again meanwhile')]);
  expect(await json('approve', merchantId, '--live', '--submission', '2')).toMatchObject({
    status: 'APPROVED',
    tier: 2,
  });
  expect((await run('reject', merchantId, '--live', '--submission', '2', '--reason', 'x')).exitCode).toBe(1);
  expect(await desk.audited(merchantId)).toEqual(['kyc.approve']);
});

test('a withdrawal whose provider does not know is resolved', async () => {
  await fund(desk.world, scope, 1_000_00n);
  const { id } = await withdraw(desk.world, scope);
  await rows(desk.database.db, `UPDATE withdrawal SET stage = 'UNKNOWN' WHERE id = :id`, { id });
  const why = ['--reference', 'CASE-7', '--reason', 'Never paid'];
  expect((await run('resolve', id, '--as', 'paid', ...why)).text).toContain('--as must be completed or failed');
  expect((await run('resolve', id, '--as', 'completed', '--paid', 'all', ...why)).exitCode).toBe(2);
  expect((await run('resolve', id, '--as', 'failed', '--reason', 'x')).text).toContain('--reference is needed');
  expect(await desk.audited(id)).toEqual([]);
  expect(await json('resolve', id, '--as', 'failed', ...why)).toMatchObject({ status: 'FAILED', othersNeeded: 0 });
  expect(await desk.audited(id)).toEqual(['withdrawal.resolve']);
});

test('a settlement is approved, sent and credited, and the bank is not believed twice', async () => {
  await linkAccount(desk.world, scope);
  await fund(desk.world, scope, 100_000n);
  const [paid, failed] = [
    (await requestSettlement(desk.world, scope)).id,
    (await requestSettlement(desk.world, scope)).id,
  ];
  expect((await run('sent', paid)).exitCode).toBe(1);
  for (const id of [paid, failed]) {
    expect(await json('approve', id)).toMatchObject({ status: 'APPROVED', amount: 150 });
    expect(await json('sent', id)).toMatchObject({ status: 'PROCESSING' });
  }
  expect((await run('credited', paid)).text).toContain('--reference is needed');
  expect((await run('credited', paid, '--reference', 'FT-1', '--on', 'today')).exitCode).toBe(2);
  expect((await run('credited', paid, '--reference', 'FT-1', '--amount', '150,5')).exitCode).toBe(2);
  const short = await run('credited', paid, '--reference', 'FT-1', '--amount', '149.50');
  expect([short.exitCode, short.text]).toEqual([
    2,
    expect.stringContaining("must be the settlement's, 150.00 ETB, got 149.50"),
  ]);
  expect(await json('credited', paid, '--reference', 'FT-1', '--amount', '150')).toMatchObject({ status: 'COMPLETED' });
  expect(await json('failed', failed, '--reason', 'Account closed')).toMatchObject({ status: 'FAILED' });
  expect((await run('failed', paid, '--reason', 'Account closed')).exitCode).toBe(1);
  expect(await desk.audited(paid)).toEqual(['settlement.approve', 'settlement.sent', 'settlement.credited']);
  const why = ['--reason', 'Asked the bank'];
  expect((await run('returned', paid, ...why)).text).toContain('--reference is needed');
  expect(await json('returned', paid, '--reference', 'RT-1', ...why)).toMatchObject({ status: 'FAILED' });
  expect(await json('credited', failed, '--reference', 'FT-2')).toMatchObject({
    status: 'FAILED',
    issue: expect.stringContaining('FT-2 is not booked. Book or dismiss it'),
  });
  expect(await json('book-credit', failed, ...why)).toMatchObject({ status: 'COMPLETED' });
  expect((await run('dismiss-credit', failed, ...why)).exitCode).toBe(1);
});

test('a merchant with live keys is suspended only with --live', async () => {
  const { merchantId } = scope;
  await desk.merchantKey(merchantId, 'live');
  expect((await run('suspend', merchantId, '--reason', 'Fraud')).exitCode).toBe(2);
  expect(await json('suspend', merchantId, '--reason', 'Fraud', '--live')).toMatchObject({ status: 'SUSPENDED' });
  expect(await json('resume', merchantId, '--reason', 'A mistake', '--live')).toMatchObject({ status: 'ACTIVE' });
  expect((await run('merchants')).text).toContain(merchantId);
});

test('holidays are listed, added, moved, confirmed, switched and removed', async () => {
  const listed = await run('holidays', '--year', '2027');
  expect(listed.text).toMatch(/hol_GENNA2027 +2027-01-07 +Genna +closed +true +true/);
  const { holidayId } = await json('holidays', 'add', '2033-10-13', 'Election');
  expect(await json('holidays', 'move', holidayId, '2033-10-14')).toMatchObject({ date: '2033-10-14' });
  expect(await json('holidays', 'off', holidayId)).toMatchObject({ active: 'false' });
  expect(await json('holidays', 'on', holidayId)).toMatchObject({ active: 'true' });
  expect(await json('holidays', 'confirm', holidayId)).toMatchObject({ confirmed: 'true' });
  expect((await run('holidays', 'remove', holidayId)).exitCode).toBe(0);
  expect((await run('holidays', 'move', 'hol_none', '2033-10-14')).exitCode).toBe(4);
  expect((await run('holidays', 'add', '2033-13-01', 'Nothing')).exitCode).toBe(2);
  expect((await run('holidays', '--year', '27')).exitCode).toBe(2);
  expect((await run('holidays', 'add', '2033-10-13', 'Bank', 'Holiday')).text).toContain('Put the name in quotes');
  const mistyped = await run('holidyas');
  expect([mistyped.exitCode, mistyped.text]).toEqual([2, expect.stringContaining('Did you mean "holidays"?')]);
  expect((await run('queue', scope.merchantId)).text).toContain('There is nothing to do with');
});

test('the first operator of a new installation must be an admin, who then hires and makes keys', async () => {
  const empty = await createTestDatabase();
  try {
    let text = '';
    const ops = async (...args: string[]) => {
      text = '';
      return runOpsCommand([...args, '--json'], {
        db: empty.db,
        runInTransaction: createTransactionRunner(empty.db, () => {}),
        clock: desk.clock,
        demoOperatorId: newId('opr'),
        routes: accessOperatorRoutes({ db: empty.db, clock: desk.clock, pepper: PEPPER }),
        write: (part) => void (text += part.toString()),
      });
    };
    expect(await ops('hire', 'Sara', 'sara@meskot.example', 'finance')).toBe(2);
    expect(await ops('hire', 'Sara', 'sara@meskot.example', 'admin')).toBe(0);
    const { operatorId } = JSON.parse(text);
    expect(await ops('hire', 'Abel', 'abel@meskot.example', 'finance')).toBe(2);
    expect(text).toContain('Say who acts: --operator');
    expect(await ops('hire', 'Abel', 'abel@meskot.example', 'finance', '--operator', operatorId)).toBe(0);
    expect(await ops('hire', 'Abel', 'ABEL@meskot.example', 'finance', '--operator', operatorId)).toBe(1);
    expect(await ops('key', operatorId, '--operator', operatorId)).toBe(0);
    expect(JSON.parse(text).secret).toMatch(/^ok_/);
    expect(await ops('staff')).toBe(0);
    expect(JSON.parse(text).map(({ name }: { name: string }) => name)).toEqual(['Abel', 'Sara']);
  } finally {
    await empty.drop();
  }
});
