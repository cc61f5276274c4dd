import { addisDay, DAY_MS } from '../../src/lib/dates.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { parseBirr } from '../../src/lib/money.ts';
import type { Owner } from '../../src/lib/owner.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { askForDay } from '../../src/reconciliation/ask.ts';
import { reconciliationId, reconciliationWorkflowId } from '../../src/reconciliation/workflow-input.ts';
import { buildAttempt, buildSession, buildWorld, standing, type World } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { skipTime } from '../support/temporal.ts';
import { buildFreeMerchant } from '../support/withdrawals.ts';
import { createWorkerWorld, until, type WorkerWorld } from '../support/worker.ts';

const HOUR_MS = 3_600_000;

let simulator: TestSimulator;
let world: WorkerWorld;
let money: World;
let owner: Owner;
const http = createHttpClient();
const clock = () => new Date();

beforeAll(async () => {
  simulator = await startTestSimulator();
  // Nothing listens there: callbacks are lost, as they are when our API is away.
  world = await createWorkerWorld({ SIMULATOR_URL: simulator.url, BASE_URL: 'http://127.0.0.1:9' });
  await world.startWorker().ready;
  const findProvider = createFindProvider({ http, clock, simulatorUrl: simulator.url });
  money = buildWorld(world.db, { clock, findProvider, baseUrl: 'http://127.0.0.1:9' });
  owner = await buildFreeMerchant(money);
});
afterEach(async () => {
  await simulator.clearFaults();
  await expectLedgerHolds(world.db);
});
afterAll(async () => {
  await world.close();
  await Promise.all([simulator.close(), http.close()]);
});

type Channel = 'TELEBIRR' | 'CBE_BIRR' | 'AWASH';
const today = () => addisDay(clock());
const placeOf = (channel: Channel, day = today()) => ({ environment: 'sandbox', channel, day }) as const;
const workflowOf = (channel: Channel) => reconciliationWorkflowId(reconciliationId(placeOf(channel)));
const rowOf = async (channel: Channel) => world.db('reconciliation').where(placeOf(channel)).first();
const differences = () => world.db('reconciliationDifference').orderBy('id');

async function compared(channel: Channel): Promise<string> {
  const deps = { clock, findProvider: money.findProvider };
  await world.runChange((change) => askForDay(change, deps, { day: today(), channel }));
  const handle = world.temporal.client.workflow.getHandle(workflowOf(channel));
  await until('the day to end', async () => (await rowOf(channel))?.open === false);
  return (await handle.result()) as string;
}

/** Sent to the provider and left there, as if nothing of ours lived on; its session is over. */
async function lostPayment(channel: Channel, phone = '0911000007') {
  const session = await buildSession(money, owner);
  const attemptId = await buildAttempt(money, { ...owner, sessionId: session.sessionId }, { channel, phone });
  await world.db('outbox').delete();
  await money.checkAttempt(attemptId, { tellWorkflow: false });
  await world.db('outbox').delete();
  await world.db('paymentAttempt').where({ id: attemptId }).update({ status: 'ABANDONED', endedAt: clock() });
  await world.db('checkoutSession').where({ id: session.sessionId }).update({ status: 'EXPIRED', endedAt: clock() });
  await world.db('transaction').where({ id: session.transactionId }).update({ status: 'EXPIRED' });
  return { ...session, attemptId };
}

test('a payment whose callback was lost and whose session expired is found by the list, and booked late', async () => {
  const { attemptId, sessionId } = await lostPayment('TELEBIRR');
  await until('the provider to be paid', async () => (await simulator.orderOf(attemptId))?.paid);
  expect(await compared('TELEBIRR')).toBe('CLEAN');
  expect(await standing(world.db, sessionId)).toMatchObject({
    session: 'COMPLETED',
    transaction: 'SUCCESS',
    lateConfirmation: true,
  });
  expect(await rowOf('TELEBIRR')).toMatchObject({
    status: 'CLEAN',
    theirPayments: 1,
    ourPayments: 1,
    clearingSantim: 10_050n,
  });
  expect(await differences()).toEqual([]);
});
