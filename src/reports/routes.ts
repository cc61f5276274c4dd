import { z } from 'zod';

import { readRoute, writeRoute, type RouteResult, type Route } from '../http/route.ts';
import { AppError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { readPage } from '../lib/pagination.ts';
import { scopeOf } from '../lib/scope.ts';
import { FORMATS } from './formats/formats.ts';
import { createGenerateReport, type GenerateReportDeps } from './generate.ts';
import { fileNameOf, presentReport } from './present.ts';
import { findReport, listReports, readReport, type ReportRow } from './queries.ts';
import { requestReport, cancelReport, isSmall } from './request.ts';
import * as schema from './schema.ts';
import { summarise } from './summary.ts';
import { reportMessage } from './workflow.ts';

export type ReportRouteDeps = GenerateReportDeps & { log: Pick<Logger, 'warn'> };

/** Reports for merchants: request, list, download, cancel; and sums without a file. */
export function reportRoutes(deps: ReportRouteDeps): Route[] {
  return [requestRoute(deps), cancelRoute(deps), ...queryRoutes(deps), fileRoute(deps), summaryRoute(deps)];
}

function requestRoute(deps: ReportRouteDeps): Route {
  const generateNow = createImmediateGenerator(deps);
  return writeRoute('POST /api/checkout/reports', {
    operationId: 'createReport',
    tag: 'Reports',
    summary:
      'Request a file of payments, withdrawals, settlements or the balance; a small one is READY in the response',
    description:
      'Rows are those of the lists under the same filters, all as of one instant. Larger reports are generated in the background: poll the report, or wait for report.ready.',
    auth: { by: 'key', scope: 'reports:write' },
    rateLimit: 'list',
    body: schema.NewReport,
    responses: { 202: schema.Report },
    errors: ['INVALID_STATE'],
    handle: async ({ caller, tx, body }) => {
      const row = await requestReport({ ...deps, tx }, scopeOf(caller), { ...body, requestedBy: caller.keyId });
      return { status: 202, message: 'Report requested', data: presentReport(row, deps.baseUrl) };
    },
    afterCommit: async (response) => {
      const { data, ...rest } = response as RouteResult<ReturnType<typeof presentReport>>;
      if (!isSmall(data)) return response;
      const row = await generateNow(data.reportId);
      return { ...rest, message: `Report is ${row.status}`, data: presentReport(row, deps.baseUrl) };
    },
  });
}

/** Reports that one process generates within requests at a time; each takes a connection. */
const IMMEDIATE_MAX = 3;

/** Generates a report within its request. After an error, or with too many at a time, a workflow generates it. */
function createImmediateGenerator(deps: ReportRouteDeps): (id: string) => Promise<ReportRow> {
  const generate = createGenerateReport(deps);
  let running = 0;
  const enqueueWorkflow = async (id: string): Promise<void> => {
    const row = await readReport(deps.db, id);
    await deps.runInTransaction((tx) => tx.enqueue([reportMessage({ reportId: id, ...scopeOf(row) })]));
  };
  return async (id) => {
    running += 1;
    try {
      if (running > IMMEDIATE_MAX) await enqueueWorkflow(id);
      else await generate(id);
    } catch (error) {
      deps.log.warn({ err: error, reportId: id }, 'report not generated within its request; its workflow generates it');
      await enqueueWorkflow(id);
    } finally {
      running -= 1;
    }
    return readReport(deps.db, id);
  };
}

function cancelRoute(deps: ReportRouteDeps): Route {
  return writeRoute('POST /api/checkout/reports/:reportId/cancel', {
    operationId: 'cancelReport',
    tag: 'Reports',
    summary: 'Cancel a report that is QUEUED or RUNNING',
    auth: { by: 'key', scope: 'reports:write' },
    params: schema.ReportParams,
    responses: { 200: schema.Report },
    errors: ['INVALID_STATE'],
    handle: async ({ caller, tx, params }) => {
      const row = await cancelReport({ ...deps, tx }, scopeOf(caller), params.reportId);
      return { message: 'Report cancelled', data: presentReport(row, deps.baseUrl) };
    },
  });
}

function queryRoutes({ db, baseUrl }: ReportRouteDeps): Route[] {
  return [
    readRoute('GET /api/checkout/reports', {
      operationId: 'listReports',
      tag: 'Reports',
      summary: 'The requested reports, newest first',
      auth: { by: 'key', scope: 'reports:read' },
      rateLimit: 'list',
      query: schema.ReportListQuery,
      responses: { 200: z.array(schema.Report) },
      paginated: true,
      handle: async ({ caller, query }) => {
        const filter = { ...scopeOf(caller), statuses: query.status ?? null };
        const { rows, pagination } = await listReports(db, filter, readPage(query));
        return { message: 'Reports retrieved', data: rows.map((row) => presentReport(row, baseUrl)), pagination };
      },
    }),
    readRoute('GET /api/checkout/reports/:reportId', {
      operationId: 'getReport',
      tag: 'Reports',
      summary: 'One report: its progress and the URL of its file',
      auth: { by: 'key', scope: 'reports:read' },
      params: schema.ReportParams,
      responses: { 200: schema.Report },
      handle: async ({ caller, params }) => {
        const row = await findReport(db, scopeOf(caller), params.reportId);
        return { message: `Report is ${row.status}`, data: presentReport(row, baseUrl) };
      },
    }),
  ];
}

function fileRoute({ db, files, clock }: ReportRouteDeps): Route {
  return readRoute('GET /api/checkout/reports/:reportId/file', {
    operationId: 'getReportFile',
    tag: 'Reports',
    summary: "A report's file",
    description: 'The ETag is the sha256 of the bytes. After 30 days the file is removed: 404.',
    auth: { by: 'key', scope: 'reports:read' },
    rateLimit: 'list',
    params: schema.ReportParams,
    responses: { 200: z.string() },
    fileTypes: Object.values(FORMATS).map(({ contentType }) => contentType.split(';')[0] ?? contentType),
    errors: ['INVALID_STATE'],
    handle: async ({ caller, params }) => {
      const row = await findReport(db, scopeOf(caller), params.reportId);
      const { storageKey, sha256, fileBytes, expiresAt } = row;
      if (row.status === 'EXPIRED' || (expiresAt && expiresAt <= clock())) {
        const until = `The file was available until ${expiresAt?.toISOString()}.`;
        throw new AppError('NOT_FOUND', `${until} Request the report again.`);
      }
      if (storageKey === null || sha256 === null || fileBytes === null) {
        throw new AppError('INVALID_STATE', `The report is ${row.status}: it has no file.`);
      }
      const { contentType } = FORMATS[row.format];
      const name = fileNameOf(row);
      return { file: { name, contentType, bytes: Number(fileBytes), sha256, open: () => files.read(storageKey) } };
    },
  });
}

function summaryRoute({ db, clock }: ReportRouteDeps): Route {
  return readRoute('GET /api/checkout/reports/summary', {
    operationId: 'getReportSummary',
    tag: 'Reports',
    summary: 'Sums of a day, week, month or quarter: counts, gross, fees and net by status and channel',
    auth: { by: 'key', scope: 'reports:read' },
    rateLimit: 'list',
    query: schema.SummaryQuery,
    responses: { 200: schema.Summary },
    handle: async ({ caller, query }) => {
      const requested = { ...query, period: query.period ?? 'day' };
      const data = await summarise(db, scopeOf(caller), { requested, now: clock() });
      return { message: 'Summary retrieved', data };
    },
  });
}
