import type { IncomingMessage, ServerResponse } from 'node:http';

import { z } from 'zod';

import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { withTimeout } from '../lib/timeout.ts';
import { recordRequest, type RequestContextDeps } from './request-context.ts';
import { errorText, successText, toAppError } from './response.ts';
import { readRoute, type Route, type RouteResult } from './route.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

const READY_WITHIN_MS = 1_500;

const Status = z.object({ status: z.literal('ok') });

export type Readiness = {
  /** How many migrations the database still lacks; rejects when the database is unavailable. */
  countPendingMigrations: () => Promise<number>;
  /** Why the process cannot write its files, as a sentence; null when it can. */
  findFullDisk?: () => Promise<string | null>;
};

/**
 * `/livez`: the event loop turns. `/readyz`: the database is available and migrated, the disks have room, and the process
 * does not shut down. Temporal is no part of it: without it requests are still accepted.
 */
export function healthRoutes({ countPendingMigrations, findFullDisk }: Readiness, red: AbortSignal): Route[] {
  const common = { method: 'GET', tag: 'System', auth: { by: 'nobody' }, rateLimit: 'none' } as const;
  return [
    readRoute({
      ...common,
      path: '/livez',
      operationId: 'getLiveness',
      summary: 'Whether the process is alive',
      responses: { 200: Status },
      handle: async () => ({ message: 'The process is alive', data: { status: 'ok' } }),
    }),
    readRoute({
      ...common,
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Whether the process can take requests: database, migrations, room on the disks',
      responses: { 200: Status },
      handle: async () => {
        if (red.aborted) throw notReady('The process is shutting down.');
        const pending = await withTimeout(countPendingMigrations(), READY_WITHIN_MS);
        if (pending === null) throw notReady('The database does not answer.');
        if (pending > 0) throw notReady(`${pending} migrations are not applied yet.`);
        const disks = await withTimeout(checkDisks(findFullDisk), READY_WITHIN_MS);
        if (disks === null) throw notReady('A disk does not answer.');
        if (disks.full !== null) throw notReady(disks.full);
        return { message: 'The process is ready', data: { status: 'ok' } };
      },
    }),
  ];
}

async function checkDisks(findFullDisk: Readiness['findFullDisk']): Promise<{ full: string | null }> {
  return { full: (await findFullDisk?.()) ?? null };
}

function notReady(why: string): AppError {
  return new AppError('SERVICE_UNAVAILABLE', why, { headers: { 'Retry-After': '1' } });
}

/**
 * Answers GETs of health checks as their routes would, without Koa: they are frequent. Returns false for every other
 * request.
 */
export function createHealthResponder(
  routes: readonly Route[],
  deps: RequestContextDeps,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return (request, response) => {
    const route = request.method === 'GET' ? byPath.get(request.url ?? '') : undefined;
    if (route) void respond(route, deps, response);
    return route !== undefined;
  };
}

const HEADERS = [
  ...SECURITY_HEADERS,
  ['Content-Type', 'application/json; charset=utf-8'],
  ['Cache-Control', 'no-store'],
].flat();

async function respond(route: Route, deps: RequestContextDeps, response: ServerResponse): Promise<void> {
  const startedAt = performance.now();
  const requestId = newId('req');
  let thrown: unknown;
  let status = 200;
  let text = '';
  let more: string[] = [];
  try {
    text = successText({ status, ...(await resultOf(route, requestId)) }, deps.clock());
  } catch (error) {
    thrown = error;
    const appError = toAppError(error);
    status = appError.status;
    more = Object.entries(appError.headers).flat();
    text = errorText(appError, { requestId, baseUrl: deps.baseUrl, at: deps.clock() });
  }
  if (deps.red.aborted) more.push('Connection', 'close');
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, ['X-Request-Id', requestId, ...HEADERS, ...more, 'Content-Length', length]).end(text);
  const seconds = (performance.now() - startedAt) / 1000;
  recordRequest(deps, { route: `${route.method} ${route.path}`, status, seconds, thrown, requestId });
}

async function resultOf(route: Route, requestId: string): Promise<{ message: string; dataJson: string }> {
  if ('write' in route) throw new Error('a health check writes nothing');
  const signal = () => new AbortController().signal;
  const input = { caller: null, params: {}, query: {}, body: {}, requestId, signal };
  const { message, data } = (await route.handle(input)) as RouteResult<unknown>;
  return { message, dataJson: JSON.stringify(data) };
}
