import { rows } from '../../src/lib/db.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { setSecondPersonFrom } from '../../src/merchants/operations.ts';
import { confirmPayout, declinePayout } from '../../src/payouts/confirm.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import { readWithdrawal } from '../../src/payouts/withdrawals/queries.ts';
import { approveWithdrawal, cancelWithdrawal, rejectWithdrawal } from '../../src/payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { findRecoverableWithdrawals, withdrawalWorkflowId } from '../../src/payouts/withdrawals/workflow.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { resultOf, skipTime } from '../support/temporal.ts';
import { until, WAIT_MS } from '../support/until.ts';
import { buildFreeMerchant, expectPaidOutOnce, fund } from '../support/withdrawals.ts';
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
  money = buildFixture(fixture.db, { clock });
  scope = await buildFreeMerchant(money);
  await fund(money, scope, 50_000_00n);
});
afterEach(async () => {
  await simulator.clearFaults();
  await expectPaidOutOnce(fixture.db, simulator);
  await expectLedgerHolds(fixture.db);
});
afterAll(async () => {
  await fixture.close();
  await Promise.all([simulator.close(), http.close()]);
});

/** Requests a withdrawal like the API. An amount that ends in .14 waits for an operator. */
async function request(phone: string, amountSantim = 100_00n): Promise<{ id: string; workflowId: string }> {
  requests += 1;
  const findProvider = createFindProvider({ http, clock, simulatorUrl: simulator.url });
  const wanted = {
    requestId: `OUT-${requests}`,
    amountSantim,
    channel: 'TELEBIRR',
    destination: { kind: 'phone', phone: phone.replace(/^0/, '251'), accountName: 'Abebe Bikila' },
    requestedBy: 'key_test',
  } as const;
  const { row } = await fixture.runInTransaction((tx) => createWithdrawal({ tx, clock, findProvider }, scope, wanted));
  return { id: row.id, workflowId: withdrawalWorkflowId(row.id) };
}

const untilStatus = async (id: string, wanted: string) =>
  until(`withdrawal ${wanted}`, async () => {
    const row = await readWithdrawal(fixture.db, id);
    return (row.status === wanted || row.stage === wanted) && row;
  });
const result = async (workflowId: string) => {
  const handle = fixture.temporal.client.workflow.getHandle(workflowId);
  return resultOf(handle);
};

/** Advances to the sandbox's automatic decision. */
async function reviewed(workflowId: string): Promise<void> {
  await skipTime(fixture.temporal.client, workflowId, 6_000);
}

test('a withdrawal is reviewed, sent, found paid by polling, and ends', async () => {
  const { id, workflowId } = await request('0911000007');
  await reviewed(workflowId);
  await untilStatus(id, 'SUCCESS');
  expect(await result(workflowId)).toBe('SUCCESS');
  expect(await simulator.payoutOf(id)).toMatchObject({ paid: true });
});

test('a withdrawal under review waits for days without a limit, and is sent when it is approved', async () => {
  const { id, workflowId } = await request('0911000001', 100_14n);
  await skipTime(fixture.temporal.client, workflowId, 5 * DAY_MS);
  expect((await readWithdrawal(fixture.db, id)).stage).toBe('UNDER_REVIEW');
  await fixture.runInTransaction((tx) => approveWithdrawal(tx, id, { operatorId: 'opr_1', at: clock() }));
  await untilStatus(id, 'SUCCESS');
  expect(await result(workflowId)).toBe('SUCCESS');
});

test('a withdrawal waits for a second person without a limit, is not sent meanwhile, and goes on once it is confirmed', async () => {
  await fixture.db.transaction((trx) => setSecondPersonFrom(trx, scope.merchantId, 100_00n));
  const { id, workflowId } = await request('0911000007');
  const declined = await request('0911000007');
  const late = await request('0911000007');
  await fixture.db.transaction((trx) => setSecondPersonFrom(trx, scope.merchantId, null));
  await skipTime(fixture.temporal.client, workflowId, 5 * DAY_MS);
  expect((await readWithdrawal(fixture.db, id)).stage).toBe('AWAITING_CONFIRMATION');
  const approval = { operatorId: 'opr_1', at: clock() };
  await expect(fixture.runInTransaction((tx) => approveWithdrawal(tx, id, approval))).rejects.toMatchObject({
    code: 'INVALID_STATE',
  });
  const decision = { scope, idOrReference: id, userId: 'usr_2', at: clock(), notices: [] };
  await fixture.runInTransaction((tx) => confirmPayout(tx, WITHDRAWAL, decision));
  const decline = { scope, idOrReference: declined.id, reason: 'Twice', at: clock() };
  await fixture.runInTransaction((tx) => declinePayout(tx, WITHDRAWAL, decline));
  await until('the review', async () => (await readWithdrawal(fixture.db, id)).stage !== 'AWAITING_CONFIRMATION');
  await reviewed(workflowId);
  await untilStatus(id, 'SUCCESS');
  expect([await result(workflowId), await result(declined.workflowId)]).toEqual(['SUCCESS', 'CANCELLED']);
  await skipTime(fixture.temporal.client, late.workflowId, 8 * DAY_MS);
  expect(await result(late.workflowId)).toBe('CANCELLED');
});

test('a rejected and a cancelled withdrawal end without a submission', async () => {
  const [rejected, cancelled] = [await request('0911000001', 50_14n), await request('0911000001', 51_14n)];
  await fixture.runInTransaction((tx) =>
    rejectWithdrawal(tx, rejected.id, { operatorId: 'opr_1', reason: 'No.', at: clock() }),
  );
  const row = await readWithdrawal(fixture.db, cancelled.id);
  await fixture.runInTransaction((tx) => cancelWithdrawal(tx, row, clock()));
  expect(await result(rejected.workflowId)).toBe('REJECTED');
  expect(await result(cancelled.workflowId)).toBe('CANCELLED');
  expect(await simulator.payoutOf(rejected.id)).toBeUndefined();
  expect(await simulator.payoutOf(cancelled.id)).toBeUndefined();
});

test('a withdrawal pending for hours is polled at growing intervals, and its money stays reserved', async () => {
  const { id, workflowId } = await request('0911000004');
  await reviewed(workflowId);
  await untilStatus(id, 'SUBMITTED');
  await skipTime(fixture.temporal.client, workflowId, 10 * HOUR_MS);
  expect(await readWithdrawal(fixture.db, id)).toMatchObject({ status: 'PENDING', stage: 'SUBMITTED' });
  const { events } = await fixture.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  const timers = (events ?? []).flatMap((event) => {
    const seconds = event.timerStartedEventAttributes?.startToFireTimeout?.seconds;
    return seconds === undefined || seconds === null ? [] : [Number(seconds)];
  });
  expect(timers.slice(0, 5)).toEqual([5, 2, 4, 8, 16]);
  expect(timers.at(-1)).toBe(1_800);
  expect(await simulator.payoutOf(id)).toMatchObject({ paid: false });
});

test('a payout with an unknown outcome for minutes is paid once, and its money stays reserved until then', async () => {
  await simulator.fault({ kind: 'payoutUnknown', delayMs: 10 * 60_000, next: 1 });
  const { id, workflowId } = await request('0911000001');
  await reviewed(workflowId);
  await untilStatus(id, 'UNKNOWN');
  await skipTime(fixture.temporal.client, workflowId, 5 * 60_000);
  expect(await readWithdrawal(fixture.db, id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
  await simulator.advance(11 * 60_000);
  await skipTime(fixture.temporal.client, workflowId, 10 * 60_000);
  await untilStatus(id, 'SUCCESS');
  expect(await simulator.payoutOf(id)).toMatchObject({ paid: true, amount: '100.00' });
});

test('a posting after an outage has an effective time after it, not when its activity was scheduled', async () => {
  // An operator approves it, so that no time is skipped.
  const { id } = await request('0911000001', 100_14n);
  await fixture.runInTransaction((tx) => approveWithdrawal(tx, id, { operatorId: 'opr_1', at: clock() }));
  await until('it to be taken', async () => (await readWithdrawal(fixture.db, id)).lastOutcome);
  const outage = await fixture.db.knex().transaction();
  await outage.raw('LOCK TABLE payout IN ACCESS EXCLUSIVE MODE');
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  const overAt = new Date();
  await outage.commit();
  await untilStatus(id, 'SUCCESS');
  const sql = 'SELECT effective_at FROM ledger_journal WHERE posting_key = ?';
  const { rows: journals } = await fixture.db.knex().raw<{ rows: { effective_at: Date }[] }>(sql, [`ended:${id}`]);
  expect(journals).toHaveLength(1);
  // The successful attempt may have waited for the lock, for a second at most.
  expect(journals[0]?.effective_at.getTime()).toBeGreaterThan(overAt.getTime() - 1_500);
});

test('a payout that is accepted and then fails releases the money', async () => {
  const { id, workflowId } = await request('0911000008');
  await reviewed(workflowId);
  await untilStatus(id, 'SUBMITTED');
  await simulator.advance(10 * 60_000);
  await skipTime(fixture.temporal.client, workflowId, 10 * 60_000);
  await untilStatus(id, 'FAILED');
  expect(await result(workflowId)).toBe('FAILED');
  expect(await simulator.payoutOf(id)).toMatchObject({ paid: false });
});

test('a withdrawal whose workflow Temporal has lost is restarted by the recovery', async () => {
  const { id, workflowId } = await request('0911000001', 100_14n);
  const handle = fixture.temporal.client.workflow.getHandle(workflowId);
  const before = await until('the workflow to be there', async () => handle.describe().catch(() => null));
  await handle.terminate('lost');
  const isOpen = async () =>
    (await findRecoverableWithdrawals(fixture.db, { after: '', limit: 100, onlyPastDue: false })).some(
      (one) => one.id === id,
    );
  // Temporal's list of workflows lags: the recovery skips rows younger than half a minute.
  expect(await isOpen()).toBe(false);
  await fixture.db
    .knex()('payout')
    .where({ id })
    .update({ createdAt: new Date(Date.now() - 60_000) });
  // After an outage all open rows are compared; otherwise this one within the hour.
  await rows(fixture.db, 'UPDATE workflow_recovery SET next_full_run_at = now()');
  const runs = async () => {
    const now = await handle.describe();
    return now.status.name === 'RUNNING' && now;
  };
  // The recovery runs every 10 s.
  const after = await until('the workflow to run again', runs, 2 * WAIT_MS);
  expect(after.runId).not.toBe(before.runId);
  await fixture.runInTransaction((tx) => approveWithdrawal(tx, id, { operatorId: 'opr_1', at: clock() }));
  await untilStatus(id, 'SUCCESS');
  expect(await isOpen()).toBe(false);
});
