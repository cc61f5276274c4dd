import { readBalance } from '../../src/ledger/balance.ts';
import { rows } from '../../src/lib/db.ts';
import type { Environment, MerchantScope } from '../../src/lib/scope.ts';
import { startDesk, type Desk, type Person } from '../backoffice/desk.ts';
import { buildAttempt, buildSession, PAID } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, buildLive, fund } from '../support/withdrawals.ts';

let desk: Desk;
let scope: MerchantScope;
let live: MerchantScope;
let proposer: Person;
let checker: Person;
let references = 0;

beforeAll(async () => {
  desk = await startDesk();
  proposer = desk.people.admin;
  checker = await desk.hire('admin');
});
beforeEach(async () => {
  scope = await buildFreeMerchant(desk.world);
  live = await buildLive(desk.database.db, scope);
});
afterEach(() => expectLedgerHolds(desk.database.db));
afterAll(() => desk.close());

const call = (by: Person, path: string, body: object = {}) =>
  desk.send('POST', `/api/ops/${path}`, { key: by.key, body });
const decide = (by: Person, id: string, verb: 'confirm' | 'reject' | 'withdraw', body: object = {}) =>
  call(by, `proposals/${id}/${verb}`, body);
const read = async (id: string) => (await desk.send('GET', `/api/ops/proposals/${id}`)).body.data;
const count = async (table: string) => Number((await desk.database.db(table).count())[0]?.['count']);

/** Proposes the settlement limit of the merchant. */
async function proposeLimit(max = 5_000, by = proposer): Promise<string> {
  const path = `/api/ops/merchants/${scope.merchantId}/settlement-limit`;
  const answer = await desk.send('PUT', path, { key: by.key, body: { min: 100, max, reason: 'Contract' } });
  expect(answer.status).toBe(202);
  return answer.body.data.proposalId;
}
const limit = async () => (await desk.send('GET', `/api/ops/merchants/${scope.merchantId}/settlement-limit`)).body.data;

const RULE = { channel: 'TELEBIRR', reason: 'Contract' };
const SETTINGS: [string, string, object, object][] = [
  [
    'fees',
    'merchant.change-fees',
    { rules: [{ direction: 'PAY_IN', channel: RULE.channel, basisPoints: 100 }] },
    { rules: [{ direction: 'PAY_IN', channel: RULE.channel, basisPoints: 9_999 }] },
  ],
  [
    'limits',
    'merchant.change-limits',
    { rules: [{ direction: 'PAY_IN', channel: RULE.channel, min: 1, max: 2 }] },
    { rules: [{ direction: 'PAY_IN', channel: RULE.channel, min: 3, max: 2 }] },
  ],
  [
    'review-policy',
    'merchant.change-review',
    { largeAmount: 10, twoPersonAmount: 20, perHourMax: 3 },
    { largeAmount: 30, twoPersonAmount: 20, perHourMax: 3 },
  ],
  ['settlement-limit', 'merchant.change-settlement-limit', { min: 1, max: 2 }, { min: 3, max: 2 }],
  ['kyc/tier', 'kyc.change-tier', { environment: 'live', tier: 1 }, { environment: 'live', tier: 99 }],
];

describe.each(SETTINGS)('a change of %s', (setting, action, wanted, unusable) => {
  const put = (by: Person, body: object) =>
    desk.send('PUT', `/api/ops/merchants/${scope.merchantId}/${setting}`, {
      key: by.key,
      body: { ...body, reason: 'Contract' },
    });

  test('is proposed by one operator, changes nothing before another confirms it, and is audited with both', async () => {
    const proposed = await put(proposer, wanted);
    expect(proposed.status).toBe(202);
    const { proposalId, ...proposal } = proposed.body.data;
    expect(proposal).toMatchObject({ action, status: 'PENDING', proposedBy: proposer.operatorId, reason: 'Contract' });
    expect(proposal.before).not.toEqual(proposal.after);
    expect(await desk.audited(scope.merchantId)).toEqual([]);
    expect(await desk.audited(proposalId)).toEqual(['proposal.create']);
    // What is proposed twice is not yet so.
    expect((await put(proposer, wanted)).status).toBe(202);

    const own = await decide(proposer, proposalId, 'confirm');
    expect([own.status, own.body.error.code, own.body.message]).toEqual([
      409,
      'INVALID_STATE',
      'You proposed this: another operator has to confirm it. You can withdraw it.',
    ]);
    expect(await desk.audited(scope.merchantId)).toEqual([]);

    const confirmed = await decide(checker, proposalId, 'confirm');
    expect(confirmed.body.data).toMatchObject({ status: 'CONFIRMED', decidedBy: checker.operatorId });
    const log = await desk.send('GET', `/api/ops/audit?resourceId=${scope.merchantId}`);
    expect(log.body.data).toMatchObject([
      { action, operatorId: checker.operatorId, proposedBy: proposer.operatorId, reason: 'Contract' },
    ]);
    expect(log.body.data[0].before).toEqual(proposal.before);
    expect((await put(proposer, wanted)).status).toBe(200);
  });

  test('that is unusable is rejected at once, and leaves nothing', async () => {
    const before = [await count('proposal'), await count('operatorAudit'), await count('outbox')];
    const answer = await put(proposer, unusable);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect([await count('proposal'), await count('operatorAudit'), await count('outbox')]).toEqual(before);
  });
});

test('a tier in the sandbox is changed by one operator', async () => {
  await rows(
    desk.database.db,
    `INSERT INTO kyc_application (merchant_id, environment, status, tier) VALUES (:merchantId, 'sandbox', 'APPROVED', 2)`,
    { merchantId: scope.merchantId },
  );
  const path = `/api/ops/merchants/${scope.merchantId}/kyc/tier`;
  const { status, body } = await desk.send('PUT', path, { body: { environment: 'sandbox', tier: 1, reason: 'Trial' } });
  expect([status, body.data.tier]).toEqual([200, 1]);
});

describe('a proposal', () => {
  test('is not confirmed once what it changes has changed since; it can be rejected', async () => {
    const [first, second] = [await proposeLimit(5_000), await proposeLimit(6_000)];
    expect((await decide(checker, first, 'confirm')).status).toBe(200);
    const outdated = await decide(checker, second, 'confirm');
    expect([outdated.status, outdated.body.error.code, outdated.body.message]).toEqual([
      409,
      'INVALID_STATE',
      'It has changed since this was proposed. Reject the proposal, and propose it again.',
    ]);
    expect(await limit()).toMatchObject({ max: 5_000 });
    expect(await read(second)).toMatchObject({ status: 'PENDING' });
    expect((await decide(checker, second, 'reject', { reason: 'Outdated' })).body.data.status).toBe('REJECTED');
  });

  test('that has expired is not confirmed, and is listed as EXPIRED', async () => {
    const id = await proposeLimit();
    await rows(desk.database.db, 'UPDATE proposal SET expires_at = now() WHERE id = :id', { id });
    const late = await decide(checker, id, 'confirm');
    expect([late.status, late.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect(late.body.message).toContain('This proposal is EXPIRED');
    expect(await limit()).toMatchObject({ own: false });
    const listed = await desk.send('GET', '/api/ops/proposals?status=EXPIRED');
    expect(listed.body.data.map(({ proposalId }: { proposalId: string }) => proposalId)).toContain(id);
    const queue = await desk.send('GET', `/api/ops/queue?kind=PROPOSAL&merchantId=${scope.merchantId}`);
    expect(queue.body.data.items).toEqual([]);
  });

  test('that ten confirm at once is confirmed once', async () => {
    const id = await proposeLimit();
    const answers = await Promise.all(Array.from({ length: 10 }, () => decide(checker, id, 'confirm')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    expect(await desk.audited(scope.merchantId)).toEqual(['merchant.change-settlement-limit']);
  });

  test('is confirmed and rejected only with the permission of its action', async () => {
    const id = await proposeLimit();
    for (const role of ['viewer', 'support', 'finance'] as const) {
      for (const verb of ['confirm', 'reject'] as const) {
        const answer = await decide(desk.people[role], id, verb, { reason: 'Fine' });
        expect([answer.status, answer.body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
      }
    }
    expect(await read(id)).toMatchObject({ status: 'PENDING' });
  });

  test('is rejected by another operator with a reason, and withdrawn by its proposer alone', async () => {
    const [rejected, withdrawn] = [await proposeLimit(), await proposeLimit()];
    expect((await decide(checker, rejected, 'reject')).body.message).toBe('reason is required');
    expect((await decide(proposer, rejected, 'reject', { reason: 'No' })).body.error.code).toBe('INVALID_STATE');
    await decide(checker, rejected, 'reject', { reason: 'Too high' });
    expect((await decide(checker, withdrawn, 'withdraw')).body.error.code).toBe('INVALID_STATE');
    await decide(proposer, withdrawn, 'withdraw');
    expect(await read(rejected)).toMatchObject({ status: 'REJECTED', decisionReason: 'Too high' });
    expect(await read(withdrawn)).toMatchObject({ status: 'WITHDRAWN', decidedBy: proposer.operatorId });
    for (const id of [rejected, withdrawn]) {
      expect((await decide(checker, id, 'confirm')).body.error.code).toBe('INVALID_STATE');
    }
    expect(await desk.audited(rejected)).toEqual(['proposal.create', 'proposal.reject']);
    expect(await desk.audited(withdrawn)).toEqual(['proposal.create', 'proposal.withdraw']);
    expect(await limit()).toMatchObject({ own: false });
  });

  test('waits in the work queue with its calls and its change', async () => {
    const id = await proposeLimit();
    const queue = await desk.send('GET', `/api/ops/queue?kind=PROPOSAL&merchantId=${scope.merchantId}`);
    expect(queue.body.data.items).toMatchObject([
      {
        kind: 'PROPOSAL',
        id,
        detail: { action: 'merchant.change-settlement-limit', after: { max: 5_000 } },
        links: {
          read: `/api/ops/proposals/${id}`,
          confirm: `/api/ops/proposals/${id}/confirm`,
          reject: `/api/ops/proposals/${id}/reject`,
        },
      },
    ]);
    await decide(checker, id, 'confirm');
    const after = await desk.send('GET', `/api/ops/queue?kind=PROPOSAL&merchantId=${scope.merchantId}`);
    expect(after.body.data.items).toEqual([]);
  });
});

/** From here on two operators decide, in santim. */
const TWO = 20_000n;
const ONE = TWO - 1n;
const setAmount = (merchantId: string | null) =>
  rows(
    desk.database.db,
    merchantId === null
      ? `UPDATE review_policy SET large_amount_santim = 10000, two_person_santim = ${TWO} WHERE merchant_id IS NULL`
      : `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
         VALUES ('${merchantId}', 10000, ${TWO}, 20)`,
  );

async function held(of: MerchantScope, receivedSantim: bigint): Promise<{ path: string; attemptId: string }> {
  const { sessionId, transactionId } = await buildSession(desk.world, of, { amountSantim: 50_000n });
  const attemptId = await buildAttempt(desk.world, { ...of, sessionId });
  desk.world.provider.returns({ ...PAID, amountSantim: receivedSantim });
  await desk.world.checkAttempt(attemptId, { notifyWorkflow: false });
  return { path: `transactions/${transactionId}`, attemptId };
}

describe('held money', () => {
  const accept = async (of: MerchantScope, amount: bigint) => {
    const { path, attemptId } = await held(of, amount);
    return call(proposer, `${path}/accept`, { attemptId, reason: 'The merchant agrees' });
  };
  const available = async () => (await readBalance(desk.database.db, live)).availableSantim;

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
    const confirmed = await decide(desk.people.support, proposalId, 'confirm');
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
    expect((await decide(checker, toReturn.body.data.proposalId, 'confirm')).status).toBe(200);
    const late = await decide(checker, toAccept.body.data.proposalId, 'confirm');
    expect([late.status, late.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect(await available()).toBe(0n);
  });

  test('is accepted in the sandbox by one operator, whatever the amount', async () => {
    await setAmount(scope.merchantId);
    expect((await accept(scope, TWO)).status).toBe(200);
  });
});

describe("money on the platform's bank account", () => {
  const book = (environment: Environment, amountSantim: bigint, reference: string) =>
    call(proposer, 'bank-money/unmatched', {
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
    const listed = async () => (await desk.send('GET', `/api/ops/bank-money?reference=${wanted}`)).body.data;
    expect(await listed()).toEqual([]);
    expect((await decide(desk.people.finance, proposed.body.data.proposalId, 'confirm')).status).toBe(200);
    const [{ bankMoneyId }] = await listed();
    expect((await book('live', TWO, wanted)).status).toBe(200);

    const allocation = { as: 'ALLOCATED', channel: 'TELEBIRR', reason: 'Their remittance' };
    const allocated = await call(proposer, `bank-money/${bankMoneyId}/settle`, allocation);
    expect(allocated.status).toBe(202);
    expect(await listed()).toMatchObject([{ outcome: null }]);
    expect((await decide(checker, allocated.body.data.proposalId, 'confirm')).status).toBe(200);
    expect(await listed()).toMatchObject([{ outcome: 'ALLOCATED' }]);
  });

  test('of a large remittance, a large recovery, or the correction of either, is proposed too', async () => {
    await setAmount(null);
    const { db } = desk.database;
    const transfer = { environment: 'live', channel: 'TELEBIRR', bankReference: reference() };
    expect((await call(proposer, 'bank-money/transfers', { ...transfer, amount: 199.99 })).status).toBe(201);
    const large = { ...transfer, bankReference: reference(), amount: 200 };
    const { proposalId } = (await call(proposer, 'bank-money/transfers', large)).body.data;
    expect((await decide(checker, proposalId, 'confirm')).status).toBe(200);
    const [{ bankMoneyId }] = (await desk.send('GET', `/api/ops/bank-money?reference=${large.bankReference}`)).body
      .data;
    const correction = { as: 'CORRECTED', reason: 'Of Awash' };
    expect((await call(proposer, `bank-money/${bankMoneyId}/settle`, correction)).status).toBe(202);

    await fund(desk.world, live, 50_000n);
    const { id } = await withdraw(desk.world, live);
    const plant = (paid: string) => rows(db, `UPDATE withdrawal SET ${paid} WHERE id = :id`, { id });
    const { stage } = await db('withdrawal').where({ id }).first('stage');
    await plant(`status = 'SUCCESS', stage = 'COMPLETED', paid_santim = amount_santim + ${TWO}`);
    const recovery = { withdrawalId: id, reference: 'AW-1', reason: 'Their mail' };
    const recovered = await call(proposer, 'bank-money/excess', recovery);
    expect([recovered.status, recovered.body.data.after]).toMatchObject([202, { withdrawalId: id, amount: 200 }]);
    // It was never paid: nothing of it is left for the ledger's checks.
    await plant(`status = 'PENDING', stage = '${stage}', paid_santim = NULL`);
  });

  test('that is booked by another operator meanwhile outdates the proposal', async () => {
    await setAmount(null);
    const wanted = reference();
    const [first, second] = [await book('live', TWO, wanted), await book('live', TWO, wanted)];
    expect((await decide(checker, first.body.data.proposalId, 'confirm')).status).toBe(200);
    expect((await decide(checker, second.body.data.proposalId, 'confirm')).body.error.code).toBe('INVALID_STATE');
  });
});
