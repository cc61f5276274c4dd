import { z } from 'zod';

import { withNames } from '../access/names.ts';
import {
  actorOf,
  hasPermission,
  readRoute,
  writeRoute,
  type KeyCaller,
  type Route,
  type RouteResult,
  type UserCaller,
} from '../http/route.ts';
import type { Queryable } from '../lib/db.ts';
import { AppError, found, invalidState } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { readPage } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { FORMATS } from './formats/formats.ts';
import { createGenerateReport, type GenerateReportDeps } from './generate.ts';
import { findReport, listReports, readReport, type ReportRow } from './queries.ts';
import { requestReport, cancelReport, isSmall } from './request.ts';
import * as schema from './schema.ts';
import { REPORT_KINDS, type ReportKind } from './states.ts';
import { readSeries, summarise } from './summary.ts';
import { reportMessage } from './workflow.ts';

export type ReportRouteDeps = GenerateReportDeps & { log: Pick<Logger, 'warn'> };

const READ = { tag: 'Reports', auth: { by: 'key', scope: 'reports:read' } } as const;
const WRITE = { tag: 'Reports', auth: { by: 'key', scope: 'reports:write' }, errors: ['INVALID_STATE'] } as const;

/** Reports for merchants: request, list, download, cancel; and sums without a file. */
export function reportRoutes(deps: ReportRouteDeps): Route[] {
  return [...changingRoutes(deps), ...readingRoutes(deps)];
}

function changingRoutes(deps: ReportRouteDeps): Route[] {
  const generateNow = createImmediateGenerator(deps);
  const present = (row: ReportRow) => schema.presentReport(row, deps.baseUrl);
  return [
    writeRoute('POST /api/checkout/reports', {
      ...WRITE,
      operationId: 'createReport',
      summary:
        'Request a file of payments, refunds, withdrawals, settlements or the balance; a small one is READY in the response',
      description:
        'Rows are those of the lists under the same filters, all as of one instant. Larger reports are generated in the background: poll the report, or wait for report.ready.',
      rateLimit: 'list',
      body: schema.NewReport,
      responses: { 202: schema.Report },
      handle: async ({ caller, tx, body }) => {
        ensureKind(caller, body.kind);
        const row = await requestReport({ ...deps, tx }, scopeOf(caller), { ...body, requestedBy: actorOf(caller) });
        return { status: 202, message: 'Report requested', data: present(row) };
      },
      afterCommit: async (response) => {
        const { data: queued, ...rest } = response as RouteResult<ReturnType<typeof present>>;
        if (!isSmall(queued)) return response;
        const row = await generateNow(queued);
        return { ...rest, message: `Report is ${row.status}`, data: present(row) };
      },
    }),
    writeRoute('POST /api/checkout/reports/:reportId/cancel', {
      ...WRITE,
      operationId: 'cancelReport',
      summary: 'Cancel a report that is QUEUED or RUNNING',
      params: schema.ReportParams,
      responses: { 200: schema.Report },
      handle: async ({ caller, tx, params }) => {
        await findOwnReport(tx.trx, caller, params.reportId);
        const row = await cancelReport({ ...deps, tx }, scopeOf(caller), params.reportId);
        return { message: 'Report cancelled', data: present(row) };
      },
    }),
  ];
}

type Caller = KeyCaller | UserCaller;

/** The kinds of reports that a caller may see: some roles see those of payments only. */
export const kindsOf = (caller: Caller): readonly ReportKind[] =>
  hasPermission(caller, 'reports:money') ? REPORT_KINDS : ['payments'];

/** Throws INSUFFICIENT_SCOPE for a kind of reports that the caller may not see. */
export function ensureKind(caller: Caller, kind: ReportKind): void {
  if (kindsOf(caller).includes(kind)) return;
  throw new AppError('INSUFFICIENT_SCOPE', `Your role may request reports of payments only, got ${kind}.`);
}

/** A report of a kind that the caller may see. Throws NOT_FOUND. */
async function findOwnReport(db: Queryable, caller: Caller, reportId: string): Promise<ReportRow> {
  const row = await findReport(db, scopeOf(caller), reportId);
  return found(kindsOf(caller).includes(row.kind) ? row : undefined, 'report');
}

/** Reports that one process generates within requests at a time; each takes a connection. */
const IMMEDIATE_MAX = 3;

/** Generates a report within its request. After an error, or with too many at a time, a workflow generates it. */
function createImmediateGenerator(deps: ReportRouteDeps) {
  const generate = createGenerateReport(deps);
  let running = 0;
  return async (queued: Pick<ReportRow, 'id' | keyof MerchantScope>): Promise<ReportRow> => {
    const reportId = queued.id;
    running += 1;
    try {
      if (running > IMMEDIATE_MAX) throw new Error(`${IMMEDIATE_MAX} other reports are being generated`);
      await generate(reportId);
    } catch (error) {
      deps.log.warn({ err: error, reportId }, 'report not generated within its request; its workflow generates it');
      await deps.runInTransaction((tx) => tx.enqueue([reportMessage({ reportId, ...scopeOf(queued) })]));
    } finally {
      running -= 1;
    }
    return readReport(deps.db, reportId);
  };
}

function readingRoutes(deps: ReportRouteDeps): Route[] {
  const { db, baseUrl, clock } = deps;
  return [
    readRoute('GET /api/checkout/reports', {
      ...READ,
      operationId: 'listReports',
      summary: 'The requested reports, newest first',
      query: schema.ReportListQuery,
      responses: { 200: z.array(schema.ListedReport) },
      paginated: true,
      handle: async ({ caller, query }) => {
        const filter = { ...scopeOf(caller), statuses: query.status ?? null, kinds: kindsOf(caller) };
        const { rows, pagination } = await listReports(db, filter, readPage(query));
        const reports = rows.map((row) => schema.presentReport(row, baseUrl));
        const named = await withNames(db, reports, ['requestedBy']);
        const data = caller.kind === 'user' ? named : named.map(withoutPerson);
        return { message: 'Reports retrieved', data, pagination };
      },
    }),
    readRoute('GET /api/checkout/reports/:reportId', {
      ...READ,
      operationId: 'getReport',
      summary: 'One report: its progress and the URL of its file',
      params: schema.ReportParams,
      responses: { 200: schema.Report },
      handle: async ({ caller, params }) => {
        const row = await findOwnReport(db, caller, params.reportId);
        return { message: `Report is ${row.status}`, data: schema.presentReport(row, baseUrl) };
      },
    }),
    fileRoute(deps),
    readRoute('GET /api/checkout/reports/series', {
      ...READ,
      operationId: 'getPaymentSeries',
      summary: 'Payments by day, week, month or Ethiopian month: sums by status, channel or failure',
      rateLimit: 'list',
      query: schema.SeriesQuery,
      responses: { 200: schema.Series },
      handle: async ({ caller, query }) => ({
        message: 'Series retrieved',
        data: await readSeries(db, scopeOf(caller), query),
      }),
    }),
    readRoute('GET /api/checkout/reports/summary', {
      ...READ,
      operationId: 'getReportSummary',
      summary: 'Sums of a day, week, month or quarter: counts, gross, fees and net by status and channel',
      rateLimit: 'list',
      query: schema.SummaryQuery,
      responses: { 200: schema.Summary },
      handle: async ({ caller, query }) => {
        const requested = { ...query, period: query.period ?? 'day' };
        const data = await summarise(db, scopeOf(caller), { requested, kinds: kindsOf(caller), now: clock() });
        return { message: 'Summary retrieved', data };
      },
    }),
  ];
}

/** A listed report without the name of the person who has requested it, which no key gets: its usr_ id tells them apart. */
const withoutPerson = <Shown extends { requestedBy: string }>(report: Shown) =>
  report.requestedBy.startsWith('usr_') ? { ...report, requestedByName: null } : report;

function fileRoute({ db, files, clock }: ReportRouteDeps): Route {
  return readRoute('GET /api/checkout/reports/:reportId/file', {
    ...READ,
    operationId: 'getReportFile',
    summary: "A report's file",
    description: 'The ETag is the sha256 of the bytes. After 30 days the file is removed: 404.',
    rateLimit: 'list',
    params: schema.ReportParams,
    responses: { 200: z.string() },
    fileTypes: Object.values(FORMATS).map(({ contentType }) => contentType.split(';')[0] ?? contentType),
    errors: ['INVALID_STATE'],
    handle: async ({ caller, params }) => {
      const row = await findOwnReport(db, caller, params.reportId);
      if (row.kind === 'payments' && !hasPermission(caller, 'phones:read')) {
        const message = "The file has customers' phone numbers, which your role may not see.";
        throw new AppError('INSUFFICIENT_SCOPE', message);
      }
      const { storageKey, sha256, expiresAt } = row;
      if (expiresAt && expiresAt <= clock()) {
        const until = `The file was available until ${expiresAt.toISOString()}.`;
        throw new AppError('NOT_FOUND', `${until} Request the report again.`);
      }
      if (storageKey === null || sha256 === null) {
        throw invalidState(`The report is ${row.status}: it has no file.`);
      }
      const { contentType } = FORMATS[row.format];
      const [name, stored] = [schema.fileNameOf(row), { bytes: Number(row.fileBytes), sha256 }];
      return { file: { name, contentType, stored, open: () => files.stream(storageKey) } };
    },
  });
}
