import { Counter } from 'prom-client';
import { z } from 'zod';

import type { Registry } from '../http/metrics.ts';
import { readRoute, type Route } from '../http/route.ts';
import type { CompletedRequest } from '../http/server.ts';
import { snakeCase } from '../lib/column-names.ts';
import { DAY_MS } from '../lib/dates.ts';
import { rows, type Database, type Queryable } from '../lib/db.ts';
import { deleteInBatches } from '../lib/delete-in-batches.ts';
import { instant, mustBe, patternText } from '../lib/fields.ts';
import { newId } from '../lib/ids.ts';
import { allOf, paginateNewest, whereGiven } from '../lib/paginate-newest.ts';
import { dateParam, pageQuery, readDayRange, readPage } from '../lib/pagination.ts';
import { scopeOf } from '../lib/scope.ts';

const RETENTION_MS = 30 * DAY_MS;
const WRITE_EVERY_MS = 1_000;
/** Beyond it requests are not logged, until the earlier ones are written. */
const PENDING_MAX = 5_000;

/** Logs requests in the background. What cannot be written, or is too much to be, is lost and counted. */
export function createRequestLog({ db, registry }: { db: Queryable; registry: Registry }) {
  const lost = new Counter({
    name: 'meskot_request_log_lost_total',
    help: 'Requests that were not written to the request log',
    registers: [registry],
  });
  const pending: CompletedRequest[] = [];
  const writePending = async (): Promise<void> => {
    const requests = pending.splice(0);
    if (requests.length > 0) await insertRequests(db, requests).catch(() => lost.inc(requests.length));
  };
  let writing = Promise.resolve();
  /** Resolves when all that was logged until now is written or lost. */
  const flush = async (): Promise<void> => (writing = writing.then(writePending));
  const timer = setInterval(() => void flush(), WRITE_EVERY_MS).unref();
  return {
    add: (request: CompletedRequest): void => {
      if (pending.length < PENDING_MAX) pending.push(request);
      else lost.inc();
    },
    flush,
    /** Call it after the last request, before the pool is closed. */
    stop: async (): Promise<void> => {
      clearInterval(timer);
      await flush();
    },
  };
}

async function insertRequests(db: Queryable, requests: CompletedRequest[]): Promise<void> {
  const logged = requests.map(({ requestId: id, caller, at: createdAt, ...request }) => {
    const { merchantId, environment, keyId } = caller;
    const row = { id, merchantId, environment, keyId, ...request, createdAt };
    return Object.fromEntries(Object.entries(row).map(([name, value]) => [snakeCase(name), value]));
  });
  const sql =
    'INSERT INTO request_log SELECT * FROM jsonb_populate_recordset(NULL::request_log, CAST(:logged AS jsonb))';
  await rows(db, sql, { logged: JSON.stringify(logged) });
}

/** Deletes the requests of more than 30 days ago; returns how many. For a periodic job. */
export async function deleteOldRequests(db: Queryable, stopping?: AbortSignal): Promise<number> {
  const oldest = newId('req', Date.now() - RETENTION_MS);
  return deleteInBatches(db, { table: 'request_log', where: 'id < :oldest', values: { oldest } }, stopping);
}

/** What is logged of a request: no body, no query, and the pattern of its path. */
export const LoggedRequest = z
  .object({
    requestId: z.string(),
    keyId: z.string(),
    method: z.string(),
    route: z.string().describe('The pattern of the path'),
    status: z.int(),
    errorCode: z.string().nullable(),
    durationMs: z.int(),
    address: z.string().describe("The caller's IP address"),
    at: instant,
  })
  .meta({ id: 'LoggedRequest' });

const id = patternText(64, /^[\w-]{1,64}$/, mustBe('an id: letters, digits, - and _'));
const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;

const RequestListQuery = z.strictObject({
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  keyId: id.optional(),
  requestId: id.optional(),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  route: patternText(200, /^\/[\w:/-]{1,199}$/, mustBe('the pattern of a path: /api/checkout/sessions/:sessionId'))
    .optional()
    .describe('The pattern of a path, as in `route` of the response'),
  statusClass: z.enum(STATUS_CLASSES).optional(),
  ...pageQuery,
});

const PAGE = `SELECT *, id AS request_id, created_at AS at FROM request_log WHERE id = ANY (:ids)
  ORDER BY created_at DESC, id DESC`;

/** The merchant's own API calls of the last 30 days. */
export function requestLogRoutes({ db }: { db: Database }): Route[] {
  return [
    readRoute('GET /api/checkout/requests', {
      operationId: 'listRequests',
      tag: 'Requests',
      summary: 'The API calls made with keys, newest first',
      description:
        'Of the last 30 days, within about two seconds of their response. Calls with an unknown or revoked key are not listed. Neither bodies nor queries are kept.',
      auth: { by: 'key', scope: 'requests:read' },
      query: RequestListQuery,
      responses: { 200: z.array(LoggedRequest) },
      paginated: true,
      handle: async ({ caller, query, at }) => {
        const { keyId, requestId: id, method, route, statusClass } = query;
        const given = whereGiven({ id, keyId, method, route });
        const where = allOf([
          'merchant_id = :merchantId AND environment = :environment AND created_at >= :from AND created_at < :until',
          given.where,
          statusClass !== undefined && 'status / 100 = :hundreds',
        ]);
        const hundreds = Number(statusClass?.[0]);
        const values = { ...given.values, ...scopeOf(caller), ...readDayRange(query, at), hundreds };
        // All of it is in the index request_log_list: only the rows of the page are read.
        const list = { columns: 'id', table: 'request_log', where, values };
        const { rows: found, pagination } = await paginateNewest<{ id: string }>(db, list, readPage(query));
        const data = await rows(db, PAGE, { ids: found.map((row) => row.id) });
        return { message: 'Requests retrieved', data, pagination };
      },
    }),
  ];
}
