import type { MerchantScope } from '../../src/lib/scope.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { buildPendingPayment, PAID } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { buildFreeMerchant, fund, PAID_OUT } from '../support/withdrawals.ts';
import { startBackOffice, type BackOffice, type Person } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;
let otherFinance: Person;
let requests = 0;

beforeAll(async () => {
  backOffice = await startBackOffice();
  otherFinance = await backOffice.hire('finance');
});
beforeEach(async () => {
  scope = await buildFreeMerchant(backOffice.fixture);
});
afterEach(() => expectLedgerHolds(backOffice.database.db));
afterAll(() => backOffice.close());

/** Under review, because the recipient was not paid before. From 250,000 on two must approve. */
async function withdrawal(birr: number, requestedBy = 'key_1'): Promise<string> {
  for (let funded = 0; funded <= birr; funded += 75_000) await fund(backOffice.fixture, scope, 7_500_000n);
  requests += 1;
  const wanted = {
    requestId: `W-${requests}`,
    amountSantim: BigInt(birr * 100),
    channel: 'AWASH',
    destination: { kind: 'phone', phone: '251911000001', accountName: 'Abebe Bikila' },
    requestedBy,
  } as const;
  const { row } = await backOffice.fixture.runInTransaction((tx) =>
    createWithdrawal({ ...backOffice.fixture, tx }, scope, wanted),
  );
  return row.id;
}

const decide = (what: `${string}/${'approve' | 'reject' | 'resolve'}`, { key }: Person, body: object = {}) =>
  backOffice.send('POST', `/api/ops/withdrawals/${what}`, { key, body });

describe('a withdrawal under review', () => {
  test('is approved by an operator with the role finance, with an audit row', async () => {
    const id = await withdrawal(100);
    const answer = await decide(`${id}/approve`, backOffice.people.finance, { reason: 'Known to us' });
    expect(answer.body).toMatchObject({ statusCode: 200, data: { withdrawalId: id, stage: 'CREATED', amount: 100 } });
    const { body } = await backOffice.send('GET', `/api/ops/audit?resourceId=${id}`);
    expect(body.data).toEqual([
      expect.objectContaining({
        action: 'withdrawal.approve',
        operatorId: backOffice.people.finance.operatorId,
        ...scope,
        before: { status: 'PENDING', stage: 'UNDER_REVIEW' },
        after: { status: 'PENDING', stage: 'CREATED', amount: 100 },
        reason: 'Known to us',
      }),
    ]);
  });

  test('of a large amount needs two approvals by different operators', async () => {
    const id = await withdrawal(300_000);
    const first = await decide(`${id}/approve`, backOffice.people.finance);
    expect(first.body).toMatchObject({ data: { stage: 'UNDER_REVIEW' } });
    expect((await decide(`${id}/approve`, backOffice.people.finance)).body.error.code).toBe('INVALID_STATE');
    expect((await decide(`${id}/approve`, otherFinance)).body).toMatchObject({ data: { stage: 'CREATED' } });
    expect(await backOffice.audited(id)).toEqual(['withdrawal.approve', 'withdrawal.approve']);
  });

  test('cannot be approved while its merchant is suspended, and the error has the next step', async () => {
    const id = await withdrawal(100);
    const merchant = `/api/ops/merchants/${scope.merchantId}`;
    await backOffice.send('POST', `${merchant}/suspend`, { body: { reason: 'Looked at' } });
    const refused = await decide(`${id}/approve`, backOffice.people.finance);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect(refused.body.message).toBe(
      `The merchant ${scope.merchantId} is suspended: this withdrawal is not approved. ` +
        `Resume it first (POST ${merchant}/resume), or reject the withdrawal.`,
    );
    await backOffice.send('POST', `${merchant}/resume`, { body: { reason: 'All is well' } });
    expect((await decide(`${id}/approve`, backOffice.people.finance)).body.data.stage).toBe('CREATED');
    expect(await backOffice.audited(id)).toEqual(['withdrawal.approve']);
  });

  test('is rejected once, with a reason', async () => {
    const id = await withdrawal(100);
    expect((await decide(`${id}/reject`, backOffice.people.finance)).body.message).toBe('reason is required');
    const answer = await decide(`${id}/reject`, backOffice.people.finance, { reason: 'Unknown beneficiary' });
    expect(answer.body).toMatchObject({ data: { status: 'REJECTED' } });
    expect((await decide(`${id}/reject`, backOffice.people.finance, { reason: 'Again' })).status).toBe(409);
    expect((await decide(`${id}/approve`, backOffice.people.finance)).status).toBe(409);
    expect(await backOffice.audited(id)).toEqual(['withdrawal.reject']);
  });

  test('that does not exist gets a 404', async () => {
    expect((await decide('wd_none/approve', backOffice.people.finance)).status).toBe(404);
  });

  test('a repeated Idempotency-Key returns the first response, for the same operator only', async () => {
    const id = await withdrawal(300_000);
    const ask = ({ key }: Person) =>
      backOffice.server.send('POST', `/api/ops/withdrawals/${id}/approve`, {
        key,
        headers: { 'idempotency-key': 'once' },
        body: {},
      });
    const first = await ask(backOffice.people.finance);
    const again = await ask(backOffice.people.finance);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await ask(otherFinance)).body.data.stage).toBe('CREATED');
  });
});

describe('a withdrawal with an unknown outcome', () => {
  const paid = { outcome: 'COMPLETED', providerReference: 'OUT-9', reason: 'The receipt says so' };

  /** Approved and sent; its provider has paid a birr less, as the queue shows. */
  async function paidLess(birr: number): Promise<string> {
    const id = await withdrawal(birr);
    for (const person of [backOffice.people.finance, otherFinance]) await decide(`${id}/approve`, person);
    backOffice.fixture.provider.returnsForPayouts({ ...PAID_OUT, amountSantim: BigInt((birr - 1) * 100) });
    const sent = await createCheck(backOffice.fixture, WITHDRAWAL)(id, { minIntervalMs: 0, notifyWorkflow: false });
    expect(sent.row).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
    return id;
  }

  test('is in the work queue with its paid amount, and is resolved there by finance', async () => {
    const id = await paidLess(100);
    const queue = await backOffice.send('GET', `/api/ops/queue?merchantId=${scope.merchantId}`);
    expect(queue.body.data.items).toEqual([
      expect.objectContaining({
        kind: 'WITHDRAWAL_UNKNOWN',
        what: 'The provider reports a payment of another amount',
        detail: expect.objectContaining({
          reportedAmount: 99,
          reportedCurrency: 'ETB',
          providerReference: `OUT-${id}`,
        }),
      }),
    ]);
    const { key } = backOffice.people.finance;
    const { resolve } = queue.body.data.items[0].links;
    const refused = await backOffice.send('POST', resolve, { key, body: { outcome: 'PAID' } });
    expect(refused.body.error.details.map(({ field }: { field: string }) => field)).toEqual([
      'outcome',
      'providerReference',
      'reason',
    ]);
    const answer = await backOffice.send('POST', resolve, { key, body: { ...paid, paidAmount: 99 } });
    expect(answer.body).toMatchObject({ message: 'Resolved', data: { withdrawalId: id, status: 'SUCCESS' } });
    const { body } = await backOffice.send('GET', `/api/ops/audit?resourceId=${id}&action=withdrawal.resolve`);
    expect(body.data).toMatchObject([
      {
        before: { status: 'PENDING', stage: 'UNKNOWN' },
        after: { status: 'SUCCESS', outcome: 'COMPLETED', providerReference: 'OUT-9', paid: 99, othersNeeded: 0 },
        reason: paid.reason,
      },
    ]);
    expect((await backOffice.send('POST', resolve, { key, body: { ...paid, paidAmount: 99 } })).status).toBe(200);
    expect((await backOffice.send('POST', resolve, { key, body: { ...paid, outcome: 'FAILED' } })).status).toBe(409);
    expect(await backOffice.audited(id)).toEqual(['withdrawal.approve', 'withdrawal.resolve']);
  });

  test('of a large amount needs two equal resolutions', async () => {
    const id = await paidLess(300_000);
    const decision = { ...paid, providerReference: 'OUT-10' };
    const first = await decide(`${id}/resolve`, backOffice.people.finance, decision);
    expect(first.body).toMatchObject({
      message: 'Recorded; another operator must resolve it in the same way',
      data: { stage: 'UNKNOWN', othersNeeded: 1 },
    });
    const { body } = await backOffice.send('GET', `/api/ops/queue?merchantId=${scope.merchantId}`);
    const { operatorId } = backOffice.people.finance;
    const { outcome, providerReference, reason } = decision;
    expect(body.data.items[0].detail.resolutions).toEqual([
      { operatorId, outcome, providerReference, reason, paidAmount: 300_000 },
    ]);
    const differs = await decide(`${id}/resolve`, otherFinance, { ...decision, paidAmount: 299_999 });
    expect(differs.body.data).toMatchObject({ stage: 'UNKNOWN' });
    expect((await decide(`${id}/resolve`, otherFinance, decision)).body.data).toMatchObject({ status: 'SUCCESS' });
    expect((await backOffice.audited(id)).filter((action) => action === 'withdrawal.resolve')).toHaveLength(3);
  });
});

describe('held money', () => {
  async function held() {
    const payment = await buildPendingPayment(backOffice.fixture, scope);
    backOffice.fixture.provider.returns({ ...PAID, amountSantim: 8_000n });
    await backOffice.fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
    return { ...payment, path: `/api/ops/transactions/${payment.transactionId}` };
  }

  test('is released by support or finance, with one audit row', async () => {
    const { path, transactionId, attemptId } = await held();
    const body = { attemptId, reason: 'The customer agrees' };
    const answer = await backOffice.send('POST', `${path}/accept`, { key: backOffice.people.support.key, body });
    expect(answer.body).toMatchObject({
      statusCode: 200,
      data: { transactionId, attemptId, status: 'SUCCESS', decision: 'ACCEPTED', received: 80, amount: 100.5, fee: 0 },
    });
    const again = await backOffice.send('POST', `${path}/accept`, { key: backOffice.people.finance.key, body });
    expect(again.status).toBe(200);
    expect(await backOffice.audited(transactionId)).toEqual(['payment.accept']);
    const back = { attemptId, reason: 'No', reference: 'RET-1' };
    expect((await backOffice.send('POST', `${path}/reject`, { body: back })).body.error.code).toBe('INVALID_STATE');
  });

  test('is returned with a reason and a reference, and both are in the audit row', async () => {
    const { path, transactionId, attemptId } = await held();
    const refused = await backOffice.send('POST', `${path}/reject`, { body: {} });
    expect(refused.body.error.details.map(({ field }: { field: string }) => field)).toEqual([
      'attemptId',
      'reason',
      'reference',
    ]);
    const body = { attemptId, reason: 'Too little', reference: 'TB-77' };
    const answer = await backOffice.send('POST', `${path}/reject`, { body });
    expect(answer.body.data).toMatchObject({ status: 'FAILED', decision: 'RETURNED', reference: 'TB-77' });
    const other = await backOffice.send('POST', `${path}/reject`, { body: { ...body, reference: 'TB-78' } });
    expect([other.status, other.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect(other.body.message).toContain('under the reference TB-77');
    const log = await backOffice.send('GET', `/api/ops/audit?resourceId=${transactionId}`);
    expect(log.body.data).toMatchObject([
      { action: 'payment.return', reason: 'Too little', after: { reference: 'TB-77', received: 80 } },
    ]);
  });
});
