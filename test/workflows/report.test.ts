import type { MerchantScope } from '../../src/lib/scope.ts';
import { createReportFiles } from '../../src/reports/files.ts';
import { FORMATS } from '../../src/reports/formats/formats.ts';
import { readReport } from '../../src/reports/model.ts';
import { requestReport, cancelReport } from '../../src/reports/request.ts';
import { reportWorkflowId } from '../../src/reports/workflow-input.ts';
import { insertUnpaid } from '../support/reports.ts';
import { createWorkerWorld, until, type WorkerWorld } from '../support/worker.ts';

const ROWS = FORMATS.CSV.atOnceRowsMax + 5_001;
const DAY = '2026-03-02';
const clock = () => new Date();

let world: WorkerWorld;
let scope: MerchantScope;

beforeAll(async () => {
  world = await createWorkerWorld({ TASK_QUEUES: 'reports' });
  scope = await world.newMerchant();
  await insertUnpaid(world.db, scope, { count: ROWS, at: new Date(`${DAY}T09:00:00.000Z`) });
  await world.startWorker().ready;
}, 120_000);
afterAll(() => world.close());

const ask = async (): Promise<string> => {
  const wanted = { kind: 'payments', format: 'CSV', period: 'day', date: DAY } as const;
  const all = { statuses: null, channel: null, requestedBy: 'key_test' };
  const row = await world.runInTransaction((tx) => requestReport({ tx, clock }, scope, { ...wanted, ...all }));
  return row.id;
};
const result = async (id: string): Promise<string> => {
  const handle = world.temporal.client.workflow.getHandle(reportWorkflowId(id));
  await until('the workflow to be there', async () => handle.describe().catch(() => null));
  return handle.result();
};

test('a large report is made by its workflow, with every row, and told of', async () => {
  const id = await ask();
  expect((await readReport(world.db, id)).status).toBe('QUEUED');
  expect(await result(id)).toBe('READY');
  const row = await readReport(world.db, id);
  expect(row).toMatchObject({ status: 'READY', processedRows: ROWS, totalRows: ROWS });
  let lines = -1;
  const file = await createReportFiles(world.config.REPORTS_DIR).read(row.storageKey ?? '');
  for await (const chunk of file.setEncoding('utf8')) lines += String(chunk).split('\r\n').length - 1;
  expect(lines).toBe(ROWS);
  const events = await world.db('webhookEvent').where({ resourceId: id });
  expect(events).toHaveLength(1);
});

test('one that is cancelled ends its workflow', async () => {
  const id = await ask();
  await world.runInTransaction((tx) => cancelReport({ tx, clock }, scope, id));
  expect(await result(id)).toBe('CANCELLED');
});

test('one whose Temporal has lost it is begun anew by the repair', async () => {
  const id = await ask();
  await world
    .db('outbox')
    .where({ workflowId: reportWorkflowId(id) })
    .delete();
  await world
    .db('report')
    .where({ id })
    .update({ createdAt: new Date(Date.now() - 60_000) });
  await until('it is READY', async () => (await readReport(world.db, id)).status === 'READY');
});
