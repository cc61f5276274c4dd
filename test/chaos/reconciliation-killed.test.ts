import { addisDay, DAY_MS } from '../../src/lib/dates.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { newId } from '../../src/lib/ids.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { requestRun } from '../../src/reconciliation/request.ts';
import { anOrder } from '../providers/sandbox.ts';
import { readDay } from '../reconciliation/fixture.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startProgram, type Program } from '../support/program.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

/** More than one page of the simulator's statement. */
const PAYMENTS = 210;
const CHANNEL = 'AWASH';

let simulator: TestSimulator;
let fixture: WorkerFixture;
let worker: Program;
let settings: Record<string, string>;
const http = createHttpClient();
/** A past day: each day has one workflow id, and other tests use today's. */
const clock = () => new Date(Date.now() - 60 * DAY_MS);

beforeAll(async () => {
  simulator = await startTestSimulator({ clock });
  const own = { TASK_QUEUES: 'money', SIMULATOR_URL: simulator.url, PUBLIC_BASE_URL: 'http://127.0.0.1:9' };
  fixture = await createWorkerFixture(own);
  settings = {
    ...own,
    DATABASE_URL: fixture.database.url,
    TEMPORAL_ADDRESS: fixture.config.TEMPORAL_ADDRESS,
    TASK_QUEUE_PREFIX: fixture.config.TASK_QUEUE_PREFIX,
  };
  worker = await startProgram('worker', settings);
});
afterAll(async () => {
  await expectLedgerHolds(fixture.db);
  await worker.kill();
  await fixture.close();
  await Promise.all([simulator.close(), http.close()]);
});

const row = () => readDay(fixture.db, { channel: CHANNEL });

test('a worker killed during a statement import resumes it after its restart, with no row lost or repeated', async () => {
  const findProvider = createFindProvider({ http, clock, simulatorUrl: simulator.url, timeoutMs: 10_000 });
  const provider = findProvider(CHANNEL, 'sandbox');
  const expiresAt = new Date(clock().getTime() + 30 * 60_000);
  const orders = Array.from({ length: PAYMENTS }, () =>
    anOrder('http://127.0.0.1:9', { orderId: newId('pat'), expiresAt }),
  );
  for (const order of orders) await provider?.initiate(order);
  await simulator.advance(2_000);
  const [first] = orders;
  expect(await provider?.query(first?.orderId ?? '')).toMatchObject({ kind: 'succeeded' });

  // The first page arrives; the second hangs until the worker is killed.
  await simulator.fault({ kind: 'hang', on: 'statement', channel: CHANNEL, after: 1 });
  await fixture.runInTransaction((tx) =>
    requestRun(tx, { findProvider, clock: () => new Date() }, { day: addisDay(clock()), channel: CHANNEL }),
  );
  await until('the first page to be stored', async () => ((await row())?.pages ?? 0) > 0);
  await worker.kill();
  await simulator.clearFaults();
  const left = (await row()) as { status: string; pages: number };
  expect(left.status).toBe('INCOMPLETE');
  expect(left.pages).toBe(1);

  worker = await startProgram('worker', settings);
  await until('the day to end', async () => (await row())?.isRunning === false);
  expect(await row()).toMatchObject({
    status: 'DISCREPANCIES',
    importNo: 1,
    completedImportNo: 1,
    pages: 2,
    listed: { payments: { count: PAYMENTS } },
  });
  // The orders were created at the provider only.
  const found = await fixture.db.knex()('reconciliationDiscrepancy').where({ kind: 'UNKNOWN_ORDER', closedAt: null });
  expect(new Set(found.map(({ orderId }) => orderId as string))).toEqual(new Set(orders.map(({ orderId }) => orderId)));
}, 120_000);
