import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Route } from '../../src/http/route.ts';
import { type Database, rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createReportFiles, type ReportFiles } from '../../src/reports/files.ts';
import { createGenerateReport } from '../../src/reports/generate.ts';
import { requestReport, type NewReport } from '../../src/reports/request.ts';
import { reportRoutes } from '../../src/reports/routes.ts';
import { buildFixture, buildMerchant, type Fixture } from './build.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startTestServer, stubKey, testServerDeps, type HttpResponse } from './http.ts';

/** Small, so that files of a few rows are read in many pages. */
export const PAGE_ROWS = 7;
/** The first day of a fixture's clock. */
export const REPORTS_DAY = { kind: 'payments', period: 'day', date: '2026-03-02' } as const;
const UNFILTERED = { format: 'CSV', statuses: null, channel: null, requestedBy: 'key_test' } as const;
export type Reports = Awaited<ReturnType<typeof startReports>>;
export const REPORTS = '/api/checkout/reports';

/** A server with the routes of reports, and a new folder for files unless one is given. */
export async function startReports(fixture: Fixture, more: Route[] = [], given?: string) {
  const folder = given ?? (await mkdtemp(join(tmpdir(), 'meskot-reports-')));
  const files: ReportFiles = createReportFiles(folder);
  const deps = testServerDeps(fixture.db, {
    routes: [...reportRoutes({ ...fixture, files, pageRows: PAGE_ROWS }), ...more],
    clock: fixture.clock,
    runInTransaction: fixture.runInTransaction,
  });
  const server = await startTestServer(deps);
  const get = (scope: MerchantScope, path: string, headers: Record<string, string> = {}): Promise<HttpResponse> =>
    server.send('GET', path, { key: keyOf(scope), headers });
  const post = (scope: MerchantScope, path: string, body: object = {}): Promise<HttpResponse> =>
    server.send('POST', path, { key: keyOf(scope), body });
  return {
    folder,
    files,
    url: server.url,
    get,
    post,
    /** Requests a report over HTTP. */
    request: (scope: MerchantScope, body: object) => post(scope, REPORTS, body),
    /** Requests a small report over HTTP and downloads its file. */
    download: async (scope: MerchantScope, body: object) => {
      const { body: response, status } = await post(scope, REPORTS, body);
      if (status !== 202) throw new Error(`the report was rejected: ${JSON.stringify(response)}`);
      return { report: response.data, file: await get(scope, `${REPORTS}/${response.data.reportId}/file`) };
    },
    /** Creates a QUEUED report without generating it. */
    createQueued: (scope: MerchantScope, requested: Partial<NewReport> = {}) =>
      fixture.runInTransaction((tx) =>
        requestReport({ ...fixture, tx }, scope, { ...REPORTS_DAY, ...UNFILTERED, ...requested }),
      ),
    /** The operation that generates reports, with some functions of its file storage replaced. */
    generator: (replaced: Partial<ReportFiles> = {}, pageRows = PAGE_ROWS) =>
      createGenerateReport({ ...fixture, files: { ...files, ...replaced }, pageRows }),
    /** File storage that calls back after each chunk it has written. */
    observed: (onChunk: () => Promise<void>): ReportFiles => ({
      ...files,
      write: async (chunks) => files.write(reporting(chunks, onChunk)),
    }),
    /** The names of the stored files. */
    storedNames: async (): Promise<string[]> => readdir(folder).catch(() => []),
    close: async () => {
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}

export type ReportsOfTest = { database: TestDatabase; fixture: Fixture; reports: Reports; scope: MerchantScope };

/** Gives each test of a file a fixture, a merchant, and a server with the routes of reports, over one database. */
export function useReports(give: (parts: ReportsOfTest) => void): void {
  let database: TestDatabase;
  let reports: Reports;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    const fixture = buildFixture(database.db);
    reports = await startReports(fixture);
    give({ database, fixture, reports, scope: await buildMerchant(database.db) });
  });
  afterEach(() => reports.close());
  afterAll(() => database.drop());
}

async function* reporting<Chunk>(chunks: AsyncIterable<Chunk>, onChunk: () => Promise<void>): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) {
    yield chunk;
    await onChunk();
  }
}

const keyOf = (scope: MerchantScope): string => stubKey(scope.merchantId, scope.environment);

/** Inserts expired sessions, faster than one by one. */
export async function insertUnpaid(
  db: Database,
  { merchantId }: MerchantScope,
  { count, at }: { count: number; at: Date },
): Promise<void> {
  for (let from = 0; from < count; from += 2_500) {
    await rows(
      db,
      `WITH new AS (SELECT md5(random()::text) AS id FROM generate_series(1, CAST(:count AS int))),
       session AS (
         INSERT INTO checkout_session (id, transaction_id, merchant_id, environment, status, channels, client_token_hash, expires_at)
         SELECT 'cs_' || id, 'txn_' || id, :merchantId, 'sandbox', 'EXPIRED', '{}', sha256(id::bytea), now() FROM new)
       INSERT INTO transaction (id, session_id, merchant_id, environment, checkout_order_no, amount_santim, currency, type, status, created_at)
       SELECT 'txn_' || id, 'cs_' || id, :merchantId, 'sandbox', id, 100, 'ETB', 'API', 'EXPIRED', :at FROM new`,
      { count: Math.min(2_500, count - from), merchantId, at },
    );
  }
}
