import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { listWorkItems, STALLED_ITEMS } from '../../src/backoffice/work-queue.ts';
import { createRegistry } from '../../src/http/metrics.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { FORMATS } from '../../src/reports/formats/formats.ts';
import { rangeOf } from '../../src/reports/period.ts';
import { SOURCES } from '../../src/reports/sources/sources.ts';
import { findRecoverableReports, measureReports } from '../../src/reports/workflow.ts';
import { buildMerchant, buildSession } from '../support/build.ts';
import {
  insertUnpaid,
  REPORTS,
  REPORTS_DAY as DAY,
  startReports,
  useReports,
  type ReportsOfTest,
} from '../support/reports.ts';
import { requestSettlement, linkAccount } from '../support/settlements.ts';
import { fund } from '../support/withdrawals.ts';

const MINUTE_MS = 60_000;

let { database, fixture, reports, scope } = {} as ReportsOfTest;
useReports((parts) => ({ database, fixture, reports, scope } = parts));

test('a generated report is READY, has a file, and records one report.ready event', async () => {
  await fund(fixture, scope, 100_50n);
  const { report, file } = await reports.download(scope, DAY);
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
    data: { object: 'report', ...report, merchantId: scope.merchantId },
  });
});

test('reports are listed, and filtered by status', async () => {
  const { report } = await reports.download(scope, DAY);
  const queued = await reports.createQueued(scope);
  const ids = async (query: string) =>
    (await reports.get(scope, `${REPORTS}${query}`)).body.data.map((row: { reportId: string }) => row.reportId);
  expect(new Set(await ids(''))).toEqual(new Set([report.reportId, queued.id]));
  expect(await ids('?status=QUEUED,RUNNING')).toEqual([queued.id]);
});

test('a report of another merchant or environment is 404 with the same message as an unknown id, and is not listed', async () => {
  const { report } = await reports.download(scope, DAY);
  const others: MerchantScope[] = [await buildMerchant(database.db), { ...scope, environment: 'live' }];
  for (const other of others) {
    for (const end of ['', '/file']) {
      const theirs = await reports.get(other, `${REPORTS}/${report.reportId}${end}`);
      const unknown = await reports.get(other, `${REPORTS}/${newId('rpt')}${end}`);
      expect([theirs.status, theirs.body.message]).toEqual([404, unknown.body.message]);
    }
    expect((await reports.post(other, `${REPORTS}/${report.reportId}/cancel`)).status).toBe(404);
    expect((await reports.get(other, REPORTS)).body.pagination.total).toBe(0);
  }
});

test.each([
  [{ kind: 'taxes', period: 'day' }, 'kind must be one of payments, refunds, withdrawals, settlements, balance'],
  [{ kind: 'payments', period: 'year' }, 'period must be one of'],
  [{ kind: 'payments', period: 'day', status: 'PAID' }, 'status must be one of PENDING, SUCCESS'],
  [
    { kind: 'withdrawals', period: 'day', status: 'EXPIRED' },
    'status must be one of PENDING, SUCCESS, FAILED, REJECTED',
  ],
  [{ kind: 'balance', period: 'day', status: 'SUCCESS' }, 'status is not a filter of reports of kind balance'],
  [
    { kind: 'settlements', period: 'day', channel: 'TELEBIRR' },
    'channel is not a filter of reports of kind settlements',
  ],
  [{ kind: 'payments', period: 'custom', startDate: '2026-01-01' }, 'endDate is required for period custom'],
  [{ kind: 'payments', period: 'day', date: '2026-02-30' }, 'date must be a date as YYYY-MM-DD'],
  [{ kind: 'withdrawals', period: 'day', search: 'Abebe' }, 'search is not a filter of reports of kind withdrawals'],
  [{ kind: 'balance', period: 'day', held: true }, 'held is not a filter of reports of kind balance'],
  [
    { kind: 'payments', period: 'day', channel: 'TELEBIRR', transactionThrough: 'cbebirr' },
    'channel must not be given beside transactionThrough',
  ],
  [{ kind: 'payments', period: 'day', minAmount: 5, maxAmount: 4 }, 'minAmount must not be more than maxAmount'],
  [{ kind: 'payments', period: 'day', late: 'true' }, 'late must be'],
])('a request of %j is rejected with "%s", and no report is created', async (body, message) => {
  const { status, body: response } = await reports.request(scope, body);
  expect([status, response.message]).toEqual([400, expect.stringContaining(message)]);
  expect((await reports.get(scope, REPORTS)).body.pagination.total).toBe(0);
});

test('a request for more rows than its format takes is rejected, and rows are counted up to the maximum only', async () => {
  await linkAccount(fixture, scope);
  await fund(fixture, scope, 1_000_00n);
  const { id } = await requestSettlement(fixture, scope);
  const more = 500;
  await rows(
    database.db,
    `INSERT INTO settlement (id, merchant_id, environment, request_id, is_full_balance, amount_santim, fee_santim, fee_tax_santim,
       currency, bank_account_id, bank_code, account_number, account_name, status, effective_date, expected_from,
       expected_until, skipped_days, requested_by, requested_at)
     SELECT s.id || n, merchant_id, environment, s.request_id || n, is_full_balance, amount_santim, fee_santim, fee_tax_santim,
       currency, bank_account_id, bank_code, account_number, account_name, status, effective_date, expected_from,
       expected_until, skipped_days, requested_by, requested_at
     FROM settlement s, generate_series(1, CAST(:more AS int)) n WHERE s.id = :id`,
    { id, more },
  );
  const requested = { ...DAY, kind: 'settlements' };
  const { status, body } = await reports.request(scope, { ...requested, format: 'PDF' });
  expect([status, body.message]).toEqual([
    400,
    'format PDF takes at most 500 rows, and there are more: request a shorter period, or CSV or XLSX',
  ]);
  expect((await reports.request(scope, requested)).body.data.rowsTotal).toBe(more + 1);
  for (const { count } of Object.values(SOURCES)) {
    const filter = {
      ...scope,
      range: rangeOf({ startDate: DAY.date, endDate: DAY.date }),
      statuses: null,
      channel: null,
    };
    expect(await count(database.db, filter, 1)).toBeLessThanOrEqual(1);
  }
});

test('a request of a merchant with ten pending reports is 409; other merchants are not affected', async () => {
  for (let count = 0; count < 10; count += 1) await reports.createQueued(scope);
  const { status, body } = await reports.request(scope, DAY);
  expect([status, body.error.code]).toEqual([409, 'INVALID_STATE']);
  expect((await reports.request(await buildMerchant(database.db), DAY)).status).toBe(202);
});

test('a request for a large report enqueues its workflow in the same transaction, one for a small report does not', async () => {
  await reports.createQueued(scope);
  expect(fixture.enqueued).toEqual([]);
  await insertUnpaid(database.db, scope, { count: FORMATS.CSV.immediateRowsMax + 1, at: fixture.clock() });
  const { status, body } = await reports.request(scope, DAY);
  expect([status, body.data]).toEqual([
    202,
    expect.objectContaining({ status: 'QUEUED', rowsTotal: FORMATS.CSV.immediateRowsMax + 1, fileUrl: null }),
  ]);
  expect(fixture.enqueued).toEqual([
    expect.objectContaining({
      workflowType: 'report',
      workflowId: `report-${body.data.reportId}`,
      signal: 'ensureRunning',
    }),
  ]);
});

test('a small report that fails to generate within its request enqueues its workflow', async () => {
  await writeFile(`${reports.folder}-taken`, '');
  const broken = await startReports(fixture, [], `${reports.folder}-taken`);
  const { status, body } = await broken.request(scope, DAY);
  await broken.close();
  expect([status, body.data.status]).toEqual([202, 'RUNNING']);
  expect(fixture.enqueued.map(({ workflowId }) => workflowId)).toEqual([`report-${body.data.reportId}`]);
});

test('a pending report without a workflow is found for recovery 30 seconds after its request', async () => {
  const { id } = await reports.createQueued(scope);
  const found = async () =>
    (await findRecoverableReports(database.db, { after: '', limit: 1_000, onlyPastDue: false })).map(
      (workflow) => workflow.id,
    );
  expect(await found()).not.toContain(id);
  await rows(database.db, `UPDATE report SET created_at = now() - interval '31 seconds' WHERE id = :id`, { id });
  expect(await found()).toContain(id);
  await reports.generator()(id);
  expect(await found()).not.toContain(id);
});

test('a report of which no row was read for 15 minutes is in the work queue as stalled, one in progress is not', async () => {
  for (let count = 0; count < 12; count += 1) await buildSession(fixture, scope);
  const { id } = await reports.createQueued(scope);
  const stalled = async () => {
    const query = { filter: scope, page: { page: 1, limit: 20, after: null }, at: fixture.clock() };
    return (await listWorkItems(database.db, STALLED_ITEMS, query)).rows;
  };
  fixture.pass(15 * MINUTE_MS);
  expect(await stalled()).toEqual([]);
  fixture.pass(1);
  expect(await stalled()).toMatchObject([
    { kind: 'REPORT_PENDING', id, what: 'Generation has not started', workflowId: `report-${id}`, amountSantim: null },
  ]);
  const run = reports.generator({}, 1)(id, (rowsDone) => {
    fixture.pass(2 * MINUTE_MS);
    if (rowsDone === 12) throw new Error('the worker is shut down');
  });
  await expect(run).rejects.toThrow('shut down');
  expect(await stalled()).toEqual([]);
  fixture.pass(12 * MINUTE_MS);
  expect(await stalled()).toMatchObject([
    {
      id,
      what: 'Generation has started and makes no progress',
      detail: { kind: 'payments', format: 'CSV', rowsDone: 10 },
    },
  ]);
  expect(await reports.generator()(id)).toBe('READY');
  expect(await stalled()).toEqual([]);
});

test('metrics count pending reports by status, and measure how long the slowest has made no progress', async () => {
  await rows(database.db, `UPDATE report SET status = 'CANCELLED' WHERE status IN ('QUEUED', 'RUNNING')`);
  const registry = createRegistry('test');
  measureReports(registry, database.db);
  const measured = async () => {
    // The figures of one scrape are measured once.
    await sleep(20);
    const text = await registry.metrics();
    const figure = (name: string): number =>
      Number(new RegExp(`^meskot_reports_${name}.* (\\S+)$`, 'm').exec(text)?.[1]);
    return {
      queued: figure('pending.*QUEUED'),
      running: figure('pending.*RUNNING'),
      oldest: figure('oldest_stalled_seconds'),
    };
  };
  expect(await measured()).toEqual({ queued: 0, running: 0, oldest: 0 });
  const { id } = await reports.createQueued(scope);
  await rows(database.db, `UPDATE report SET requested_at = now() - interval '1 hour' WHERE id = :id`, { id });
  const waiting = await measured();
  expect(waiting).toMatchObject({ queued: 1, running: 0 });
  expect(waiting.oldest).toBeGreaterThanOrEqual(3_600);
  await rows(database.db, `UPDATE report SET status = 'RUNNING', progressed_at = now() WHERE id = :id`, { id });
  const running = await measured();
  expect(running).toMatchObject({ queued: 0, running: 1 });
  expect(running.oldest).toBeLessThan(60);
});

describe('cancelling a report', () => {
  test('that is QUEUED makes it CANCELLED for good, without a file; a repeat is 200', async () => {
    const { id } = await reports.createQueued(scope);
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await reports.post(scope, `${REPORTS}/${id}/cancel`);
      expect([status, body.data.status]).toEqual([200, 'CANCELLED']);
    }
    expect(await reports.generator()(id)).toBe('CANCELLED');
    expect(await reports.storedNames()).toEqual([]);
    const { status, body } = await reports.get(scope, `${REPORTS}/${id}/file`);
    expect([status, body.message]).toEqual([409, 'The report is CANCELLED: it has no file.']);
  });

  test('that is READY is 409', async () => {
    const { report } = await reports.download(scope, DAY);
    const { status, body } = await reports.post(scope, `${REPORTS}/${report.reportId}/cancel`);
    expect([status, body.message]).toEqual([409, 'The report is READY: there is nothing to cancel.']);
  });
});
