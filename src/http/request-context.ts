import helmet from 'helmet';
import type { Context, Middleware } from 'koa';

import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import type { HttpMetrics } from './metrics.ts';
import { errorText, sendJson, toAppError } from './response.ts';

/** The state of a request that all middlewares share. */
export type RequestState = {
  requestId: string;
  /** The port closes: handlers that wait respond now. */
  draining: AbortSignal;
  /** For the log, once the caller is known. */
  merchantId?: string;
  operatorId?: string;
};

/** The dependencies of every response. */
export type RequestContextDeps = {
  log: Logger;
  clock: Clock;
  baseUrl: string;
  metrics: HttpMetrics;
  /** The process shuts down: connections close after their response, so that clients open new ones elsewhere. */
  red: AbortSignal;
  /** The port closes: handlers that wait respond now. */
  draining: AbortSignal;
};

/** Responses are data: nothing may be loaded or framed from them. Pages set a policy of their own. */
const setSecurityHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  referrerPolicy: { policy: 'no-referrer' },
  frameguard: { action: 'deny' },
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** The outermost middleware: request id, security headers, error responses, metrics and log. */
export function createRequestContext(deps: RequestContextDeps): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const requestId = newId('req');
    const state: RequestState = { requestId, draining: deps.draining };
    Object.assign(ctx.state, state);
    ctx.res.setHeader('X-Request-Id', requestId);
    setSecurityHeaders(ctx.req, ctx.res, () => {});
    let thrown: unknown;
    try {
      await next();
    } catch (error) {
      thrown = error;
      if (ctx.headerSent) ctx.res.destroy();
      else sendError(ctx, deps, toAppError(error));
    }
    if (deps.red.aborted && !ctx.headerSent) ctx.res.setHeader('Connection', 'close');
    record(ctx, deps, { thrown, seconds: (performance.now() - startedAt) / 1000 });
  };
}

function sendError(ctx: Context, { baseUrl, clock }: RequestContextDeps, error: AppError): void {
  const { requestId }: RequestState = ctx.state;
  ctx.set(error.headers);
  sendJson(ctx, { status: error.status, text: errorText(error, { requestId, baseUrl, at: clock() }) });
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts and logs a request. Ids, codes and durations only: the path may hold a token, the query a phone number. */
function record(
  ctx: Context,
  { log, metrics }: RequestContextDeps,
  { thrown, seconds }: { thrown: unknown; seconds: number },
): void {
  const pattern: unknown = ctx['_matchedRoute'];
  const route = `${METHODS.has(ctx.method) ? ctx.method : 'OTHER'} ${typeof pattern === 'string' ? pattern : '(none)'}`;
  const { status } = ctx;
  metrics.record(route, status, seconds);
  const { requestId, merchantId, operatorId }: RequestState = ctx.state;
  const line = { route, status, requestId, merchantId, operatorId, ms: Math.round(seconds * 1000) };
  if (thrown === undefined) log.debug(line, 'request completed');
  else if (thrown instanceof AppError) log.debug({ ...line, code: thrown.code }, 'request completed');
  else log.error({ ...line, err: thrown }, 'request failed');
}
