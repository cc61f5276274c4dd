import { writeFile } from 'node:fs/promises';

import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Owner } from '../../src/lib/owner.ts';
import { FORMATS } from '../../src/reports/formats.ts';
import { openReports } from '../../src/reports/open-reports.ts';
import { buildMerchant, buildWorld, type World } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertUnpaid, REPORTS, REPORTS_DAY as DAY, startReports, type Reports } from '../support/reports.ts';
import { fund } from '../support/withdrawals.ts';

let database: TestDatabase;
let world: World;
let reports: Reports;
let owner: Owner;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  world = buildWorld(database.db);
  reports = await startReports(world);
  owner = await buildMerchant(database.db);
});
afterEach(() => reports.close());
afterAll(() => database.drop());

test('a report is told of by one event when its file is there', async () => {
  await fund(world, owner, 100_50n);
  const { report, file } = await reports.fetched(owner, DAY);
  expect(report).toMatchObject({ status: 'READY', rowsDone: 1, rowsTotal: 1, expiresAt: '2026-04-01T09:00:00.000Z' });
  expect(file.status).toBe(200);
  const events = await rows<{ event: string; data: Record<string, unknown> }>(
    database.db,
    `SELECT event, CAST(convert_from(payload, 'UTF8') AS jsonb) -> 'data' AS data FROM webhook_event WHERE resource_id = :id`,
    { id: report.reportId },
  );
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    event: 'report.ready',
    data: { object: 'report', ...report, merchantId: owner.merchantId },
  });
});

test('reports are listed with how far they are, and told by their status', async () => {
  const { report } = await reports.fetched(owner, DAY);
  const queued = await reports.askQuietly(owner);
  const ids = async (query: string) =>
    (await reports.get(owner, `${REPORTS}${query}`)).body.data.map((row: { reportId: string }) => row.reportId);
  expect(new Set(await ids(''))).toEqual(new Set([report.reportId, queued.id]));
  expect(await ids('?status=QUEUED,RUNNING')).toEqual([queued.id]);
});

test("another merchant's report, and the same merchant's in the other environment, is like one that never was", async () => {
  const { report } = await reports.fetched(owner, DAY);
  const others: Owner[] = [await buildMerchant(database.db), { ...owner, environment: 'live' }];
  for (const other of others) {
    for (const end of ['', '/file']) {
      const theirs = await reports.get(other, `${REPORTS}/${report.reportId}${end}`);
      const nobodys = await reports.get(other, `${REPORTS}/${newId('rpt')}${end}`);
      expect([theirs.status, theirs.body.message]).toEqual([404, nobodys.body.message]);
    }
    expect((await reports.post(other, `${REPORTS}/${report.reportId}/cancel`)).status).toBe(404);
    expect((await reports.get(other, REPORTS)).body.pagination.total).toBe(0);
  }
});

test.each([
  [{ kind: 'taxes', period: 'day' }, 'kind must be one of payments, withdrawals, settlements, balance'],
  [{ kind: 'payments', period: 'year' }, 'period must be one of'],
  [{ kind: 'payments', period: 'day', format: 'PDF' }, 'format PDF is the statement of settlements'],
  [{ kind: 'payments', period: 'day', status: 'PAID' }, 'status must be one of PENDING, SUCCESS'],
  [
    { kind: 'withdrawals', period: 'day', status: 'EXPIRED' },
    'status must be one of PENDING, SUCCESS, FAILED, REJECTED',
  ],
  [{ kind: 'balance', period: 'day', status: 'SUCCESS' }, 'status is nothing that a report of kind balance'],
  [{ kind: 'settlements', period: 'day', channel: 'TELEBIRR' }, 'channel is nothing that a report of kind settlements'],
  [{ kind: 'payments', period: 'custom', startDate: '2026-01-01' }, 'endDate is required for period custom'],
  [{ kind: 'payments', period: 'day', date: '2026-02-30' }, 'date must be a date as YYYY-MM-DD'],
])('%o is refused with a sentence, and nothing is asked for', async (body, message) => {
  const { status, body: answer } = await reports.ask(owner, body);
  expect([status, answer.message]).toEqual([400, expect.stringContaining(message)]);
  expect((await reports.get(owner, REPORTS)).body.pagination.total).toBe(0);
});

test('a merchant has at most ten reports open', async () => {
  for (let count = 0; count < 10; count += 1) await reports.askQuietly(owner);
  const { status, body } = await reports.ask(owner, DAY);
  expect([status, body.error.code]).toEqual([409, 'INVALID_STATE']);
  expect((await reports.ask(await buildMerchant(database.db), DAY)).status).toBe(202);
});

test('a large report is handed to a workflow in the change that asks for it, a small one is not', async () => {
  await reports.askQuietly(owner);
  expect(world.told).toEqual([]);
  await insertUnpaid(database.db, owner, { count: FORMATS.CSV.atOnceRowsMax + 1, at: world.clock() });
  const { status, body } = await reports.ask(owner, DAY);
  expect([status, body.data]).toEqual([
    202,
    expect.objectContaining({ status: 'QUEUED', rowsTotal: FORMATS.CSV.atOnceRowsMax + 1, fileUrl: null }),
  ]);
  expect(world.told).toEqual([
    expect.objectContaining({ workflowType: 'report', workflowId: `report-${body.data.reportId}`, signal: 'wanted' }),
  ]);
});

test('a small report that cannot be made at once is handed to a workflow', async () => {
  await writeFile(`${reports.folder}-taken`, '');
  const broken = await startReports(world, [], `${reports.folder}-taken`);
  const { status, body } = await broken.ask(owner, DAY);
  await broken.close();
  expect([status, body.data.status]).toEqual([202, 'RUNNING']);
  expect(world.told.map(({ workflowId }) => workflowId)).toEqual([`report-${body.data.reportId}`]);
});

test('a report that was asked for and has neither file nor workflow is found, half a minute later', async () => {
  const { id } = await reports.askQuietly(owner);
  const found = async () => (await openReports(database.db, '', 1_000)).map((open) => open.id);
  expect(await found()).not.toContain(id);
  await rows(database.db, `UPDATE report SET created_at = now() - interval '31 seconds' WHERE id = :id`, { id });
  expect(await found()).toContain(id);
  await reports.makeWith()(id);
  expect(await found()).not.toContain(id);
});

describe('one that is taken back', () => {
  test('is CANCELLED for good, and has no file', async () => {
    const { id } = await reports.askQuietly(owner);
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await reports.post(owner, `${REPORTS}/${id}/cancel`);
      expect([status, body.data.status]).toEqual([200, 'CANCELLED']);
    }
    expect(await reports.makeWith()(id)).toBe('CANCELLED');
    expect(await reports.kept()).toEqual([]);
    const { status, body } = await reports.get(owner, `${REPORTS}/${id}/file`);
    expect([status, body.message]).toEqual([409, 'The report is CANCELLED: it has no file.']);
  });

  test('when it is READY already, is a contradiction', async () => {
    const { report } = await reports.fetched(owner, DAY);
    const { status, body } = await reports.post(owner, `${REPORTS}/${report.reportId}/cancel`);
    expect([status, body.message]).toEqual([409, 'The report is READY: there is nothing to cancel.']);
  });
});
