import { readBalance } from '../../src/ledger/balance.ts';
import { rows } from '../../src/lib/db.ts';
import type { Environment, MerchantScope } from '../../src/lib/scope.ts';
import { startBackOffice, type BackOffice, type Person } from '../backoffice/back-office.ts';
import { buildAttempt, buildSession, PAID } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, buildLive, fund } from '../support/withdrawals.ts';

let backOffice: BackOffice;
let scope: MerchantScope;
let live: MerchantScope;
let proposer: Person;
let checker: Person;
let references = 0;

beforeAll(async () => {
  backOffice = await startBackOffice();
  proposer = backOffice.people.admin;
  checker = await backOffice.hire('admin');
});
beforeEach(async () => {
  scope = await buildFreeMerchant(backOffice.fixture);
  live = await buildLive(backOffice.database.db, scope);
});
afterEach(() => expectLedgerHolds(backOffice.database.db));
afterAll(() => backOffice.close());

const call = (by: Person, path: string, body: object = {}) =>
  backOffice.send('POST', `/api/ops/${path}`, { key: by.key, body });
const confirm = (by: Person, id: string) => call(by, `proposals/${id}/confirm`);
const count = async (table: string) => Number((await backOffice.database.db.knex()(table).count())[0]?.['count']);

/** From here on two operators decide, in santim. */
const TWO = 20_000n;
const ONE = TWO - 1n;
const setAmount = (merchantId: string | null) =>
  rows(
    backOffice.database.db,
    merchantId === null
      ? `UPDATE review_policy SET large_amount_santim = 10000, two_person_santim = ${TWO} WHERE merchant_id IS NULL`
      : `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
         VALUES ('${merchantId}', 10000, ${TWO}, 20)`,
  );

async function held(
  of: MerchantScope,
  receivedSantim: bigint,
  currency = 'ETB',
): Promise<{ path: string; attemptId: string }> {
  const { sessionId, transactionId } = await buildSession(backOffice.fixture, of, { amountSantim: 50_000n });
  const attemptId = await buildAttempt(backOffice.fixture, { ...of, sessionId });
  backOffice.fixture.provider.returns({ ...PAID, amountSantim: receivedSantim, currency });
  await backOffice.fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  return { path: `transactions/${transactionId}`, attemptId };
}

describe('held money', () => {
  const accept = async (of: MerchantScope, amount: bigint) => {
    const { path, attemptId } = await held(of, amount);
    return call(proposer, `${path}/accept`, { attemptId, reason: 'The merchant agrees' });
  };
  const available = async () => (await readBalance(backOffice.database.db, live)).availableSantim;

  test('is accepted in live by one operator below the two-person amount of its merchant', async () => {
    await setAmount(scope.merchantId);
    expect((await accept(live, ONE)).status).toBe(200);
  });

  test('is accepted in live by two operators from that amount on: only the second one books and enqueues', async () => {
    await setAmount(scope.merchantId);
    const messages = async () => [await count('outbox'), await count('webhookEvent'), await count('ledgerJournal')];
    const { path, attemptId } = await held(live, TWO);
    const before = await messages();
    const proposed = await call(proposer, `${path}/accept`, { attemptId, reason: 'The merchant agrees' });
    expect(proposed.status).toBe(202);
    expect(proposed.body.data).toMatchObject({
      action: 'payment.accept',
      environment: 'live',
      after: { status: 'SUCCESS', attemptId, received: 200 },
    });
    expect(await messages()).toEqual(before);
    expect(await available()).toBe(0n);
    const { proposalId } = proposed.body.data;
    const confirmed = await confirm(backOffice.people.support, proposalId);
    expect([confirmed.status, confirmed.body.message]).toEqual([200, 'The money is given to the merchant']);
    expect(await available()).toBe(TWO);
    expect((await messages())[2]).toBe((before[2] ?? 0) + 1);
  });

  test('is returned in live by two operators; decided otherwise meanwhile, the proposal is outdated', async () => {
    await setAmount(scope.merchantId);
    const { path, attemptId } = await held(live, TWO);
    const back = { attemptId, reason: 'Sent back', reference: 'RT-1' };
    const [toReturn, toAccept] = [
      await call(proposer, `${path}/reject`, back),
      await call(proposer, `${path}/accept`, { attemptId }),
    ];
    expect([toReturn.status, toAccept.status]).toEqual([202, 202]);
    expect((await confirm(checker, toReturn.body.data.proposalId)).status).toBe(200);
    const late = await confirm(checker, toAccept.body.data.proposalId);
    expect([late.status, late.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect(await available()).toBe(0n);
  });

  test('of another currency is returned in live by two operators where the expected amount needs them', async () => {
    await setAmount(scope.merchantId);
    const { path, attemptId } = await held(live, 100n, 'USD');
    const back = { attemptId, reason: 'Sent back', reference: 'RT-2' };
    expect((await call(proposer, `${path}/reject`, back)).status).toBe(202);
  });

  test('is accepted in the sandbox by one operator, whatever the amount', async () => {
    await setAmount(scope.merchantId);
    expect((await accept(scope, TWO)).status).toBe(200);
  });
});

describe("money on the platform's bank account", () => {
  const book = (environment: Environment, amountSantim: bigint, reference: string) =>
    call(proposer, 'receipts/unallocated', {
      environment,
      amount: Number(amountSantim) / 100,
      bankReference: reference,
    });
  const reference = () => {
    references += 1;
    return `FT-DUTIES-${references}`;
  };

  test("is booked and allocated in live by two operators from the platform's two-person amount on", async () => {
    await setAmount(null);
    expect((await book('live', ONE, reference())).status).toBe(201);
    expect((await book('sandbox', TWO, reference())).status).toBe(201);
    const wanted = reference();
    const proposed = await book('live', TWO, wanted);
    expect(proposed.status).toBe(202);
    expect(proposed.body.data).toMatchObject({ resourceId: null, after: { reference: wanted, amount: 200 } });
    const listed = async () => (await backOffice.send('GET', `/api/ops/receipts?reference=${wanted}`)).body.data;
    expect(await listed()).toEqual([]);
    expect((await confirm(backOffice.people.finance, proposed.body.data.proposalId)).status).toBe(200);
    const [{ receiptId }] = await listed();
    expect((await book('live', TWO, wanted)).status).toBe(200);

    const allocation = { as: 'ALLOCATED', channel: 'TELEBIRR', reason: 'Their remittance' };
    const allocated = await call(proposer, `receipts/${receiptId}/decide`, allocation);
    expect(allocated.status).toBe(202);
    expect(await listed()).toMatchObject([{ outcome: null }]);
    expect((await confirm(checker, allocated.body.data.proposalId)).status).toBe(200);
    expect(await listed()).toMatchObject([{ outcome: 'ALLOCATED' }]);
  });

  test('of a large remittance, a large recovery, or the correction of either, is proposed too', async () => {
    await setAmount(null);
    const { db } = backOffice.database;
    const transfer = { environment: 'live', channel: 'TELEBIRR', bankReference: reference() };
    expect((await call(proposer, 'receipts/remittances', { ...transfer, amount: 199.99 })).status).toBe(201);
    const large = { ...transfer, bankReference: reference(), amount: 200 };
    const { proposalId } = (await call(proposer, 'receipts/remittances', large)).body.data;
    expect((await confirm(checker, proposalId)).status).toBe(200);
    const [{ receiptId }] = (await backOffice.send('GET', `/api/ops/receipts?reference=${large.bankReference}`)).body
      .data;
    const correction = { as: 'CORRECTED', reason: 'Of Awash' };
    expect((await call(proposer, `receipts/${receiptId}/decide`, correction)).status).toBe(202);

    await fund(backOffice.fixture, live, 50_000n);
    const { id } = await withdraw(backOffice.fixture, live);
    const plant = (paid: string) => rows(db, `UPDATE payout SET ${paid} WHERE id = :id`, { id });
    const { stage } = await db.knex()('payout').where({ id }).first('stage');
    await plant(`status = 'SUCCESS', stage = 'COMPLETED', paid_santim = amount_santim + ${TWO}`);
    const recovery = { withdrawalId: id, reference: 'AW-1', reason: 'Their mail' };
    const recovered = await call(proposer, 'receipts/recoveries', recovery);
    expect([recovered.status, recovered.body.data.after]).toMatchObject([202, { withdrawalId: id, amount: 200 }]);
    // It was never paid: nothing of it is left for the ledger's checks.
    await plant(`status = 'PENDING', stage = '${stage}', paid_santim = NULL`);
  });

  test('that is booked by another operator meanwhile outdates the proposal', async () => {
    await setAmount(null);
    const wanted = reference();
    const [first, second] = [await book('live', TWO, wanted), await book('live', TWO, wanted)];
    expect((await confirm(checker, first.body.data.proposalId)).status).toBe(200);
    expect((await confirm(checker, second.body.data.proposalId)).body.error.code).toBe('INVALID_STATE');
  });
});
