import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { rows } from '../../src/lib/db.ts';
import { AppError } from '../../src/lib/errors.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { expireReports, removeAbandoned } from '../../src/reports/expire.ts';
import type { ReportFiles } from '../../src/reports/files.ts';
import { createGenerateReport, giveUpReport, KEPT_MS } from '../../src/reports/generate.ts';
import { readReport } from '../../src/reports/model.ts';
import { buildMerchant, buildSession, buildWorld, type World } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { REPORTS, REPORTS_DAY as DAY, startReports, type Reports } from '../support/reports.ts';
import { fund } from '../support/withdrawals.ts';

let database: TestDatabase;
let world: World;
let reports: Reports;
let scope: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  world = buildWorld(database.db);
  reports = await startReports(world);
  scope = await buildMerchant(database.db);
});
afterEach(() => reports.close());
afterAll(() => database.drop());

describe('whoever makes it', () => {
  test('gives up when it is taken back, and leaves nothing behind', async () => {
    for (let count = 0; count < 12; count += 1) await buildSession(world, scope);
    const { id } = await reports.askQuietly(scope);
    const files = reports.watched(async () => void (await reports.post(scope, `${REPORTS}/${id}/cancel`)));
    const status = await reports.makeWith(files, 1)(id);
    expect(status).toBe('CANCELLED');
    expect(await reports.kept()).toEqual([]);
  });

  test('shows how far it is', async () => {
    for (let count = 0; count < 25; count += 1) await buildSession(world, scope);
    const { id } = await reports.askQuietly(scope);
    const shown = new Set<number>();
    const heard: number[] = [];
    const make = createGenerateReport({
      ...world,
      pageRows: 1,
      files: reports.watched(async () => void shown.add((await readReport(database.db, id)).processedRows)),
    });
    expect(await make(id, (rowsDone) => heard.push(rowsDone))).toBe('READY');
    expect([...shown]).toEqual([0, 10, 20]);
    expect(heard.slice(0, 25)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
    expect(await readReport(database.db, id)).toMatchObject({ processedRows: 25, totalRows: 25 });
  });

  test('may be killed at any time: another run begins anew, and what the dead one left is removed', async () => {
    for (let count = 0; count < 5; count += 1) await buildSession(world, scope);
    const { id } = await reports.askQuietly(scope);
    const program = resolve(import.meta.dirname, '../support/slow-report.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', program, database.url, reports.folder, id]);
    for await (const _ of child.stdout) break;
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await readReport(database.db, id)).status).toBe('RUNNING');
    const [left = ''] = await reports.kept();
    await utimes(join(reports.folder, left), new Date(0), new Date(0));
    expect(await reports.makeWith()(id)).toBe('READY');
    await expireReports({ ...world, files: reports.files });
    expect(await reports.kept()).toHaveLength(2);
    await removeAbandoned({ ...world, files: reports.files });
    expect(await reports.kept()).toEqual([(await readReport(database.db, id)).storageKey]);
    expect((await reports.get(scope, `${REPORTS}/${id}/file`)).text.trimEnd().split('\r\n')).toHaveLength(6);
  });

  test('and comes back after another has taken over, gives up and removes its file', async () => {
    await fund(world, scope, 100_00n);
    const { id } = await reports.askQuietly(scope);
    let thaw = (): void => {};
    const frozen = new Promise<void>((resolve) => (thaw = resolve));
    const slow = reports.makeWith({
      write: async (chunks) => {
        const file = await reports.files.write(chunks);
        await frozen;
        return file;
      },
    })(id);
    await untilRunning(id);
    expect(await reports.makeWith()(id)).toBe('READY');
    const first = await readReport(database.db, id);
    thaw();
    expect(await slow).toBe('READY');
    expect(await readReport(database.db, id)).toEqual(first);
    expect(await reports.kept()).toEqual([first.storageKey]);
    const enqueued = await rows(database.db, 'SELECT 1 FROM webhook_event WHERE resource_id = :id', { id });
    expect(enqueued).toHaveLength(1);
  });

  test('and fails after another has taken over, does not end what the other is making', async () => {
    const { id } = await reports.askQuietly(scope);
    const other = { runId: 'another run' };
    const beaten = reports.makeWith({
      write: async () => {
        await rows(database.db, 'UPDATE report SET run_id = :runId WHERE id = :id', { ...other, id });
        throw new AppError('VALIDATION_ERROR', 'There are too many.');
      },
    })(id);
    expect(await beaten).toBe('RUNNING');
    expect(await readReport(database.db, id)).toMatchObject({ ...other, failure: null });
    const failing = reports.makeWith({
      write: async () => Promise.reject(new AppError('VALIDATION_ERROR', 'There are too many.')),
    });
    expect(await failing(id)).toBe('FAILED');
  });

  test('and is stopped between two pages, leaves the report to the next', async () => {
    for (let count = 0; count < 5; count += 1) await buildSession(world, scope);
    const { id } = await reports.askQuietly(scope);
    const stopped = reports.makeWith({}, 1)(id, (rowsDone) => {
      if (rowsDone === 3) throw new Error('the worker is shut down');
    });
    await expect(stopped).rejects.toThrow('the worker is shut down');
    expect(await reports.kept()).toEqual([]);
    expect((await readReport(database.db, id)).status).toBe('RUNNING');
    expect(await reports.makeWith()(id)).toBe('READY');
  });

  test('and cannot, throws it for a repeat; given up, it is FAILED and says why', async () => {
    const { id } = await reports.askQuietly(scope);
    const full = reports.makeWith({
      write: async () => Promise.reject(new Error('ENOSPC: no space left on /var/lib')),
    });
    await expect(full(id)).rejects.toThrow('ENOSPC');
    expect(await giveUpReport(world, id)).toBe('FAILED');
    const { body } = await reports.get(scope, `${REPORTS}/${id}`);
    expect(body.data).toMatchObject({ status: 'FAILED', failure: { code: 'INTERNAL_ERROR' }, fileUrl: null });
    expect(body.data.failure.message).not.toContain('ENOSPC');
  });

  test('and was never begun, is given up as well', async () => {
    const { id } = await reports.askQuietly(scope);
    expect(await giveUpReport(world, id)).toBe('FAILED');
  });
});

test('rows that are paid for while the file is written are not in it: all are of one instant', async () => {
  for (let count = 0; count < 3; count += 1) await fund(world, scope, 100_00n);
  const { id } = await reports.askQuietly(scope);
  await reports.makeWith(
    reports.watched(() => fund(world, scope, 500_00n)),
    1,
  )(id);
  const { body } = await reports.get(scope, `${REPORTS}/${id}`);
  expect(body.data).toMatchObject({ status: 'READY', rowsTotal: 3, totals: { amount: 300 } });
  const [journals] = await rows<{ within: number; beyond: number }>(
    database.db,
    `SELECT count(*) FILTER (WHERE created_at < :at)::int AS within, count(*) FILTER (WHERE created_at > :at)::int AS beyond
     FROM ledger_journal WHERE merchant_id = :merchantId`,
    { at: new Date(body.data.snapshotAt), merchantId: scope.merchantId },
  );
  expect(journals?.within).toBe(3);
  expect(journals?.beyond).toBeGreaterThan(1);
  const file = await reports.get(scope, `${REPORTS}/${id}/file`);
  expect(file.text.trimEnd().split('\r\n')).toHaveLength(4);
});

test('after 30 days the file is gone, and the answer says until when it was kept', async () => {
  const { report } = await reports.fetched(scope, DAY);
  const path = `${REPORTS}/${report.reportId}`;
  const [name = ''] = await reports.kept();
  await utimes(join(reports.folder, name), new Date(0), new Date(0));
  world.pass(KEPT_MS - 1);
  await expireReports({ ...world, files: reports.files });
  await removeAbandoned({ ...world, files: reports.files });
  expect((await reports.get(scope, `${path}/file`)).status).toBe(200);
  world.pass(1);
  const late = await reports.get(scope, `${path}/file`);
  expect([late.status, late.body.message]).toEqual([404, expect.stringContaining(report.expiresAt)]);
  await expireReports({ ...world, files: reports.files });
  expect(await reports.kept()).toEqual([]);
  expect((await reports.get(scope, path)).body.data).toMatchObject({
    status: 'EXPIRED',
    fileUrl: null,
    sha256: report.sha256,
  });
  expect((await reports.get(scope, `${path}/file`)).body.message).toBe(late.body.message);
});

test('whatever files there are, expiring looks at none of them, and asks an index', async () => {
  const { report } = await reports.fetched(scope, DAY);
  world.pass(KEPT_MS);
  const blind: ReportFiles = {
    ...reports.files,
    unchangedSince: () => {
      throw new Error('every file is looked at');
    },
  };
  await expireReports({ ...world, files: blind });
  expect((await readReport(database.db, report.reportId)).status).toBe('EXPIRED');
  const plan = await rows(
    database.db,
    `EXPLAIN SELECT id, storage_key FROM report WHERE status = 'READY' AND expires_at <= now() ORDER BY expires_at LIMIT 500`,
  );
  expect(JSON.stringify(plan)).toContain('report_expiring');
});

test('what is being written is not abandoned, and neither is a stranger’s file', async () => {
  await writeFile(join(reports.folder, 'read-me.txt'), '');
  await utimes(join(reports.folder, 'read-me.txt'), new Date(0), new Date(0));
  await writeFile(join(reports.folder, '0'.repeat(32)), 'some of it');
  await removeAbandoned({ ...world, files: reports.files });
  expect(await reports.kept()).toHaveLength(2);
});

async function untilRunning(id: string): Promise<void> {
  while ((await readReport(database.db, id)).status !== 'RUNNING')
    await new Promise((resolve) => setTimeout(resolve, 5));
}
