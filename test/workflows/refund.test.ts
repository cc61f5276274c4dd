import { createHttpClient } from '../../src/lib/http-client.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { setSecondPersonFrom } from '../../src/merchants/operations.ts';
import { confirmPayout } from '../../src/payouts/confirm.ts';
import { createRefund } from '../../src/payouts/refunds/create.ts';
import { readRefund } from '../../src/payouts/refunds/queries.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import { findRecoverableRefunds, refundWorkflowId } from '../../src/payouts/refunds/workflow.ts';
import { resolvePayout } from '../../src/payouts/resolve.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { buildAttempt, buildFixture, buildMerchant, buildSession, type Fixture } from '../support/build.ts';
import { returnFeesOnRefund } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { resultOf, skipTime } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let simulator: TestSimulator;
let fixture: WorkerFixture;
let money: Fixture;
let scope: MerchantScope;
let requests = 0;
const http = createHttpClient();
const clock = () => new Date();

beforeAll(async () => {
  simulator = await startTestSimulator();
  // No server listens there: callbacks are lost, as while our API is unavailable.
  fixture = await createWorkerFixture({
    TASK_QUEUES: 'money',
    SIMULATOR_URL: simulator.url,
    PUBLIC_BASE_URL: 'http://127.0.0.1:9',
  });
  await fixture.startWorker().ready;
  const findProvider = createFindProvider({ http, clock, simulatorUrl: simulator.url });
  money = buildFixture(fixture.db, { clock, findProvider });
  scope = await buildMerchant(fixture.db);
  await returnFeesOnRefund(fixture.database);
  await pay('0911000001', 10_000_00n);
});
afterEach(async () => {
  await simulator.clearFaults();
  await expectLedgerHolds(fixture.db);
});
afterAll(async () => {
  await fixture.close();
  await Promise.all([simulator.close(), http.close()]);
});

/** A payment from this phone. */
async function pay(phone: string, amountSantim = 100_00n): Promise<string> {
  const { sessionId, transactionId } = await buildSession(money, scope, { amountSantim });
  const attemptId = await buildAttempt(money, { ...scope, sessionId }, { phone });
  await until('the payment', async () => {
    const { transactionStatus } = await money.checkAttempt(attemptId, { notifyWorkflow: false });
    return transactionStatus === 'SUCCESS';
  });
  return transactionId;
}

/** Requests a refund of a payment from this phone, like the API. */
async function request(phone: string, amountSantim = 40_00n): Promise<{ id: string; workflowId: string }> {
  const transactionId = await pay(phone);
  requests += 1;
  const wanted = { transactionId, reference: `R-${requests}`, amountSantim, returnFee: true, requestedBy: 'key_test' };
  const { row } = await fixture.runInTransaction((tx) => createRefund({ ...money, tx }, scope, wanted));
  return { id: row.id, workflowId: refundWorkflowId(row.id) };
}

const untilStatus = async (id: string, wanted: string) =>
  until(`refund ${wanted}`, async () => {
    const row = await readRefund(fixture.db, id);
    return (row.status === wanted || row.stage === wanted) && row;
  });
const skip = async (workflowId: string, ms: number) => skipTime(fixture.temporal.client, workflowId, ms);
const result = async (workflowId: string) => resultOf(fixture.temporal.client.workflow.getHandle(workflowId));

test('a refund is sent, found paid by polling, and ends', async () => {
  const { id, workflowId } = await request('0911000007');
  await untilStatus(id, 'SUBMITTED');
  await skip(workflowId, 3_000);
  await untilStatus(id, 'SUCCESS');
  expect(await result(workflowId)).toBe('SUCCESS');
  expect(await simulator.refundOf(id)).toMatchObject({ paid: true, paidAmount: '40.00', submissions: 1 });
});

test('a refund that the provider accepts and then fails is FAILED', async () => {
  const { id, workflowId } = await request('0911000009');
  await untilStatus(id, 'SUBMITTED');
  await skip(workflowId, 3_000);
  expect(await result(workflowId)).toBe('FAILED');
  expect(await readRefund(fixture.db, id)).toMatchObject({ status: 'FAILED', failure: { code: 'DECLINED' } });
});

test('while its provider fails it is UNKNOWN, is queried with back-off, and is paid once', async () => {
  await simulator.fault({ kind: 'payoutUnknown', of: 'refund', channel: 'TELEBIRR', next: 1, delayMs: HOUR_MS });
  const { id, workflowId } = await request('0911000007');
  await untilStatus(id, 'UNKNOWN');
  await skip(workflowId, 30 * 60_000);
  expect(await readRefund(fixture.db, id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
  await simulator.advance(2 * HOUR_MS);
  await skip(workflowId, HOUR_MS);
  await untilStatus(id, 'SUCCESS');
  expect(await result(workflowId)).toBe('SUCCESS');
  expect((await simulator.refundOf(id))?.submissions).toBe(1);
});

test('operators end a refund that is never decided, and its workflow ends with it', async () => {
  await simulator.fault({ kind: 'payoutUnknown', of: 'refund', channel: 'TELEBIRR', next: 1, delayMs: 90 * DAY_MS });
  const { id, workflowId } = await request('0911000007');
  await untilStatus(id, 'UNKNOWN');
  const resolution = { outcome: 'FAILED', providerReference: 'CASE-1', reason: 'Not made' } as const;
  const at = new Date(Date.now() + 2 * HOUR_MS);
  await fixture.runInTransaction((tx) => resolvePayout(tx, REFUND, { id: id, ...resolution, operatorId: 'opr_1', at }));
  expect(await result(workflowId)).toBe('FAILED');
});

test('a refund waits for a second person, is not sent meanwhile, and goes on once it is confirmed', async () => {
  await fixture.db.transaction((trx) => setSecondPersonFrom(trx, scope.merchantId, 40_00n));
  const { id, workflowId } = await request('0911000007');
  const late = await request('0911000007');
  await fixture.db.transaction((trx) => setSecondPersonFrom(trx, scope.merchantId, null));
  await skip(workflowId, 2 * DAY_MS);
  expect(await readRefund(fixture.db, id)).toMatchObject({ stage: 'AWAITING_CONFIRMATION' });
  expect(await simulator.refundOf(id)).toBeUndefined();
  const decision = { scope, idOrReference: id, userId: 'usr_2', at: clock(), notices: [] };
  await fixture.runInTransaction((tx) => confirmPayout(tx, REFUND, decision));
  await untilStatus(id, 'SUBMITTED');
  await skip(workflowId, 3_000);
  expect(await result(workflowId)).toBe('SUCCESS');
  await skip(late.workflowId, 8 * DAY_MS);
  expect(await result(late.workflowId)).toBe('FAILED');
});

test('a refund whose workflow is lost is found and starts again', async () => {
  const { id, workflowId } = await request('0911000007');
  await untilStatus(id, 'SUBMITTED');
  await fixture.temporal.client.workflow.getHandle(workflowId).terminate('lost');
  await fixture.db
    .knex()('payout')
    .where({ id })
    .update({ createdAt: new Date(Date.now() - HOUR_MS), lastCheckedAt: new Date(Date.now() - HOUR_MS) });
  const found = await findRecoverableRefunds(fixture.db, { after: '', limit: 10, onlyPastDue: true });
  expect(found).toMatchObject([{ id, message: { kind: 'signalWithStart', workflowId } }]);
  await fixture.runInTransaction((tx) => tx.enqueue(found.map(({ message }) => message)));
  await untilStatus(id, 'SUCCESS');
});
