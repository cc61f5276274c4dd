import { parse as parseQuery } from 'node:querystring';

import type { Context, Middleware } from 'koa';

import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import type { KeyedQueue } from '../lib/keyed-queue.ts';
import type { Logger } from '../lib/log.ts';
import type { UnitOfWork, RunInTransaction } from '../outbox/record.ts';
import { authenticate, type Authenticators } from './auth.ts';
import { isStorable, readJsonBody } from './body.ts';
import { errorText, successText } from './envelope.ts';
import { sendFile } from './file.ts';
import { readIdempotentCall, type Idempotency, type StoredResponse } from './idempotency.ts';
import type { RouteResult, Caller, KeyCaller, RawResponse, Route, RouteInput } from './route.ts';
import { readUpload } from './upload.ts';
import { createValidator } from './validate.ts';

export type GuardDeps = Authenticators & {
  runInTransaction: RunInTransaction;
  idempotency: Idempotency;
  /** In which routes that `serialize` wait for their turn. */
  queue: KeyedQueue;
  clock: Clock;
  log: Logger;
  baseUrl: string;
};

type Input = RouteInput<{ by: 'nobody' }, unknown, unknown, unknown> & { caller: never };
type WriteRoute = Extract<Route, { write: true }>;
type Made = StoredResponse & { response: RouteResult<unknown> };

/**
 * The middleware of one route: who calls, how often, with what; then the handler, inside a transaction if the route
 * writes; then its answer, checked against the declared schema. All that can be prepared is prepared once.
 */
export function createRouteMiddleware(route: Route, deps: GuardDeps): Middleware {
  const validate = createValidator(route, route.operationId);
  const render = createRenderer(route, deps);
  const rateLimit = route.rateLimit ?? 'default';
  const write = 'write' in route ? inTurn(route, deps, createRunWrite(route, { ...deps, render })) : null;

  return async (ctx) => {
    const params: Record<string, string> = ctx['params'];
    if (!Object.values(params).every(isStorable)) throw unknownPath(ctx);
    const caller = await authenticate(ctx, route.auth, deps);
    if (caller) noteCaller(ctx, caller);
    if (rateLimit !== 'none') await deps.limits.countRequest(ctx, caller, rateLimit);
    const { body, raw } = await readBodyOf(ctx, route);
    const parts = validate({ params, query: readQuery(ctx), body });
    const { requestId, draining } = ctx.state as { requestId: string; draining: AbortSignal };
    // Which caller a route's handler expects follows from its `auth`: the types of the table say so (route.ts).
    const input = { ...parts, caller, requestId, signal: () => signalOf(ctx, draining) } as Input;
    if (write) return send(ctx, await write(ctx, input, raw));
    const response = await route.handle(input as never);
    return 'file' in response ? sendFile(ctx, response) : send(ctx, render(response));
  };
}

/** Made for the few handlers that wait. */
function signalOf({ res }: Context, draining: AbortSignal): AbortSignal {
  const waiting = new AbortController();
  const end = (): void => {
    draining.removeEventListener('abort', end);
    waiting.abort();
  };
  if (draining.aborted || res.closed) end();
  else draining.addEventListener('abort', end, { once: true });
  res.once('close', end);
  return waiting.signal;
}

/** For the log. */
function noteCaller(ctx: Context, caller: Caller): void {
  if (caller.kind === 'operator') ctx.state['operatorId'] = caller.operatorId;
  else ctx.state['merchantId'] = caller.merchantId;
}

const PARAMETERS_MAX = 50;

/** Throws VALIDATION_ERROR where there are more than any route takes: the parser would leave out the last ones. */
function readQuery({ querystring }: Context): Record<string, unknown> {
  if (querystring === '') return {};
  if (querystring.split('&', PARAMETERS_MAX + 1).length <= PARAMETERS_MAX) return parseQuery(querystring);
  const issue = `must have at most ${PARAMETERS_MAX} parameters`;
  throw new AppError('VALIDATION_ERROR', `query ${issue}`, { details: [{ field: 'query', issue }] });
}

const NO_BODY = { body: {}, raw: '' };

async function readBodyOf(ctx: Context, { method, upload }: Route): Promise<{ body: unknown; raw: string }> {
  if (method === 'GET') return NO_BODY;
  return upload ? readUpload(ctx, upload) : readJsonBody(ctx);
}

/** The 404 of a path that no route has. */
export function unknownPath(ctx: Context): AppError {
  return new AppError('NOT_FOUND', `There is no ${ctx.method} ${shortPath(ctx.path)}. All paths are listed at /docs.`);
}

function shortPath(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}

function send(ctx: Context, { status, text }: StoredResponse): void {
  ctx.status = status;
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  ctx.res.setHeader('Cache-Control', 'no-store');
  ctx.body = text;
}

type Renderer = (response: RouteResult<unknown> | RawResponse) => StoredResponse;

/** Turns answers into envelopes. What the schema does not declare is left out; what contradicts it is our bug: a 500. */
function createRenderer(route: Route, { clock }: Pick<GuardDeps, 'clock'>): Renderer {
  return (response) => {
    const dataJson = 'dataJson' in response ? response.dataJson : JSON.stringify(validateResponse(route, response));
    const { status = 200, message, pagination } = response;
    return { status, text: successText({ status, message, dataJson, pagination }, clock()) };
  };
}

/** What a route declares of an answer's data. Throws where it contradicts that: a bug of ours. */
export function validateResponse(route: Route, { status = 200, data }: RouteResult<unknown>): unknown {
  const schema = route.responses[status];
  if (!schema) throw new Error(`${route.operationId} answered ${status}, which it does not declare`);
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'data'} (${issue.code})`).join(', ');
  throw new Error(`${route.operationId} broke its response schema at ${where}`);
}

type Writer = (ctx: Context, input: Input, rawBody: string) => Promise<StoredResponse>;

/** Lets a route that serializes wait for its turn before it takes a connection; not for a caller who hangs up. */
function inTurn({ serialize, auth, operationId }: WriteRoute, { queue }: GuardDeps, write: Writer): Writer {
  if (!serialize) return write;
  if (auth.by !== 'key') throw new Error(`${operationId} serializes what is a merchant's, but takes no merchant's key`);
  return async (ctx, input, rawBody) => {
    const { merchantId, environment }: KeyCaller = input.caller;
    const hungUp = new AbortController();
    if (ctx.res.destroyed) hungUp.abort();
    ctx.res.once('close', () => hungUp.abort());
    return queue.run(
      `${serialize} ${merchantId} ${environment}`,
      async () => write(ctx, input, rawBody),
      hungUp.signal,
    );
  };
}

type WriterDeps = GuardDeps & { render: Renderer };

/** Runs a writing route in one transaction, once per Idempotency-Key. */
function createRunWrite(route: WriteRoute, deps: WriterDeps): Writer {
  const name = `${route.method} ${route.path}`;
  return async (ctx, input, rawBody) => {
    const work = async (tx: UnitOfWork): Promise<Made> => {
      const response = await route.handle({ ...input, tx } as never);
      return { ...deps.render(response), response };
    };
    const caller: Caller | null = input.caller;
    const key = route.method === 'POST' ? ctx.req.headers['idempotency-key'] : undefined;
    const call = caller && readIdempotentCall({ key: key?.toString(), caller, route: name, url: ctx.url, rawBody });
    if (!call) return finish(route, deps, { made: await deps.runInTransaction(work), input });

    const { requestId } = input;
    const rejectionText = (rejection: AppError) =>
      errorText(rejection, { requestId, baseUrl: deps.baseUrl, at: deps.clock() });
    const result = await deps.idempotency.run(call, work, rejectionText);
    if (result.outcome === 'replayed') ctx.set('Idempotent-Replayed', 'true');
    if (result.outcome !== 'made') return result.response;
    const finished = await finish(route, deps, { made: result.response, input });
    if (finished !== result.response) await keepFinished(() => deps.idempotency.update(call, finished), deps, input);
    return finished;
  };
}

/** After the commit the answer stands, whatever happens to what is added to it: a failure here is only logged. */
async function finish(
  route: WriteRoute,
  deps: WriterDeps,
  { made, input }: { made: Made; input: Input },
): Promise<StoredResponse> {
  if (!route.finish) return made;
  try {
    const response = await route.finish(made.response, input as never);
    return response === made.response ? made : deps.render(response);
  } catch (error) {
    deps.log.error({ requestId: input.requestId, err: error }, 'finishing after the commit failed');
    return made;
  }
}

async function keepFinished(update: () => Promise<void>, deps: WriterDeps, input: Input): Promise<void> {
  try {
    await update();
  } catch (error) {
    deps.log.error({ requestId: input.requestId, err: error }, 'the finished answer was not stored');
  }
}
