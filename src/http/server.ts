import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import Router from '@koa/router';
import Koa from 'koa';

import type { Clock } from '../lib/clock.ts';
import type { KeyRing } from '../lib/crypto.ts';
import type { Database } from '../lib/db.ts';
import type { KeyedQueue } from '../lib/keyed-queue.ts';
import { listen, stopListening } from '../lib/listen.ts';
import type { Logger } from '../lib/log.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { createArrivals } from './arrivals.ts';
import type { Authenticators } from './auth.ts';
import { createDocsRouter } from './docs.ts';
import { healthRoutes, type Readiness } from './health.ts';
import { createIdempotency } from './idempotency.ts';
import { createHttpMetrics, type Registry } from './metrics.ts';
import { createRouteMiddleware } from './pipeline.ts';
import { createRequestContext, type RequestContextDeps } from './request-context.ts';
import { rejectUnknown } from './response.ts';
import type { Route } from './route.ts';

/** Limit of the request line and all headers; beyond it, 431. */
const HEADER_BYTES_MAX = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
const DRAIN_DEADLINE_MS = 15_000;

/** The dependencies of the HTTP process. */
export type ApiServerDeps = Readiness &
  Authenticators & {
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
    /** The project's `docs`, with the guides to serve. */
    docsFolder: string;
    version: string;
    log: Logger;
    clock: Clock;
    registry: Registry;
    /** Limits of slow clients, for headers and whole requests; shorter in tests. */
    timeouts?: { headersMs: number; requestMs: number };
  };

export type Listening = {
  url: string;
  /**
   * Readiness turns red at once, and each connection closes after its response. The port is served for `delayMs` (0 unless given) more, so that a load balancer
   * notices; then new connections are rejected, and requests in flight have `deadlineMs` (15 s) to finish.
   */
  close: (times?: { delayMs?: number; deadlineMs?: number }) => Promise<void>;
};

export type ApiServer = {
  callback: (request: IncomingMessage, response: ServerResponse) => void;
  /** Port 0 takes a free one. */
  listen: (port: number, host: string) => Promise<Listening>;
};

/** Creates the HTTP server, ready to listen. Throws when a route is declared wrongly. */
export function createApiServer(deps: ApiServerDeps): ApiServer {
  const red = new AbortController();
  const draining = new AbortController();
  const metrics = createHttpMetrics(deps.registry);
  const context = { ...deps, metrics, red: red.signal, draining: draining.signal };
  const routes = [...healthRoutes(deps, red.signal), ...deps.routes];
  const handle = createApp(deps, { routes, context }).callback();
  const arrive = createArrivals();
  const callback = (request: IncomingMessage, response: ServerResponse): void =>
    arrive(request, () => void handle(request, response));
  return {
    callback,
    listen: async (port, host) => {
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
        red.abort();
        if (delayMs > 0) await sleep(delayMs);
        draining.abort();
        await stopListening(server, deadlineMs);
      };
      return { url, close };
    },
  };
}

function createApp(deps: ApiServerDeps, { routes, context }: { routes: Route[]; context: RequestContextDeps }): Koa {
  const pipelineDeps = { ...deps, idempotency: createIdempotency(deps) };
  // Literal paths come first: /txns/get_all_txns is not a /txns/:transactionId.
  const router = new Router({ sensitive: true, strict: true, exclusive: 'specificity' });
  for (const route of routes) router.register(route.path, [route.method], createRouteMiddleware(route, pipelineDeps));

  const app = new Koa({ proxy: deps.trustProxy > 0, maxIpsCount: deps.trustProxy });
  app.on('error', (error) => deps.log.warn({ err: error }, 'connection failed'));
  app.use(createRequestContext(context));
  for (const one of [router, createDocsRouter(routes, deps), ...deps.routers]) app.use(one.routes());
  app.use(rejectUnknown);
  return app;
}
