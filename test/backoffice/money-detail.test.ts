import { addisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { OTHER_AMOUNT, payOtherAmount } from '../payments/held-money.ts';
import { PAID, paidReference } from '../support/build.ts';
import { ACCOUNT, requestSettlement, linkAccount } from '../support/settlements.ts';
import { buildFreeMerchant, UNKNOWN_PAYOUT, fund, PAID_OUT, TAKEN } from '../support/withdrawals.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;
let requests = 0;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  scope = await buildFreeMerchant(backOffice.fixture);
});
afterAll(() => backOffice.close());

/** As one of finance. */
const get = async (path: string) =>
  (await backOffice.send('GET', `/api/ops/${path}`, { key: backOffice.people.finance.key })).body.data;
const say = (path: string, body: object = {}) =>
  backOffice.send('POST', `/api/ops/${path}`, { key: backOffice.people.finance.key, body });

type Asked = { of?: MerchantScope; birr?: number; accountName?: string; requestedBy?: string };

async function withdrawal(asked: Asked = {}): Promise<string> {
  const { of = scope, birr = 100, accountName = 'Abebe Bikila', requestedBy = 'key_1' } = asked;
  for (let funded = 0; funded <= birr; funded += 75_000) await fund(backOffice.fixture, of, 7_500_000n);
  requests += 1;
  const wanted = {
    requestId: `W-${requests}`,
    amountSantim: BigInt(birr * 100),
    channel: 'AWASH',
    destination: { kind: 'bank', bankCode: 'CBE', accountNumber: '1000123456789', accountName },
    requestedBy,
  } as const;
  const { row } = await backOffice.fixture.runInTransaction((tx) =>
    createWithdrawal({ ...backOffice.fixture, tx }, of, wanted),
  );
  return row.id;
}

async function paid(asked: Asked = {}): Promise<string> {
  const id = await withdrawal(asked);
  await say(`withdrawals/${id}/approve`);
  backOffice.fixture.provider.returnsForPayouts(PAID_OUT);
  const check = { minIntervalMs: 0, notifyWorkflow: false };
  expect((await createCheck(backOffice.fixture, WITHDRAWAL)(id, check)).row.status).toBe('SUCCESS');
  return id;
}

describe('a withdrawal under review', () => {
  test('shows its requester and payee, and the earlier payouts to that payee', async () => {
    const stranger = await buildFreeMerchant(backOffice.fixture);
    await paid({ of: stranger });
    await paid({ accountName: 'Abebe B.' });
    const { keyId, secret } = await backOffice.invitedKey(scope.merchantId, { name: 'Payroll' });
    const id = await withdrawal({ birr: 300_000, requestedBy: keyId });
    await withdrawal();
    await say(`withdrawals/${id}/approve`, { reason: 'Known to us' });
    const seen = await get(`withdrawals/${id}`);
    expect(seen).toMatchObject({
      ...scope,
      withdrawalId: id,
      merchantName: 'Abyssinia Coffee',
      requestId: expect.stringMatching(/^W-/),
      amount: 300_000,
      destination: {
        bankCode: 'CBE',
        bankName: 'Commercial Bank of Ethiopia',
        accountNumber: '1000123456789',
        accountName: 'Abebe Bikila',
      },
      requestedBy: keyId,
      requestedWith: { keyId, name: 'Payroll', createdBy: backOffice.people.admin.operatorId },
      reviewReasons: ['BENEFICIARY_RENAMED', 'LARGE_AMOUNT'],
      approvalsNeeded: 2,
      approvals: [
        { operatorId: backOffice.people.finance.operatorId, operatorName: 'finance 3', reason: 'Known to us' },
      ],
      approvalsMissing: 1,
      paidBefore: { count: 1, amount: 100, accountNames: ['Abebe B.'] },
      decisions: [{ action: 'withdrawal.approve' }],
      links: { approve: `/api/ops/withdrawals/${id}/approve`, reject: `/api/ops/withdrawals/${id}/reject` },
    });
    expect(seen).not.toHaveProperty('providerReference');
    expect(seen.totalDebit).toBe(300_000 + seen.fee + seen.feeTax);
    const happened = seen.timeline.map(({ kind }: { kind: string }) => kind);
    expect(happened).toEqual(['withdrawal.created', 'review.started', 'review.approved']);
    expect(JSON.stringify(seen)).not.toContain(secret);
  });

  test('shows no earlier payouts for the first payout to a payee', async () => {
    const seen = await get(`withdrawals/${await withdrawal()}`);
    expect(seen.reviewReasons).toContain('FIRST_TO_BENEFICIARY');
    expect(seen.paidBefore).toEqual({ count: 0, amount: 0, lastAt: null, accountNames: [] });
    expect(seen.requestedWith).toBeNull();
  });

  test('shows four digits of the account in lists, and all of them only to operators who may decide', async () => {
    const id = await withdrawal();
    const key = backOffice.people.viewer.key;
    const { body, text } = await backOffice.send('GET', `/api/ops/withdrawals?search=${id}`, { key });
    expect(body.data[0]).toMatchObject({
      requestId: expect.stringMatching(/^W-/),
      destination: { bankCode: 'CBE', accountNumber: '*********6789', accountName: 'Abebe Bikila' },
    });
    const queue = await backOffice.send('GET', `/api/ops/queue?merchantId=${scope.merchantId}`, { key });
    expect(text + queue.text).not.toContain('1000123456789');
    expect((await backOffice.send('GET', `/api/ops/withdrawals/${id}`, { key })).status).toBe(403);
    expect((await backOffice.send('GET', '/api/ops/withdrawals/wd_none')).status).toBe(404);
  });
});

test('a withdrawal that its provider has accepted can be resolved after a day', async () => {
  const id = await withdrawal();
  await say(`withdrawals/${id}/approve`);
  backOffice.fixture.provider.returnsForPayouts(TAKEN);
  await createCheck(backOffice.fixture, WITHDRAWAL)(id, { minIntervalMs: 0, notifyWorkflow: false });
  expect(await get(`withdrawals/${id}`)).toMatchObject({ stage: 'SUBMITTED', links: {} });
  await rows(backOffice.fixture.db, "UPDATE payout SET submitted_at = submitted_at - interval '1 day' WHERE id = :id", {
    id,
  });
  const { links } = await get(`withdrawals/${id}`);
  expect(links).toEqual({ resolve: `/api/ops/withdrawals/${id}/resolve` });
  const resolution = { outcome: 'COMPLETED', providerReference: 'OUT-DAY', reason: 'The receipt says so' };
  const { body } = await backOffice.send('POST', links.resolve, {
    key: backOffice.people.finance.key,
    body: resolution,
  });
  expect(body.data).toMatchObject({ status: 'SUCCESS' });
});

test('a withdrawal with an open outcome can be resolved, and an ended one accepts no decision', async () => {
  const id = await withdrawal();
  await say(`withdrawals/${id}/approve`);
  backOffice.fixture.provider.returnsForPayouts(UNKNOWN_PAYOUT);
  await createCheck(backOffice.fixture, WITHDRAWAL)(id, { minIntervalMs: 0, notifyWorkflow: false });
  expect(await get(`withdrawals/${id}`)).toMatchObject({
    stage: 'UNKNOWN',
    lastOutcome: 'unknown',
    approvalsMissing: 0,
    links: { resolve: `/api/ops/withdrawals/${id}/resolve` },
  });
  const ended = await paid();
  const reference = { providerReference: `OUT-${ended}` };
  expect(await get(`withdrawals/${ended}`)).toMatchObject({
    status: 'SUCCESS',
    ...reference,
    links: {},
    paidBefore: { count: 0 },
  });
});

test('a settlement shows the whole account, the bank, its approver and sender, and the possible commands', async () => {
  await fund(backOffice.fixture, scope, 100_000n);
  await linkAccount(backOffice.fixture, scope);
  const { id } = await requestSettlement(backOffice.fixture, scope);
  const links = async () => Object.keys((await get(`settlements/${id}`)).links);
  expect(await links()).toEqual(['approve', 'reject']);
  await say(`settlements/${id}/approve`, { reason: 'As agreed' });
  expect(await links()).toEqual(['sent', 'failed']);
  await say(`settlements/${id}/sent`, { bankReference: 'FT-DETAIL-1' });
  const { operatorId } = backOffice.people.finance;
  const seen = await get(`settlements/${id}`);
  expect(seen).toMatchObject({
    bankAccount: ACCOUNT,
    merchantName: 'Abyssinia Coffee',
    bankName: 'Commercial Bank of Ethiopia',
    amount: 150,
    requestedBy: 'key_test',
    approvedBy: operatorId,
    sentBy: operatorId,
    bankReference: 'FT-DETAIL-1',
    settledBefore: { count: 0, amount: 0, lastAt: null },
    decisions: [{ action: 'settlement.approve', reason: 'As agreed' }, { action: 'settlement.sent' }],
  });
  expect(Object.keys(seen.links)).toEqual(['credited', 'failed']);
  await say(`settlements/${id}/credited`, { bankReference: 'FT-DETAIL-1', creditedOn: addisDay(new Date()) });
  expect(await links()).toEqual(['returned']);
  await say(`settlements/${(await requestSettlement(backOffice.fixture, scope)).id}/reject`, { reason: 'Not yet' });
  const next = await requestSettlement(backOffice.fixture, scope);
  expect((await get(`settlements/${next.id}`)).settledBefore).toMatchObject({ count: 1, amount: 150 });
});

describe('a transaction', () => {
  test('with held money shows the expected and the received amount and the payer; a decision has an audit row with the previous state', async () => {
    const { transactionId, attemptId } = await payOtherAmount(backOffice.fixture, scope);
    const seen = await get(`transactions/${transactionId}`);
    expect(seen).toMatchObject({
      ...scope,
      merchantName: 'Abyssinia Coffee',
      status: 'PENDING',
      held: 'WRONG_AMOUNT',
      amount: 100.5,
      payments: [
        {
          attemptId,
          channel: 'TELEBIRR',
          phone: expect.stringMatching(/^2519\d{8}$/),
          status: 'HELD',
          expected: 100.5,
          received: 80,
          receivedCurrency: 'ETB',
          providerReference: paidReference(attemptId),
          decision: null,
        },
      ],
      decisions: [],
    });
    expect(seen.timeline.map(({ kind }: { kind: string }) => kind)).toContain('payment.held');
    const { accept, reject } = seen.payments[0].links;
    expect(reject).toBe(`/api/ops/transactions/${transactionId}/reject`);
    const accepted = await backOffice.send('POST', accept, { body: { attemptId } });
    expect(accepted.status).toBe(200);
    const after = await get(`transactions/${transactionId}`);
    expect(after).toMatchObject({ status: 'SUCCESS', payments: [{ decision: 'ACCEPTED', links: {} }] });
    expect(after).not.toHaveProperty('held');
    expect(after.decisions).toMatchObject([
      {
        action: 'payment.accept',
        before: { status: 'PENDING', holdReason: 'WRONG_AMOUNT', holdResolution: null },
        after: { status: 'SUCCESS', holdResolution: 'ACCEPTED', received: 80 },
      },
    ]);
  });

  test('with money in another currency can only be returned', async () => {
    const { transactionId } = await payOtherAmount(backOffice.fixture, scope, { ...OTHER_AMOUNT, currency: 'USD' });
    const { held, payments } = await get(`transactions/${transactionId}`);
    expect(held).toBe('WRONG_CURRENCY');
    expect(Object.keys(payments[0].links)).toEqual(['reject']);
  });

  test('paid with the requested amount has no possible decision', async () => {
    const { transactionId } = await payOtherAmount(backOffice.fixture, scope, PAID);
    const { status, payments } = await get(`transactions/${transactionId}`);
    expect([status, payments.length, payments[0].links]).toEqual(['SUCCESS', 1, {}]);
  });
});

test('a bank account shows its merchant, its requester, and the possible decisions', async () => {
  await linkAccount(backOffice.fixture, scope);
  const path = `merchants/${scope.merchantId}/bank-account`;
  const seen = await get(`${path}?environment=sandbox`);
  expect(seen).toMatchObject({
    ...ACCOUNT,
    merchantName: 'Abyssinia Coffee',
    bankName: 'Commercial Bank of Ethiopia',
    status: 'VERIFIED',
    requestedBy: 'key_test',
    decidedBy: 'sandbox',
    links: { reject: `/api/ops/${path}/reject` },
  });
  const said = { environment: 'sandbox', bankAccountId: seen.bankAccountId, reason: 'Closed' };
  await backOffice.send('POST', seen.links.reject, { body: said });
  const after = await get(`${path}?environment=sandbox`);
  expect(after).toMatchObject({ status: 'REJECTED', links: {}, decisions: [{ reason: 'Closed' }] });
});
