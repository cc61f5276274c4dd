import { randomBytes } from 'node:crypto';

import { Worker } from '@temporalio/worker';

import { createReconciliationActivities } from '../../activities/reconciliation.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/lib/ids.ts';
import type { StatementRow } from '../../src/providers/provider.ts';
import { importNextPage, type Import, type ImportedPage } from '../../src/reconciliation/import.ts';
import { recheckOrders } from '../../src/reconciliation/recheck.ts';
import { requestRun } from '../../src/reconciliation/request.ts';
import { reconciliationWorkflowId } from '../../src/reconciliation/workflow.ts';
import { createTemporalGateway, type TemporalGateway } from '../../src/temporal/client.ts';
import { SCHEDULES } from '../../src/temporal/requirements.ts';
import {
  createReconciliationFixture,
  NOON,
  readDay,
  TODAY,
  type ReconciliationFixture,
} from '../reconciliation/fixture.ts';
import { testStack } from '../support/stack-facts.ts';
import { connectTestTemporal, skipTime, type TestTemporal, resultOf } from '../support/temporal.ts';
import { until } from '../support/until.ts';

/** Enough events for Temporal to suggest a new run. */
const PAGES = 120;
const HOUR_MS = 3_600_000;
const CHANNELS = ['TELEBIRR', 'CBE_BIRR', 'AWASH'] as const;
type Channel = (typeof CHANNELS)[number];

let fixture: ReconciliationFixture;
let temporal: TestTemporal;
let gateway: TemporalGateway;
let taskQueue: string;
let stopWorker: () => Promise<void>;
/** Functions that run before each step, or instead of it if they return a result. */
let before: {
  importNextPage?: (run: Import) => Promise<ImportedPage | void>;
  recheckOrders?: (after: string) => Promise<void>;
} = {};

beforeAll(async () => {
  fixture = await createReconciliationFixture();
  temporal = await connectTestTemporal();
  const { connection } = temporal;
  const { temporalAddress, workflowBundlePath = '' } = testStack();
  const config = readConfig({
    DATABASE_URL: fixture.database.url,
    TEMPORAL_ADDRESS: temporalAddress,
    TASK_QUEUE_PREFIX: `${randomBytes(4).toString('hex')}-`,
  });
  gateway = createTemporalGateway({ config, connection });
  await gateway.ensureTemporal();
  for (const { workflowType } of SCHEDULES)
    await temporal.client.schedule.getHandle(`${config.TASK_QUEUE_PREFIX}${workflowType}`).delete();
  taskQueue = `${config.TASK_QUEUE_PREFIX}money`;
  const activities = createReconciliationActivities(fixture, {
    importNextPage: async (deps, run) => {
      return (await before.importNextPage?.(run)) ?? importNextPage(deps, run);
    },
    recheckOrders: async (deps, day) => {
      await before.recheckOrders?.(day.after);
      return recheckOrders(deps, day);
    },
  });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: { codePath: workflowBundlePath },
    activities,
  });
  const running = worker.run();
  stopWorker = async () => {
    worker.shutdown();
    await running;
  };
});
beforeEach(() => {
  before = {};
  fixture.alterLists((page) => page);
});
afterAll(async () => {
  await stopWorker();
  await temporal.close();
  await fixture.close();
});

const idOf = (channel: Channel) => `sandbox-${channel}-${TODAY}`;
const handleOf = (channel: Channel) => temporal.client.workflow.getHandle(reconciliationWorkflowId(idOf(channel)));
const rowOf = (channel: Channel) => readDay(fixture.db, { channel });

/** Like the outbox after the commit. */
async function askFor(channel: Channel): Promise<void> {
  await fixture.runInTransaction((tx) => requestRun(tx, fixture, { day: TODAY, channel }));
  const enqueued = fixture.enqueued
    .filter(({ workflowId }) => workflowId === reconciliationWorkflowId(idOf(channel)))
    .at(-1);
  if (!enqueued) throw new Error('no message was enqueued');
  await gateway.send(enqueued);
}

const rowFor = (orderId: string): StatementRow => ({
  orderId,
  type: 'payment',
  amountSantim: 1_00n,
  currency: 'ETB',
  providerReference: `REF-${orderId}`,
  at: NOON,
});

test('a long statement is imported in several runs, and a rerun requested in the first is served by the last', async () => {
  const ids = Array.from({ length: PAGES }, () => newId('pat'));
  let pages = 0;
  fixture.alterLists((_page, { cursor }) => {
    const nth = Number(cursor ?? 0);
    pages += 1;
    // The second import finds a statement cut to its first page and ends there.
    const isLast = pages > PAGES || nth + 1 === PAGES;
    return { kind: 'page', rows: [rowFor(ids[nth] ?? '')], next: isLast ? null : String(nth + 1) };
  });
  before.importNextPage = async () => {
    if (pages !== 10) return;
    before = {};
    await askFor('TELEBIRR');
  };
  await askFor('TELEBIRR');
  const first = (await handleOf('TELEBIRR').describe()).runId;
  expect(await resultOf(handleOf('TELEBIRR'))).toBe('DISCREPANCIES');
  expect((await handleOf('TELEBIRR').describe()).runId).not.toBe(first);
  // Each page was read once, then the statement again because of the requested rerun.
  expect(pages).toBe(PAGES + 1);
  expect(await rowOf('TELEBIRR')).toMatchObject({
    isRunning: false,
    importNo: 2,
    completedImportNo: 2,
    listed: { payments: { count: 1 } },
  });
  expect(
    await fixture.db
      .knex()('statementRow')
      .where({ reconciliationId: idOf('TELEBIRR') }),
  ).toHaveLength(PAGES);
});

test('a statement whose pages form a circle leaves the day INCOMPLETE with the error', async () => {
  fixture.alterLists((_page, { cursor }) => ({ kind: 'page', rows: [], next: cursor === '1' ? '2' : '1' }));
  await askFor('AWASH');
  expect(await resultOf(handleOf('AWASH'))).toBe('INCOMPLETE');
  expect(await rowOf('AWASH')).toMatchObject({
    status: 'INCOMPLETE',
    isRunning: false,
    error: expect.stringMatching(/^the statement never ends: page \d leads back to an earlier one$/),
  });
  fixture.alterLists((page) => page);
  await askFor('AWASH');
  expect(await resultOf(handleOf('AWASH'))).toBe('CLEAN');
  expect(await rowOf('AWASH')).toMatchObject({ status: 'CLEAN', error: null });
});

test.each(['importNextPage', 'recheckOrders'] as const)(
  'a permanent error of %s abandons the run after three attempts, with the error',
  async (step) => {
    let tries = 0;
    before[step] = async () => {
      tries += 1;
      throw new RangeError('Invalid time value');
    };
    await askFor('AWASH');
    expect(await resultOf(handleOf('AWASH'))).toBe('INCOMPLETE');
    expect(tries).toBe(3);
    expect(await rowOf('AWASH')).toMatchObject({
      isRunning: false,
      error: expect.stringContaining('Invalid time value'),
    });
  },
);

test('a transient error of PostgreSQL is retried', async () => {
  let tries = 0;
  before.importNextPage = async () => {
    tries += 1;
    if (tries < 5) throw Object.assign(new Error('the database system is starting up'), { code: '57P03' });
  };
  await askFor('AWASH');
  await skipTime(temporal.client, reconciliationWorkflowId(idOf('AWASH')), HOUR_MS);
  expect(await resultOf(handleOf('AWASH'))).toBe('CLEAN');
  expect(tries).toBe(5);
});

test('a request during the pause of a recheck imports the statement again', async () => {
  await fixture.pay('CBE_BIRR');
  await fixture.live(2_000);
  await fixture.simulator.fault({ kind: 'serverError', on: 'query', channel: 'CBE_BIRR' });
  await askFor('CBE_BIRR');
  await until('it to wait', async () => {
    const { searchAttributes } = await handleOf('CBE_BIRR').describe();
    return searchAttributes['BusinessStatus']?.[0] === 'WAITING';
  });
  await fixture.simulator.clearFaults();
  await askFor('CBE_BIRR');
  expect(await resultOf(handleOf('CBE_BIRR'))).toBe('CLEAN');
  expect(await rowOf('CBE_BIRR')).toMatchObject({ importNo: 2, completedImportNo: 2, isRunning: false });
});

test('while a statement fails that the others were read without, the import does not start again', async () => {
  const failing: ImportedPage[] = Array.from({ length: 6 }, () => [
    { kind: 'more', pages: 1, isFailed: true } as const,
    { kind: 'unknown', reason: 'http', isPartial: true } as const,
  ]).flat();
  before.importNextPage = async () => failing.shift();
  const { importNo = 0 } = ((await rowOf('AWASH')) ?? {}) as { importNo?: number };
  await askFor('AWASH');
  await skipTime(temporal.client, reconciliationWorkflowId(idOf('AWASH')), HOUR_MS);
  expect(await resultOf(handleOf('AWASH'))).toBe('CLEAN');
  expect(await rowOf('AWASH')).toMatchObject({ importNo: importNo + 1, completedImportNo: importNo + 1 });
});

test('a statement that was left out of a comparison is requested again every hour, and the others are not', async () => {
  const partial: ImportedPage = { kind: 'end', pages: 1, isPartial: true };
  let left = 2;
  const asked: unknown[] = [];
  before.importNextPage = async ({ retries }) => {
    asked.push(retries);
    left -= 1;
    return left >= 0 ? partial : undefined;
  };
  const { importNo = 0 } = ((await rowOf('AWASH')) ?? {}) as { importNo?: number };
  await askFor('AWASH');
  for (const _hour of [1, 2]) {
    await until('it to wait', async () => {
      const { searchAttributes } = await handleOf('AWASH').describe();
      return searchAttributes['BusinessStatus']?.[0] === 'WAITING';
    });
    await skipTime(temporal.client, reconciliationWorkflowId(idOf('AWASH')), HOUR_MS);
  }
  expect(await resultOf(handleOf('AWASH'))).toBe('CLEAN');
  expect(asked).toEqual([undefined, 1, 2]);
  expect(await rowOf('AWASH')).toMatchObject({ importNo: importNo + 1, completedImportNo: importNo + 1 });
});

/** The input of a run that continues from this position. */
async function goOn(progress: object): Promise<{ result: string; importNo: number }> {
  const day = { environment: 'sandbox', channel: 'AWASH', day: TODAY } as const;
  const reconciliationId = idOf('AWASH');
  await fixture.runInTransaction((tx) => requestRun(tx, fixture, day));
  const current = await fixture.steps.startImport(reconciliationId, fixture.clock());
  const args = [
    { reconciliationId, ...day },
    { current, sinceMs: Date.now(), ...progress },
  ];
  const workflowId = reconciliationWorkflowId(reconciliationId);
  const result: string = await temporal.client.workflow.execute('reconciliation', { taskQueue, workflowId, args });
  return { result, importNo: current.importNo };
}

test('a run whose time is over while it imports is abandoned', async () => {
  let pages = 0;
  fixture.alterLists(() => ({ kind: 'page', rows: [], next: String((pages += 1)) }));
  expect(await goOn({ sinceMs: Date.now() - 21 * HOUR_MS })).toMatchObject({ result: 'INCOMPLETE' });
  expect(pages).toBe(1);
  expect(await rowOf('AWASH')).toMatchObject({ isRunning: false, error: 'the statement was not imported in time' });
});

test('a continued run rechecks from the position of the previous one, and keeps its rerun request', async () => {
  const positions: string[] = [];
  before.recheckOrders = async (after) => void positions.push(after);
  const after = 'payout/wd_1';
  const first = await goOn({ recheck: { after, uncertainCount: 0, rounds: 1 }, isRerunRequested: false });
  expect(first.result).toBe('CLEAN');
  expect(positions[0]).toBe(after);
  expect(await rowOf('AWASH')).toMatchObject({ importNo: first.importNo });
  // Earlier runs had no such fields in their input.
  const second = await goOn({});
  expect(second.result).toBe('CLEAN');
  expect(await rowOf('AWASH')).toMatchObject({ importNo: second.importNo });
  const third = await goOn({ isRerunRequested: true });
  expect(third.result).toBe('CLEAN');
  expect(await rowOf('AWASH')).toMatchObject({ importNo: third.importNo + 1, completedImportNo: third.importNo + 1 });
});
