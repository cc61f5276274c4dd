import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Route } from '../../src/http/route.ts';
import { rows, type Knex } from '../../src/lib/db.ts';
import type { Owner } from '../../src/lib/owner.ts';
import { askForReport, type NewReport } from '../../src/reports/ask.ts';
import { createReportFiles, type ReportFiles } from '../../src/reports/files.ts';
import { createMakeReport } from '../../src/reports/make.ts';
import { reportRoutes } from '../../src/reports/routes.ts';
import type { World } from './build.ts';
import { startTestServer, stubKey, testServerDeps, type HttpAnswer } from './http.ts';

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
    runChange: world.runChange,
  });
  const server = await startTestServer(deps);
  const get = (owner: Owner, path: string, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
    server.send('GET', path, { key: keyOf(owner), headers });
  const post = (owner: Owner, path: string, body: object = {}): Promise<HttpAnswer> =>
    server.send('POST', path, { key: keyOf(owner), body });
  return {
    folder,
    files,
    url: server.url,
    get,
    post,
    /** Asks for a report. */
    ask: (owner: Owner, body: object) => post(owner, REPORTS, body),
    /** Asks for a small report and fetches its file. */
    fetched: async (owner: Owner, body: object) => {
      const { body: answer, status } = await post(owner, REPORTS, body);
      if (status !== 202) throw new Error(`a report was refused: ${JSON.stringify(answer)}`);
      return { report: answer.data, file: await get(owner, `${REPORTS}/${answer.data.reportId}/file`) };
    },
    /** A report that nobody has begun to make. */
    askQuietly: (owner: Owner, wanted: Partial<NewReport> = {}) =>
      world.runChange((change) =>
        askForReport({ ...world, change }, owner, { ...REPORTS_DAY, ...UNNARROWED, ...wanted }),
      ),
    /** Makes reports, with files that are stranger than ours. */
    makeWith: (strange: Partial<ReportFiles> = {}, pageRows = PAGE_ROWS) =>
      createMakeReport({ ...world, files: { ...files, ...strange }, pageRows }),
    /** Files that call back after each piece that is written. */
    watched: (onPiece: () => Promise<void>): ReportFiles => ({
      ...files,
      write: async (chunks) => files.write(telling(chunks, onPiece)),
    }),
    /** The names of the files there are. */
    kept: async (): Promise<string[]> => readdir(folder).catch(() => []),
    close: async () => {
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function* telling<Piece>(chunks: AsyncIterable<Piece>, onPiece: () => Promise<void>): AsyncGenerator<Piece> {
  for await (const chunk of chunks) {
    yield chunk;
    await onPiece();
  }
}

const keyOf = (owner: Owner): string => stubKey(owner.merchantId, owner.environment);

/** Sessions that nobody paid, faster than one by one. */
export async function insertUnpaid(
  db: Knex,
  { merchantId }: Owner,
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
