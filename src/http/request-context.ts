import type { Context, Middleware } from 'koa';

import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import type { HttpMetrics } from './metrics.ts';
import { errorText, sendJson, toAppError } from './response.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** What the whole of a request has in common. */
export type RequestState = {
  requestId: string;
  /** The port closes: handlers that wait respond now. */
  draining: AbortSignal;
  /** For the log, once the caller is known. */
  merchantId?: string;
  operatorId?: string;
};

/** What every response is made and recorded with. */
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

/** The outermost middleware: request id, security headers, error responses, metrics and log. */
export function createRequestContext(deps: RequestContextDeps): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const requestId = newId('req');
    const state: RequestState = { requestId, draining: deps.draining };
    Object.assign(ctx.state, state);
    ctx.res.setHeader('X-Request-Id', requestId);
    for (const [name, value] of SECURITY_HEADERS) ctx.res.setHeader(name, value);
    let thrown: unknown;
    try {
      await next();
    } catch (error) {
      thrown = error;
      respondWithError(ctx, toAppError(error), { requestId, baseUrl: deps.baseUrl, at: deps.clock() });
    }
    if (deps.red.aborted && !ctx.headerSent) ctx.res.setHeader('Connection', 'close');
    record(ctx, deps, { thrown, seconds: (performance.now() - startedAt) / 1000 });
  };
}

function respondWithError(ctx: Context, error: AppError, about: Parameters<typeof errorText>[1]): void {
  if (ctx.headerSent) {
    ctx.res.destroy();
    return;
  }
  ctx.set(error.headers);
  sendJson(ctx, { status: error.status, text: errorText(error, about) });
}

function record(
  ctx: Context,
  deps: RequestContextDeps,
  { thrown, seconds }: { thrown: unknown; seconds: number },
): void {
  const pattern: unknown = ctx['_matchedRoute'];
  const route = `${METHODS.has(ctx.method) ? ctx.method : 'OTHER'} ${typeof pattern === 'string' ? pattern : '(none)'}`;
  const { requestId, merchantId, operatorId }: RequestState = ctx.state;
  recordRequest(deps, { route, status: ctx.status, seconds, thrown, requestId, merchantId, operatorId });
}

type Recorded = {
  /** Method and pattern. */
  route: string;
  status: number;
  seconds: number;
  thrown: unknown;
  requestId: string;
  merchantId?: string | undefined;
  operatorId?: string | undefined;
};

/** Counts and logs a request. Ids, codes and durations only: the path may hold a token, the query a phone number. */
export function recordRequest(deps: Pick<RequestContextDeps, 'log' | 'metrics'>, recorded: Recorded): void {
  const { thrown, seconds, ...about } = recorded;
  deps.metrics.record(about.route, about.status, seconds);
  const unforeseen = thrown !== undefined && !(thrown instanceof AppError);
  if (!unforeseen && !deps.log.isLevelEnabled('debug')) return;
  const line = { ...about, ms: Math.round(seconds * 1000) };
  if (unforeseen) deps.log.error({ ...line, err: thrown }, 'request failed');
  else deps.log.debug({ ...line, ...(thrown instanceof AppError && { code: thrown.code }) }, 'request completed');
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
