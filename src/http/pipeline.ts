import type { Context, Next, ParameterizedContext } from 'koa';

import type { Clock } from '../lib/clock.ts';
import { isUniqueViolation } from '../lib/db-errors.ts';
import { AppError } from '../lib/errors.ts';
import type { KeyedQueue } from '../lib/keyed-queue.ts';
import type { Logger } from '../lib/log.ts';
import { maskPhones } from '../lib/mask.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { auditRow, type AuditRow } from './audit.ts';
import { isStorable, readJsonBody, readUpload, withStored } from './body.ts';
import { isCacheable, isIdempotent, readIdempotentCall, type Idempotency, type IdempotentCall } from './idempotency.ts';
import type { Limits } from './limits.ts';
import { errorText, resultText, sendEvents, sendFile, sendJson, unknownPath, type StoredResponse } from './response.ts';
import {
  hasPermission,
  type AnyResult,
  type Caller,
  type KeyCaller,
  type Route,
  type RouteAuth,
  type RouteInput,
  type RouteResult,
  type UserCaller,
} from './route.ts';
import { createValidator, readQuery } from './validate.ts';

/** The caller of a request to a route, once it has the permission that the route needs; null on a public route. */
export type Identify = (ctx: Context, route: Route) => Promise<Caller | null>;

export type PipelineDeps = {
  recordAudit: (tx: UnitOfWork, row: AuditRow) => Promise<void>;
  identify: Identify;
  limits: Limits;
  runInTransaction: RunInTransaction;
  idempotency: Idempotency;
  /** The turns of routes that declare `serialize`. */
  queue: KeyedQueue;
  clock: Clock;
  log: Logger;
  baseUrl: string;
};

/** The state of a request that all middlewares share. */
export type RequestState = {
  requestId: string;
  /** The port closes: handlers that wait respond now. */
  draining: AbortSignal;
  /** By `authenticate`; null on a public route. */
  caller?: Caller | null;
};

/** The results of a route's middlewares, for those after them. */
type RouteState = Required<RequestState> & {
  /** By `parseBody`. */
  body: unknown;
  rawBody: string;
  /** By `validate`. */
  input: Omit<RouteInput<RouteAuth, unknown, unknown, unknown>, 'at'>;
  /** By `idempotent`; null without an Idempotency-Key. */
  idempotentCall: IdempotentCall | null;
  /** By `inTransaction`; `storedResponse` is that of the first request with the same key. */
  tx: UnitOfWork;
  storedResponse: StoredResponse | null;
  /** By `run`. */
  result: AnyResult;
};
type RouteContext = ParameterizedContext<RouteState>;
type RouteMiddleware = (ctx: RouteContext, next: Next) => Promise<void>;
type WriteRoute = Extract<Route, { write: true }>;

/** The middlewares of one route, in the order they run. Throws where the route is declared wrongly. */
export function createRouteMiddleware(route: Route, deps: PipelineDeps): RouteMiddleware {
  return compose([
    rejectUnstorablePath,
    authenticate(route, deps),
    rateLimit(route, deps),
    limitGuesses(route, deps),
    parseBody(route),
    validate(route),
    storeUpload(route),
    ...('write' in route
      ? [serialize(route, deps), idempotent(route, deps), afterCommit(route, deps), inTransaction(deps)]
      : []),
    run(route, deps),
    render(route, deps),
  ]);
}

/**
 * As koa-compose, except that a middleware may call `next` again: a transaction is repeated after a deadlock, and
 * `idempotent` repeats what two concurrent requests with one key collided in.
 */
function compose(middlewares: readonly (RouteMiddleware | null)[]): RouteMiddleware {
  return middlewares
    .filter((middleware) => middleware !== null)
    .reduceRight((inner, middleware) => (ctx, next) => middleware(ctx, () => inner(ctx, next)));
}

/** 404 for an id that PostgreSQL cannot store, so that no query meets it. */
const rejectUnstorablePath: RouteMiddleware = async (ctx, next) => {
  const params: Record<string, string> = ctx['params'];
  if (!Object.values(params).every(isStorable)) throw unknownPath(ctx);
  await next();
};

function authenticate(route: Route, { identify }: PipelineDeps): RouteMiddleware {
  return async (ctx, next) => {
    ctx.state.caller = await identify(ctx, route);
    await next();
  };
}

function rateLimit(route: Route, { limits }: PipelineDeps): RouteMiddleware | null {
  const { rateLimit: rate = route.paginated ? 'list' : 'default' } = route;
  if (rate === 'none') return null;
  return async (ctx, next) => {
    await limits.countRequest(ctx, ctx.state.caller, rate);
    await next();
  };
}

/** Counts wrong tokens of a body as wrong keys are counted, and rejects an address without guesses left. */
function limitGuesses({ auth }: Route, { limits }: PipelineDeps): RouteMiddleware | null {
  if (auth.by !== 'public' || !auth.tokenInBody) return null;
  return async (ctx, next) => {
    await limits.failedAuth.reject(ctx);
    try {
      await next();
    } catch (error) {
      if (error instanceof AppError && error.status === 401) await limits.failedAuth.count(ctx);
      throw error;
    }
  };
}

function parseBody({ method, upload }: Route): RouteMiddleware {
  return async (ctx, next) => {
    const { body, raw } =
      method === 'GET' ? { body: {}, raw: '' } : upload ? await readUpload(ctx, upload) : await readJsonBody(ctx);
    ctx.state.body = body;
    ctx.state.rawBody = raw;
    await next();
  };
}

function validate(route: Route): RouteMiddleware {
  const check = createValidator(route, route.operationId);
  return async (ctx, next) => {
    const { body, caller, requestId, draining } = ctx.state;
    const parts = check({ params: ctx['params'], query: readQuery(ctx.querystring), body });
    // Only the few handlers that wait create a signal.
    ctx.state.input = {
      ...parts,
      caller,
      requestId,
      address: ctx.ip,
      signal: () => AbortSignal.any([draining, hungUp(ctx)]),
    };
    await next();
  };
}

/** Stores a file before the transaction, which must not wait for another system. */
function storeUpload({ upload }: Route): RouteMiddleware | null {
  const store = upload?.store;
  if (!store) return null;
  return async (ctx, next) =>
    withStored(store, ctx.state.input, async () => {
      await next();
      return ctx.status === 201 && !ctx.state.storedResponse;
    });
}

/** Aborts when the caller hangs up. */
export function hungUp({ res }: Pick<RouteContext, 'res'>): AbortSignal {
  const controller = new AbortController();
  if (res.closed || res.destroyed) controller.abort();
  else res.once('close', () => controller.abort());
  return controller.signal;
}

/**
 * Queues requests that would lock the same rows, before they take a database connection. A request whose caller hangs up
 * leaves the queue.
 */
function serialize(
  { serialize: locked, auth, operationId }: WriteRoute,
  { queue }: PipelineDeps,
): RouteMiddleware | null {
  if (!locked) return null;
  if (auth.by !== 'key') throw new Error(`${operationId} is serialized by merchant, but takes no merchant's key`);
  return async (ctx, next) => {
    const { merchantId, environment } = ctx.state.caller as KeyCaller | UserCaller;
    await queue.run(`${locked} ${merchantId} ${environment}`, next, hungUp(ctx));
  };
}

/**
 * One Idempotency-Key, one effect, one response: sends the first response again, and stores business errors after the
 * rollback of the rejected change.
 */
function idempotent(route: Route, { idempotency, baseUrl, clock }: PipelineDeps): RouteMiddleware | null {
  if (!isIdempotent(route)) return null;
  const name = `${route.method} ${route.path}`;
  const sendReplay = (ctx: RouteContext, stored: StoredResponse): void => {
    ctx.set('Idempotent-Replayed', 'true');
    sendJson(ctx, stored);
  };
  return async (ctx, proceed) => {
    const { caller, rawBody, requestId } = ctx.state;
    const key = ctx.req.headers['idempotency-key']?.toString();
    const call = caller && readIdempotentCall({ key, caller, route: name, url: ctx.url, rawBody });
    if (!call) return proceed();
    ctx.state.idempotentCall = call;
    try {
      await proceed().catch(async (error: unknown) => {
        // The look-up may have seen the state before the first request's commit, yet got the lock after it: then the same
        // change, or its response, collides with the first. A second look-up finds that, unless it has expired.
        if (!isUniqueViolation(error)) throw error;
        await idempotency.deleteExpired(call);
        return proceed();
      });
      if (ctx.state.storedResponse) sendReplay(ctx, ctx.state.storedResponse);
    } catch (error) {
      if (!isCacheable(error)) throw error;
      const text = errorText(error, { requestId, baseUrl, at: clock() });
      const stored = await idempotency.storeError(call, { status: error.status, text });
      if (!stored) throw error;
      if (stored.isReplay) sendReplay(ctx, stored.response);
      else sendJson(ctx, stored.response);
    }
  };
}

/** Runs the route's `afterCommit`. The change is committed by then, so a failure here is only logged. */
function afterCommit(route: WriteRoute, { idempotency, clock, log }: PipelineDeps): RouteMiddleware | null {
  const complete = route.afterCommit;
  if (!complete) return null;
  return async (ctx, next) => {
    await next();
    const { storedResponse, result, input, idempotentCall: call, requestId } = ctx.state;
    if (storedResponse) return;
    let response: StoredResponse;
    try {
      const completed = await complete(result as RouteResult<unknown>, input);
      if (completed === result) return;
      response = resultText(route, completed, clock());
    } catch (error) {
      log.error({ requestId, err: error }, 'afterCommit of the route failed');
      return;
    }
    sendJson(ctx, response);
    if (!call) return;
    await idempotency.update(call, response).catch((error: unknown) => {
      log.error({ requestId, err: error }, 'the response after the commit was not stored');
    });
  };
}

/**
 * Runs the rest in one transaction. With an Idempotency-Key it finds the response of the first request with this key, or
 * stores this one's.
 */
function inTransaction({ runInTransaction, idempotency }: PipelineDeps): RouteMiddleware {
  return async (ctx, next) =>
    runInTransaction(async (tx) => {
      const { idempotentCall: call } = ctx.state;
      ctx.state.tx = tx;
      ctx.state.storedResponse = call ? await idempotency.find(call, tx) : null;
      if (ctx.state.storedResponse) return;
      await next();
      if (call) await idempotency.store(call, { status: ctx.status, text: ctx.body as string }, tx);
    });
}

function run(route: Route, { clock, recordAudit }: PipelineDeps): RouteMiddleware {
  return async ({ state }, next) => {
    const input = { ...state.input, at: clock() };
    if ('write' in route) {
      const result = await route.handle({ ...input, tx: state.tx });
      const row = route.audit ? auditRow(input, route.audit, result.audit) : null;
      if (row) await recordAudit(state.tx, row);
      state.result = result;
    } else state.result = await route.handle(input);
    await next();
  };
}

/** Turns the result into the success envelope, or sends its file or events. */
function render(route: Route, { clock }: PipelineDeps): RouteMiddleware {
  return async (ctx) => {
    const { result, caller } = ctx.state;
    if ('file' in result) return sendFile(ctx, result);
    if ('events' in result) return sendEvents(ctx, result.events);
    const response = resultText(route, result, clock());
    const masks = caller && !hasPermission(caller, 'phones:read');
    sendJson(ctx, masks ? { ...response, text: maskPhones(response.text) } : response);
  };
}
