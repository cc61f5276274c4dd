import type { MerchantScope } from '../../src/lib/scope.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { createRefund } from '../../src/payouts/refunds/create.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import { buildAttempt, buildSession, PAID } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { buildFreeMerchant, buildLive } from '../support/withdrawals.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;
let references = 0;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  scope = await buildFreeMerchant(backOffice.fixture);
});
afterEach(() => expectLedgerHolds(backOffice.database.db));
afterAll(() => backOffice.close());

/** A refund of 40 birr whose outcome its provider has not known for two hours. */
async function unknownRefund(of = scope, requestedBy = 'key_1') {
  const { fixture } = backOffice;
  const { sessionId, transactionId } = await buildSession(fixture, of, { amountSantim: 100_00n });
  const attemptId = await buildAttempt(fixture, { ...of, sessionId });
  fixture.provider.returns({ ...PAID, amountSantim: 100_00n });
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  references += 1;
  const reference = `R-${references}`;
  const wanted = { transactionId, reference, amountSantim: 40_00n, returnFee: false, reason: 'Returned', requestedBy };
  const { row } = await fixture.runInTransaction((tx) => createRefund({ ...fixture, tx }, of, wanted));
  fixture.provider.returnsForRefunds({ kind: 'unknown', reason: 'timeout', message: 'no answer' });
  await createCheck(fixture, REFUND)(row.id, { minIntervalMs: 0, notifyWorkflow: true });
  const submittedAt = new Date(Date.now() - 2 * 3_600_000);
  await fixture.db.knex()('payout').where({ id: row.id }).update({ submittedAt, leaseUntil: null });
  return { refundId: row.id, transactionId, reference };
}

const RESOLUTION = { outcome: 'FAILED', providerReference: 'CASE-1', reason: 'Never made' };
const resolve = (refundId: string, body: object = RESOLUTION, key = backOffice.people.finance.key) =>
  backOffice.send('POST', `/api/ops/refunds/${refundId}/resolve`, { key, body });

test('a refund of unknown outcome is in the queue with its command, and is resolved with a reason and an audit row', async () => {
  const { refundId } = await unknownRefund();
  const queue = await backOffice.send('GET', `/api/ops/queue?merchantId=${scope.merchantId}`);
  expect(queue.body.data.items).toMatchObject([
    {
      kind: 'REFUND_UNKNOWN',
      id: refundId,
      amount: 40,
      links: { read: `/api/ops/refunds/${refundId}`, resolve: `/api/ops/refunds/${refundId}/resolve` },
    },
  ]);
  expect((await resolve(refundId, { ...RESOLUTION, reason: undefined })).body.message).toBe('reason is required');
  expect((await resolve(refundId, RESOLUTION, backOffice.people.support.key)).status).toBe(403);
  const answer = await resolve(refundId);
  expect(answer.body).toMatchObject({ statusCode: 200, data: { refundId, status: 'FAILED', stage: 'COMPLETED' } });
  const { body } = await backOffice.send('GET', `/api/ops/audit?resourceId=${refundId}`);
  expect(body.data).toMatchObject([
    {
      action: 'refund.resolve',
      resourceType: 'refund',
      before: { status: 'PENDING', stage: 'UNKNOWN' },
      after: { status: 'FAILED', amount: 40, outcome: 'FAILED', providerReference: 'CASE-1' },
      reason: 'Never made',
    },
  ]);
  expect((await resolve(refundId)).status).toBe(200);
  expect(await backOffice.audited(refundId)).toEqual(['refund.resolve']);
});

test('in live a resolution is proposed by one operator and confirmed by another, and changes nothing before', async () => {
  const { refundId } = await unknownRefund(await buildLive(backOffice.database.db, scope));
  const path = `/api/ops/refunds/${refundId}/resolve`;
  const proposed = await resolve(refundId);
  expect(proposed.status).toBe(202);
  const read = async () => (await backOffice.send('GET', `/api/ops/refunds/${refundId}`)).body.data;
  expect(await read()).toMatchObject({ status: 'PENDING', links: { resolve: path } });
  const { proposalId } = proposed.body.data;
  const confirm = (key: string) =>
    backOffice.send('POST', `/api/ops/proposals/${proposalId}/confirm`, { key, body: {} });
  expect((await confirm(backOffice.people.finance.key)).status).toBe(409);
  expect((await confirm((await backOffice.hire('finance')).key)).status).toBe(200);
  expect(await read()).toMatchObject({
    status: 'FAILED',
    links: {},
    decisions: [{ action: 'refund.resolve', proposedBy: backOffice.people.finance.operatorId }],
  });
});

test('operators find a refund by its id, its reference and that of the provider, in the list, and on its transaction', async () => {
  const { refundId, transactionId, reference } = await unknownRefund();
  await resolve(refundId, { ...RESOLUTION, outcome: 'COMPLETED', providerReference: `BACK-${reference}` });
  const found = async (q: string) => (await backOffice.send('GET', `/api/ops/search?q=${q}`)).body.data;
  for (const q of [refundId, reference, `BACK-${reference}`]) {
    expect(await found(q)).toContainEqual(
      expect.objectContaining({ kind: 'refund', id: refundId, status: 'SUCCESS', url: `/api/ops/refunds/${refundId}` }),
    );
  }
  const listed = await backOffice.send('GET', `/api/ops/refunds?merchantId=${scope.merchantId}&status=SUCCESS`);
  expect(listed.body.data).toMatchObject([{ refundId, transactionId, reference, merchantId: scope.merchantId }]);
  const transaction = await backOffice.send('GET', `/api/ops/transactions/${transactionId}`);
  expect(transaction.body.data).toMatchObject({ refundedAmount: 40, refunds: [{ refundId, status: 'SUCCESS' }] });
  const detail = await backOffice.send('GET', `/api/ops/refunds/${refundId}`);
  expect(detail.body.data).toMatchObject({ requestedBy: 'key_1', lastOutcome: 'unknown', transactionId });
  expect(detail.body.data.timeline.map(({ kind }: { kind: string }) => kind)).toContain('refund.resolved');
});

test('an overpaid refund is resolved with the paid amount, and its excess recovered by the link in the queue', async () => {
  const { fixture } = backOffice;
  const { refundId } = await unknownRefund();
  const reported = { kind: 'succeeded', amountSantim: 45_00n, currency: 'ETB', providerCode: 'OK' } as const;
  fixture.provider.returnsForRefunds({ ...reported, providerReference: `BACK-${refundId}` });
  await createCheck(fixture, REFUND)(refundId, { minIntervalMs: 0, notifyWorkflow: true });
  const paid = { ...RESOLUTION, outcome: 'COMPLETED', providerReference: `BACK-${refundId}`, paidAmount: 45 };
  const tooMuch = await resolve(refundId, { ...paid, paidAmount: 45.01 });
  expect(tooMuch.body.error.details).toMatchObject([{ field: 'paidAmount' }]);
  expect((await resolve(refundId, paid)).body.data).toMatchObject({ status: 'SUCCESS', amount: 40, paidAmount: 45 });
  const { body } = await backOffice.send('GET', `/api/ops/audit?resourceId=${refundId}`);
  expect(body.data).toMatchObject([{ action: 'refund.resolve', after: { amount: 40, paid: 45 } }]);
  const queue = async () =>
    (await backOffice.send('GET', `/api/ops/queue?merchantId=${scope.merchantId}`)).body.data.items;
  const [item] = await queue();
  expect(item).toMatchObject({ kind: 'REFUND_OVERPAID', id: refundId, amount: 5 });
  const recovery = {
    key: backOffice.people.finance.key,
    body: { refundId, reference: refundId, reason: 'Their mail' },
  };
  const recovered = await backOffice.send('POST', item.links['refund-recoveries'], recovery);
  expect(recovered.body).toMatchObject({ statusCode: 201, data: { kind: 'RECOVERY', refundId, amount: 5 } });
  expect(await queue()).toEqual([]);
});
