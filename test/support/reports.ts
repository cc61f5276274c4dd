import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Route } from '../../src/http/route.ts';
import { rows, type Knex } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createReportFiles, type ReportFiles } from '../../src/reports/files.ts';
import { createGenerateReport } from '../../src/reports/generate.ts';
import { requestReport, type NewReport } from '../../src/reports/request.ts';
import { reportRoutes } from '../../src/reports/routes.ts';
import type { World } from './build.ts';
import { startTestServer, stubKey, testServerDeps, type HttpResponse } from './http.ts';

/** So few that files of some rows are read in many pages. */
export const PAGE_ROWS = 7;
/** The day that worlds begin on. */
export const REPORTS_DAY = { kind: 'payments', period: 'day', date: '2026-03-02' } as const;
const UNNARROWED = { format: 'CSV', statuses: null, channel: null, requestedBy: 'key_test' } as const;
export type Reports = Awaited<ReturnType<typeof startReports>>;
export const REPORTS = '/api/checkout/reports';

/** The routes of reports over a world, with a folder of their own unless one is given. */
export async function startReports(world: World, more: Route[] = [], given?: string) {
  const folder = given ?? (await mkdtemp(join(tmpdir(), 'meskot-reports-')));
  const files: ReportFiles = createReportFiles(folder);
  const deps = testServerDeps(world.db, {
    routes: [...reportRoutes({ ...world, files, pageRows: PAGE_ROWS }), ...more],
    clock: world.clock,
    runInTransaction: world.runInTransaction,
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
    /** Asks for a report. */
    ask: (scope: MerchantScope, body: object) => post(scope, REPORTS, body),
    /** Asks for a small report and fetches its file. */
    fetched: async (scope: MerchantScope, body: object) => {
      const { body: answer, status } = await post(scope, REPORTS, body);
      if (status !== 202) throw new Error(`a report was refused: ${JSON.stringify(answer)}`);
      return { report: answer.data, file: await get(scope, `${REPORTS}/${answer.data.reportId}/file`) };
    },
    /** A report that nobody has begun to make. */
    askQuietly: (scope: MerchantScope, wanted: Partial<NewReport> = {}) =>
      world.runInTransaction((tx) =>
        requestReport({ ...world, tx }, scope, { ...REPORTS_DAY, ...UNNARROWED, ...wanted }),
      ),
    /** Makes reports, with files that are stranger than ours. */
    makeWith: (strange: Partial<ReportFiles> = {}, pageRows = PAGE_ROWS) =>
      createGenerateReport({ ...world, files: { ...files, ...strange }, pageRows }),
    /** Files that call back after each piece that is written. */
    watched: (onPiece: () => Promise<void>): ReportFiles => ({
      ...files,
      write: async (chunks) => files.write(reporting(chunks, onPiece)),
    }),
    /** The names of the files there are. */
    kept: async (): Promise<string[]> => readdir(folder).catch(() => []),
    close: async () => {
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function* reporting<Piece>(chunks: AsyncIterable<Piece>, onPiece: () => Promise<void>): AsyncGenerator<Piece> {
  for await (const chunk of chunks) {
    yield chunk;
    await onPiece();
  }
}

const keyOf = (scope: MerchantScope): string => stubKey(scope.merchantId, scope.environment);

/** Sessions that nobody paid, faster than one by one. */
export async function insertUnpaid(
  db: Knex,
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
