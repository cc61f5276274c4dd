import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Owner } from '../../src/lib/owner.ts';
import { createReportFiles, type ReportFiles } from '../../src/reports/files.ts';
import { reportRoutes } from '../../src/reports/routes.ts';
import type { World } from './build.ts';
import { startTestServer, stubKey, testServerDeps, type HttpAnswer } from './http.ts';

export const REPORTS = '/api/checkout/reports';

/** The routes of reports over a world, with a folder of their own. */
export async function startReports(world: World, more: Parameters<typeof testServerDeps>[1]['routes'] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-reports-'));
  const files: ReportFiles = createReportFiles(folder);
  const deps = testServerDeps(world.db, {
    routes: [...reportRoutes({ ...world, files }), ...more],
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
    close: async () => {
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}

const keyOf = (owner: Owner): string => stubKey(owner.merchantId, owner.environment);
