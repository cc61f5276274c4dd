import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { rows } from '../../src/lib/db.ts';
import { AppError } from '../../src/lib/errors.ts';
import { expireReports, removeAbandoned, type ReportFiles } from '../../src/reports/files.ts';
import { createGenerateReport, giveUpReport, RETENTION_MS } from '../../src/reports/generate.ts';
import { readReport } from '../../src/reports/queries.ts';
import { buildSession } from '../support/build.ts';
import { REPORTS, REPORTS_DAY as DAY, useReports, type ReportsOfTest } from '../support/reports.ts';
import { fund } from '../support/withdrawals.ts';

let { database, fixture, reports, scope } = {} as ReportsOfTest;
useReports((parts) => ({ database, fixture, reports, scope } = parts));

describe('a run that generates a report', () => {
  test('stops when the report is cancelled, and leaves no file', async () => {
    for (let count = 0; count < 12; count += 1) await buildSession(fixture, scope);
    const { id } = await reports.createQueued(scope);
    const files = reports.observed(async () => void (await reports.post(scope, `${REPORTS}/${id}/cancel`)));
    const status = await reports.generator(files, 1)(id);
    expect(status).toBe('CANCELLED');
    expect(await reports.storedNames()).toEqual([]);
  });

  test('calls back after each page, and updates the progress of the row every ten pages', async () => {
    for (let count = 0; count < 25; count += 1) await buildSession(fixture, scope);
    const { id } = await reports.createQueued(scope);
    const stored = new Set<number>();
    const reported: number[] = [];
    const generate = createGenerateReport({
      ...fixture,
      pageRows: 1,
      files: reports.observed(async () => void stored.add((await readReport(database.db, id)).processedRows)),
    });
    expect(await generate(id, (rowsDone) => reported.push(rowsDone))).toBe('READY');
    expect([...stored]).toEqual([0, 10, 20]);
    expect(reported.slice(0, 25)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
    expect(await readReport(database.db, id)).toMatchObject({ processedRows: 25, totalRows: 25 });
  });

  test('whose process is killed is repeated from the start by another run, and its unfinished file is removed', async () => {
    for (let count = 0; count < 5; count += 1) await buildSession(fixture, scope);
    const { id } = await reports.createQueued(scope);
    const program = resolve(import.meta.dirname, '../support/slow-report.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', program, database.url, reports.folder, id]);
    for await (const _ of child.stdout) break;
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await readReport(database.db, id)).status).toBe('RUNNING');
    const [left = ''] = await reports.storedNames();
    await utimes(join(reports.folder, left), new Date(0), new Date(0));
    expect(await reports.generator()(id)).toBe('READY');
    await expireReports({ ...fixture, files: reports.files });
    expect(await reports.storedNames()).toHaveLength(2);
    await removeAbandoned({ ...fixture, files: reports.files });
    expect(await reports.storedNames()).toEqual([(await readReport(database.db, id)).storageKey]);
    expect((await reports.get(scope, `${REPORTS}/${id}/file`)).text.trimEnd().split('\r\n')).toHaveLength(6);
  });

  test('that ends after another run has completed the report removes its own file and records no second event', async () => {
    await fund(fixture, scope, 100_00n);
    const { id } = await reports.createQueued(scope);
    let resume = (): void => {};
    const paused = new Promise<void>((resolve) => (resume = resolve));
    const slow = reports.generator({
      write: async (chunks) => {
        const file = await reports.files.write(chunks);
        await paused;
        return file;
      },
    })(id);
    await untilRunning(id);
    expect(await reports.generator()(id)).toBe('READY');
    const first = await readReport(database.db, id);
    resume();
    expect(await slow).toBe('READY');
    expect(await readReport(database.db, id)).toEqual(first);
    expect(await reports.storedNames()).toEqual([first.storageKey]);
    const enqueued = await rows(database.db, 'SELECT 1 FROM webhook_event WHERE resource_id = :id', { id });
    expect(enqueued).toHaveLength(1);
  });

  test('that fails after another run has claimed the report does not end the report', async () => {
    const { id } = await reports.createQueued(scope);
    const other = { runId: 'another-run' };
    const superseded = reports.generator({
      write: async () => {
        await rows(database.db, 'UPDATE report SET run_id = :runId WHERE id = :id', { ...other, id });
        throw new AppError('VALIDATION_ERROR', 'There are too many.');
      },
    })(id);
    expect(await superseded).toBe('RUNNING');
    expect(await readReport(database.db, id)).toMatchObject({ ...other, failure: null });
    const failing = reports.generator({
      write: async () => Promise.reject(new AppError('VALIDATION_ERROR', 'There are too many.')),
    });
    expect(await failing(id)).toBe('FAILED');
  });

  test('that is stopped between two pages leaves no file, and the next run completes the report', async () => {
    for (let count = 0; count < 5; count += 1) await buildSession(fixture, scope);
    const { id } = await reports.createQueued(scope);
    const stopped = reports.generator({}, 1)(id, (rowsDone) => {
      if (rowsDone === 3) throw new Error('the worker is shut down');
    });
    await expect(stopped).rejects.toThrow('the worker is shut down');
    expect(await reports.storedNames()).toEqual([]);
    expect((await readReport(database.db, id)).status).toBe('RUNNING');
    expect(await reports.generator()(id)).toBe('READY');
  });

  test('that meets an internal error throws it for a retry; giving up ends the report as FAILED without internals', async () => {
    const { id } = await reports.createQueued(scope);
    const full = reports.generator({
      write: async () => Promise.reject(new Error('ENOSPC: no space left on /var/lib')),
    });
    await expect(full(id)).rejects.toThrow('ENOSPC');
    expect(await giveUpReport(fixture, id)).toBe('FAILED');
    const { body } = await reports.get(scope, `${REPORTS}/${id}`);
    expect(body.data).toMatchObject({ status: 'FAILED', failure: { code: 'INTERNAL_ERROR' }, fileUrl: null });
    expect(body.data.failure.message).not.toContain('ENOSPC');
  });

  test('that never started can be given up: the report is FAILED', async () => {
    const { id } = await reports.createQueued(scope);
    expect(await giveUpReport(fixture, id)).toBe('FAILED');
  });
});

test('payments that arrive while the file is written are not in it: all rows are of one snapshot', async () => {
  for (let count = 0; count < 3; count += 1) await fund(fixture, scope, 100_00n);
  const { id } = await reports.createQueued(scope);
  await reports.generator(
    reports.observed(() => fund(fixture, scope, 500_00n)),
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

test('a download after 30 days is 404 with the time until which the file was available', async () => {
  const { report } = await reports.download(scope, DAY);
  const path = `${REPORTS}/${report.reportId}`;
  const [name = ''] = await reports.storedNames();
  await utimes(join(reports.folder, name), new Date(0), new Date(0));
  fixture.pass(RETENTION_MS - 1);
  await expireReports({ ...fixture, files: reports.files });
  await removeAbandoned({ ...fixture, files: reports.files });
  expect((await reports.get(scope, `${path}/file`)).status).toBe(200);
  fixture.pass(1);
  const late = await reports.get(scope, `${path}/file`);
  expect([late.status, late.body.message]).toEqual([404, expect.stringContaining(report.expiresAt)]);
  await expireReports({ ...fixture, files: reports.files });
  expect(await reports.storedNames()).toEqual([]);
  expect((await reports.get(scope, path)).body.data).toMatchObject({
    status: 'EXPIRED',
    fileUrl: null,
    sha256: report.sha256,
  });
  expect((await reports.get(scope, `${path}/file`)).body.message).toBe(late.body.message);
});

test('expiring finds due reports by an index, without listing the files', async () => {
  const { report } = await reports.download(scope, DAY);
  fixture.pass(RETENTION_MS);
  const blind: ReportFiles = {
    ...reports.files,
    listOlder: () => {
      throw new Error('every file is looked at');
    },
  };
  await expireReports({ ...fixture, files: blind });
  expect((await readReport(database.db, report.reportId)).status).toBe('EXPIRED');
  const plan = await rows(
    database.db,
    `EXPLAIN SELECT id, storage_key FROM report WHERE status = 'READY' AND expires_at <= now() ORDER BY expires_at LIMIT 500`,
  );
  expect(JSON.stringify(plan)).toContain('report_expiring');
});

test('removing abandoned files keeps a file that is being written and a file with another kind of name', async () => {
  await writeFile(join(reports.folder, 'read-me.txt'), '');
  await utimes(join(reports.folder, 'read-me.txt'), new Date(0), new Date(0));
  await writeFile(join(reports.folder, '0'.repeat(32)), 'some of it');
  await removeAbandoned({ ...fixture, files: reports.files });
  expect(await reports.storedNames()).toHaveLength(2);
});

async function untilRunning(id: string): Promise<void> {
  while ((await readReport(database.db, id)).status !== 'RUNNING')
    await new Promise((resolve) => setTimeout(resolve, 5));
}
