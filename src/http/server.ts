import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import Router from '@koa/router';
import helmet from 'helmet';
import Koa, { type Context, type Middleware } from 'koa';

import type { Clock } from '../lib/clock.ts';
import type { KeyRing } from '../lib/crypto.ts';
import type { Database } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { KeyedQueue } from '../lib/keyed-queue.ts';
import type { Logger } from '../lib/log.ts';
import { listen, stopListening } from '../lib/ports.ts';
import { NO_TRACING, type Tracing } from '../lib/tracing.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { createArrivals } from './arrivals.ts';
import { clientAddress } from './client-address.ts';
import { createDocsRouter, createHomeRouter, type DocsParts } from './docs.ts';
import { ALIVE, healthRoutes, type Readiness } from './health.ts';
import { createIdempotency } from './idempotency.ts';
import { httpMetrics, type HttpMetrics, type Registry } from './metrics.ts';
import { createRouteMiddleware, type PipelineDeps, type RequestState } from './pipeline.ts';
import { errorText, JSON_HEADERS, rejectUnknown, resultText, sendJson, toAppError } from './response.ts';
import type { KeyCaller, Route } from './route.ts';

/** Limit of the request line and all headers; beyond it, 431. */
const HEADER_BYTES_MAX = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
const DRAIN_DEADLINE_MS = 15_000;

/** A request with a merchant's key, once it has its response. */
export type CompletedRequest = {
  requestId: string;
  caller: KeyCaller;
  method: string;
  /** The pattern of its path. */
  route: string;
  status: number;
  errorCode: string | null;
  durationMs: number;
  /** Of the caller. */
  address: string;
  at: Date;
};

export type ApiServerDeps = Readiness &
  Pick<PipelineDeps, 'identify' | 'limits' | 'recordAudit'> & {
    /** The route table: the source of validation, limits, docs and tests. */
    routes: Route[];
    /** Pages and providers' callbacks: plain Koa with their own bodies and responses; thrown errors become envelopes. */
    routers: Router[];
    db: Database;
    runInTransaction: RunInTransaction;
    keyRing: KeyRing;
    /** The queue of a merchant's money operations. */
    queue: KeyedQueue;
    /** The number of proxies in front, each adding to X-Forwarded-For; 0: none, the header is ignored. */
    trustProxy: number;
    /** Without a slash at its end. */
    baseUrl: string;
    /** The sources of the docs, and the routes to describe; null: no docs are served. */
    docs: (Pick<DocsParts, 'docsFolder' | 'serverUrl'> & { routes: readonly Route[] }) | null;
    version: string;
    log: Logger;
    clock: Clock;
    /** Servers of one process share it. */
    registry: Registry;
    tracing?: Tracing;
    /** Called for each request with a merchant's key, after its response. */
    onCompleted?: (request: CompletedRequest) => void;
    /** Limits of slow clients, for headers and whole requests; shorter in tests. */
    timeouts?: { headersMs: number; requestMs: number };
  };

export type Listening = {
  url: string;
  /**
   * Readiness fails at once, and each connection closes after its response. The port is served for another `delayMs` (0),
   * so that a load balancer notices; then new connections are rejected, and requests have `deadlineMs` (15 s) to finish.
   */
  close: (times?: { delayMs?: number; deadlineMs?: number }) => Promise<void>;
};

export type ApiServer = ReturnType<typeof createApiServer>;

/** Creates the HTTP server, ready to listen. Throws when a route is declared wrongly. */
export function createApiServer(deps: ApiServerDeps) {
  const stopping = new AbortController();
  const draining = new AbortController();
  const metrics = httpMetrics(deps.registry);
  const context = { ...deps, metrics, stopping: stopping.signal, draining: draining.signal };
  const health = healthRoutes(deps, stopping.signal);
  const handle = createApp(deps, { health, context }).callback();
  const queueArrival = createArrivals({ addressOf: (request) => clientAddress(request, deps.trustProxy) });
  /** GET /livez as its route responds, but ahead of requests that wait: only the event loop must turn. */
  const sendAlive = (request: IncomingMessage, response: ServerResponse): void => {
    const { status, text } = resultText(health[0] as Route, ALIVE, deps.clock());
    setSecurityHeaders(request, response, () => {});
    response.setHeader('X-Request-Id', newId('req'));
    if (stopping.signal.aborted) response.setHeader('Connection', 'close');
    response.writeHead(status, { ...JSON_HEADERS, 'Content-Length': Buffer.byteLength(text) }).end(text);
    metrics.record('GET /livez', status, 0);
  };
  const callback = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === '/livez' && request.method === 'GET') sendAlive(request, response);
    else queueArrival(request, () => void handle(request, response));
  };
  return {
    callback,
    /** Port 0 takes a free one. */
    listen: async (port: number, host: string): Promise<Listening> => {
      const server = createServer(
        {
          maxHeaderSize: HEADER_BYTES_MAX,
          headersTimeout: deps.timeouts?.headersMs ?? HEADERS_TIMEOUT_MS,
          requestTimeout: deps.timeouts?.requestMs ?? REQUEST_TIMEOUT_MS,
          keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
          connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
        },
        callback,
      );
      const url = await listen(server, { host, port });
      const close: Listening['close'] = async ({ delayMs = 0, deadlineMs = DRAIN_DEADLINE_MS } = {}) => {
        stopping.abort();
        if (delayMs > 0) await sleep(delayMs);
        draining.abort();
        await stopListening(server, deadlineMs);
      };
      return { url, close };
    },
  };
}

function createApp(deps: ApiServerDeps, { health, context }: { health: Route[]; context: RequestContextDeps }): Koa {
  const pipelineDeps = { ...deps, idempotency: createIdempotency(deps) };
  const app = new Koa({ proxy: deps.trustProxy > 0 });
  app.on('error', (error: NodeJS.ErrnoException) => {
    // Emitted for each tab that is closed while its event stream is open.
    const isClosedByClient = error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    deps.log[isClosedByClient ? 'debug' : 'warn']({ err: error }, 'connection failed');
  });
  app.use(createRequestSpan(deps.tracing ?? NO_TRACING));
  app.use(createRequestContext(context));
  app.use(createDispatch([...health, ...deps.routes], (route) => createRouteMiddleware(route, pipelineDeps)));
  const { docs } = deps;
  if (docs) app.use(createDocsRouter([...health, ...docs.routes], { ...deps, ...docs }).routes());
  for (const one of deps.routers) app.use(one.routes());
  // Behind the pages, which may have a home of their own.
  if (docs) app.use(createHomeRouter().routes());
  app.use(rejectUnknown);
  return app;
}

/**
 * Runs the middleware of a request's route. A path without parameters is looked up; any other is matched against the
 * routes with as many parts and the same second one.
 */
function createDispatch(routes: readonly Route[], middlewareOf: (route: Route) => Middleware): Middleware {
  const shapeOf = (path: string): string => `${path.split('/').length} ${path.split('/', 3)[2]}`;
  const literals = new Map<string, { path: string; middleware: Middleware }>();
  const routers = new Map<string, Router>();
  for (const route of routes) {
    const { method, path } = route;
    const shape = shapeOf(path);
    if (shape.includes(':')) throw new Error(`${path} must not have a parameter as its second part`);
    const middleware = middlewareOf(route);
    if (!path.includes(':')) literals.set(`${method} ${path}`, { path, middleware });
    const router = routers.get(shape) ?? new Router({ sensitive: true, strict: true, exclusive: 'specificity' });
    routers.set(shape, router);
    router.register(path, [method], middleware);
  }
  const dispatches = new Map([...routers].map(([shape, router]) => [shape, router.routes() as Middleware]));
  return async (ctx, next) => {
    const literal = literals.get(`${ctx.method} ${ctx.path}`);
    if (!literal) return dispatches.get(shapeOf(ctx.path))?.(ctx, next) ?? next();
    ctx['params'] = {};
    ctx['_matchedRoute'] = literal.path;
    return literal.middleware(ctx, next);
  };
}

type RequestContextDeps = Pick<ApiServerDeps, 'log' | 'clock' | 'baseUrl' | 'trustProxy' | 'onCompleted'> & {
  metrics: HttpMetrics;
  /** The process shuts down: connections close after their response, so that clients open new ones elsewhere. */
  stopping: AbortSignal;
  /** The port closes: handlers that wait respond now. */
  draining: AbortSignal;
};

/** Responses are data: nothing may be loaded or framed from them. Pages set a policy of their own. */
const setSecurityHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  referrerPolicy: { policy: 'same-origin' },
  frameguard: { action: 'deny' },
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** The outermost middleware: request id, security headers, error responses, metrics and log. */
function createRequestContext(deps: RequestContextDeps): Middleware {
  const { baseUrl, clock } = deps;
  return async (ctx, next) => {
    const startedAt = performance.now();
    const requestId = newId('req');
    const state: RequestState = { requestId, draining: deps.draining };
    Object.assign(ctx.state, state);
    ctx.request.ip = clientAddress(ctx.req, deps.trustProxy);
    ctx.res.setHeader('X-Request-Id', requestId);
    setSecurityHeaders(ctx.req, ctx.res, () => {});
    let thrown: unknown;
    try {
      await next();
    } catch (error) {
      thrown = error;
      if (ctx.headerSent) ctx.res.destroy();
      else {
        const sent = toAppError(error);
        ctx.set(sent.headers);
        sendJson(ctx, { status: sent.status, text: errorText(sent, { requestId, baseUrl, at: clock() }) });
      }
    }
    if (deps.stopping.aborted && !ctx.headerSent) ctx.res.setHeader('Connection', 'close');
    record(ctx, deps, { thrown, seconds: (performance.now() - startedAt) / 1000 });
  };
}

/** Begins a trace for each request: the caller's `traceparent` could force what is sampled. Probes have none. */
function createRequestSpan({ isOn, run }: Tracing): Middleware {
  if (!isOn) return async (_ctx, next) => next();
  return async (ctx, next) => {
    if (ctx.path === '/readyz') return next();
    await run({ name: 'request', kind: 'server', parent: null }, async (note) => {
      await next();
      const { requestId }: RequestState = ctx.state;
      const { status } = ctx;
      const attributes = {
        'http.request.method': methodOf(ctx),
        'http.route': patternOf(ctx),
        'http.response.status_code': status,
        'meskot.request_id': requestId,
      };
      note({ name: `${methodOf(ctx)} ${patternOf(ctx)}`, hasFailed: status >= 500, attributes });
    });
  };
}

const methodOf = ({ method }: Context): string => (METHODS.has(method) ? method : 'OTHER');
/** The pattern of the path: the path itself may hold a token. */
const patternOf = (ctx: Context): string =>
  typeof ctx['_matchedRoute'] === 'string' ? ctx['_matchedRoute'] : '(none)';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts and logs a request. Ids, codes and durations only: the path may hold a token, the query a phone number. */
function record(
  ctx: Context,
  { log, metrics, clock, onCompleted }: RequestContextDeps,
  { thrown, seconds }: { thrown: unknown; seconds: number },
): void {
  const pattern: unknown = ctx['_matchedRoute'];
  const route = `${methodOf(ctx)} ${patternOf(ctx)}`;
  const { status } = ctx;
  metrics.record(route, status, seconds);
  const { requestId, caller }: RequestState = ctx.state;
  if (onCompleted && caller?.kind === 'key' && typeof pattern === 'string') {
    const { method, ip: address } = ctx;
    const errorCode = status < 400 ? null : errorCodeOf(ctx.body);
    const durationMs = Math.round(seconds * 1000);
    onCompleted({ requestId, caller, method, route: pattern, status, errorCode, durationMs, address, at: clock() });
  }
  const who = caller?.kind === 'operator' ? { operatorId: caller.operatorId } : { merchantId: caller?.merchantId };
  const person = caller && 'userId' in caller ? { userId: caller.userId } : {};
  const line = { route, status, requestId, ...who, ...person, ms: Math.round(seconds * 1000) };
  if (thrown === undefined) log.debug(line, 'request completed');
  else if (thrown instanceof AppError) log.debug({ ...line, code: thrown.code }, 'request completed');
  else log.error({ ...line, err: thrown }, 'request failed');
}

/** The code of an error envelope, which may also be a stored one. */
function errorCodeOf(body: unknown): string | null {
  return typeof body === 'string' ? (JSON.parse(body) as { error: { code: string } }).error.code : null;
}
