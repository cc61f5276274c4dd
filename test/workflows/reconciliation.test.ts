import type { RunningWorker } from '../../src/app/worker.ts';
import { addisDay } from '../../src/lib/dates.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { requestRun } from '../../src/reconciliation/request.ts';
import { reconciliationId, reconciliationWorkflowId } from '../../src/reconciliation/workflow.ts';
import { createTemporalGateway } from '../../src/temporal/client.ts';
import { buildAttempt, buildSession, buildFixture, stateOfSession, type Fixture } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { skipTime, resultOf } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { buildFreeMerchant } from '../support/withdrawals.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

const HOUR_MS = 3_600_000;

let simulator: TestSimulator;
let fixture: WorkerFixture;
let worker: RunningWorker;
let money: Fixture;
let scope: MerchantScope;
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
  worker = fixture.startWorker();
  await worker.ready;
  const findProvider = createFindProvider({ http, clock, simulatorUrl: simulator.url });
  money = buildFixture(fixture.db, { clock, findProvider, baseUrl: 'http://127.0.0.1:9' });
  scope = await buildFreeMerchant(money);
});
afterEach(async () => {
  await simulator.clearFaults();
  await expectLedgerHolds(fixture.db);
});
afterAll(async () => {
  await fixture.close();
  await Promise.all([simulator.close(), http.close()]);
});

type Channel = 'TELEBIRR' | 'CBE_BIRR' | 'AWASH';
const today = () => addisDay(clock());
const placeOf = (channel: Channel, day = today()) => ({ environment: 'sandbox', channel, day }) as const;
const workflowOf = (channel: Channel) => reconciliationWorkflowId(reconciliationId(placeOf(channel)));
const rowOf = async (channel: Channel) => fixture.db.knex()('reconciliation').where(placeOf(channel)).first();
const discrepancies = () => fixture.db.knex()('reconciliationDiscrepancy').orderBy('id');

const handleOf = (channel: Channel) => fixture.temporal.client.workflow.getHandle(workflowOf(channel));

async function askFor(channel: Channel): Promise<void> {
  const deps = { clock, findProvider: money.findProvider };
  await fixture.runInTransaction((tx) => requestRun(tx, deps, { day: today(), channel }));
}
const ended = async (channel: Channel) =>
  until('the day to end', async () => {
    const row = await rowOf(channel);
    return row?.isRunning === false && (row.status as string);
  });
const statusOf = async (channel: Channel) =>
  handleOf(channel)
    .describe()
    .then(({ searchAttributes }) => searchAttributes['BusinessStatus']?.[0])
    .catch(() => null);
const shows = async (channel: Channel, status: string) =>
  until(`${channel} to be ${status}`, async () => (await statusOf(channel)) === status);

async function compared(channel: Channel): Promise<string> {
  await askFor(channel);
  await ended(channel);
  return (await resultOf(handleOf(channel))) as string;
}

/** A payment known to the provider only, without a workflow of ours; its session has expired. */
async function lostPayment(channel: Channel, phone = '0911000007') {
  const session = await buildSession(money, scope);
  const attemptId = await buildAttempt(money, { ...scope, sessionId: session.sessionId }, { channel, phone });
  await fixture.db.knex()('outbox').delete();
  await money.checkAttempt(attemptId, { notifyWorkflow: false });
  await fixture.db.knex()('outbox').delete();
  await fixture.db.knex()('paymentAttempt').where({ id: attemptId }).update({ status: 'ABANDONED', endedAt: clock() });
  await fixture.db
    .knex()('checkoutSession')
    .where({ id: session.sessionId })
    .update({ status: 'EXPIRED', endedAt: clock() });
  await fixture.db.knex()('transaction').where({ id: session.transactionId }).update({ status: 'EXPIRED' });
  return { ...session, attemptId };
}

test('a payment whose callback was lost and whose session expired is found in the statement and booked late', async () => {
  const { attemptId, sessionId } = await lostPayment('TELEBIRR');
  await until('the provider to be paid', async () => (await simulator.orderOf(attemptId))?.paid);
  expect(await compared('TELEBIRR')).toBe('CLEAN');
  expect(await stateOfSession(fixture.db, sessionId)).toMatchObject({
    session: 'COMPLETED',
    transaction: 'SUCCESS',
    confirmedLate: true,
  });
  expect(await rowOf('TELEBIRR')).toMatchObject({
    status: 'CLEAN',
    listed: { payments: { count: 1 } },
    booked: { payments: { count: 1 } },
    clearingSantim: 10_050n,
  });
  expect(await discrepancies()).toEqual([]);
});

test('a page that is unavailable twice is requested a third time', async () => {
  await simulator.fault({ kind: 'serverError', on: 'statement', channel: 'CBE_BIRR', next: 2 });
  await askFor('CBE_BIRR');
  await shows('CBE_BIRR', 'WAITING');
  await skipTime(fixture.temporal.client, workflowOf('CBE_BIRR'), 60_000);
  expect(await ended('CBE_BIRR')).toBe('CLEAN');
  expect(await simulator.requests('CBE_BIRR statement')).toBe(3);
});

test('an unavailable provider is retried with growing pauses, and the day is compared once it is back', async () => {
  await simulator.fault({ kind: 'serverError', on: 'statement', channel: 'AWASH' });
  await askFor('AWASH');
  await shows('AWASH', 'WAITING');
  await skipTime(fixture.temporal.client, workflowOf('AWASH'), 10 * HOUR_MS);
  expect(await rowOf('AWASH')).toMatchObject({ status: 'INCOMPLETE', isRunning: true });
  const { events } = await handleOf('AWASH').fetchHistory();
  const seconds = (events ?? []).flatMap((event) => {
    const length = event.timerStartedEventAttributes?.startToFireTimeout?.seconds;
    return length === undefined || length === null ? [] : [Number(length)];
  });
  expect(seconds.slice(0, 5)).toEqual([5, 10, 20, 40, 80]);
  expect(Math.max(...seconds)).toBe(1_800);
  await simulator.clearFaults();
  // A request for the day ends the pause of half an hour.
  await askFor('AWASH');
  expect(await ended('AWASH')).toBe('CLEAN');
  expect(await resultOf(handleOf('AWASH'))).toBe('CLEAN');
});

test('a provider that is unavailable for a whole day leaves the day INCOMPLETE, for the next night', async () => {
  await simulator.fault({ kind: 'serverError', on: 'statement', channel: 'AWASH' });
  await askFor('AWASH');
  await shows('AWASH', 'WAITING');
  await skipTime(fixture.temporal.client, workflowOf('AWASH'), 21 * HOUR_MS);
  expect(await ended('AWASH')).toBe('INCOMPLETE');
  await simulator.clearFaults();
  expect(await compared('AWASH')).toBe('CLEAN');
});

test('a listed payment whose outcome the provider does not know is queried until it does', async () => {
  const { attemptId, sessionId } = await lostPayment('CBE_BIRR');
  await until('the provider to be paid', async () => (await simulator.orderOf(attemptId))?.paid);
  await simulator.fault({ kind: 'serverError', on: 'query', channel: 'CBE_BIRR' });
  await askFor('CBE_BIRR');
  await shows('CBE_BIRR', 'WAITING');
  expect(await stateOfSession(fixture.db, sessionId)).toMatchObject({ transaction: 'EXPIRED' });
  await simulator.clearFaults();
  await skipTime(fixture.temporal.client, workflowOf('CBE_BIRR'), HOUR_MS);
  expect(await ended('CBE_BIRR')).toBe('CLEAN');
  expect(await stateOfSession(fixture.db, sessionId)).toMatchObject({ transaction: 'SUCCESS', confirmedLate: true });
});

test('a pause survives a stopped worker and ends in another one', async () => {
  await simulator.fault({ kind: 'serverError', on: 'statement', channel: 'TELEBIRR' });
  await askFor('TELEBIRR');
  await shows('TELEBIRR', 'WAITING');
  await worker.stop();
  worker = fixture.startWorker();
  await worker.ready;
  await simulator.clearFaults();
  await askFor('TELEBIRR');
  expect(await ended('TELEBIRR')).toBe('CLEAN');
});

test('a day whose workflow Temporal has lost is started again', async () => {
  await simulator.fault({ kind: 'serverError', on: 'statement', channel: 'AWASH' });
  await askFor('AWASH');
  await shows('AWASH', 'WAITING');
  await handleOf('AWASH').terminate('as if its database were new');
  await simulator.clearFaults();
  const longAgo = new Date(Date.now() - 60_000);
  await fixture.db
    .knex()('reconciliation')
    .where(placeOf('AWASH'))
    .update({ requestedAt: longAgo, status: 'INCOMPLETE' });
  expect(await ended('AWASH')).toBe('CLEAN');
});

test('the Temporal schedule requests the last days of every channel at two in the night', async () => {
  const { client } = fixture.temporal;
  const schedule = client.schedule.getHandle(`${fixture.config.TASK_QUEUE_PREFIX}nightlyReconciliation`);
  const { spec, info } = await schedule.describe();
  expect(spec.timezone).toBe('Africa/Addis_Ababa');
  expect(info.nextActionTimes[0]?.toISOString()).toMatch(/T23:00:00\.000Z$/);
  await schedule.trigger();
  await until('twelve days to be compared', async () => {
    const done = await fixture.db
      .knex()('reconciliation')
      .where({ status: 'CLEAN', isRunning: false })
      .whereNot({ day: today() });
    return done.length === 12;
  });

  await schedule.delete();
  const { connection } = fixture.temporal;
  const gateway = createTemporalGateway({ config: fixture.config, connection });
  expect(await gateway.ensureTemporal()).toEqual({ created: ['schedule nightlyReconciliation'], missing: [] });
  expect(await gateway.ensureTemporal()).toEqual({ created: [], missing: [] });
  await schedule.delete();
});
