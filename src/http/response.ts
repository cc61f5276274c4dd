import type { Readable } from 'node:stream';
import { isNativeError } from 'node:util/types';

import type { Context, Middleware } from 'koa';

import { inAddis } from '../lib/dates.ts';
import { isDatabaseUnavailable } from '../lib/db-errors.ts';
import { AppError, presentIssues, serviceUnavailable, UnavailableError } from '../lib/errors.ts';
import type { FileResponse, RawResponse, Route, RouteResult } from './route.ts';

/** A response as it is sent and stored: its status and its body, byte for byte. */
export type StoredResponse = { status: number; text: string };

/** An instant as ISO 8601 with Addis Ababa's UTC offset, as the envelope's `timestamp` is written. */
function offsetTimestamp(instant: Date): string {
  return `${inAddis(instant).toISOString().slice(0, -1)}+03:00`;
}

/** A route's result in the success envelope. Throws where it contradicts the declared schema. */
export function resultText(route: Route, result: RouteResult<unknown> | RawResponse, at: Date): StoredResponse {
  const dataJson = 'dataJson' in result ? result.dataJson : JSON.stringify(validateResponse(route, result));
  const { status = 200, message, pagination } = result;
  const more = pagination ? `,"pagination":${JSON.stringify(pagination)}` : '';
  const head = `{"statusCode":${status},"message":${JSON.stringify(message)}`;
  return { status, text: `${head},"data":${dataJson}${more},"timestamp":"${offsetTimestamp(at)}"}` };
}

/** The declared fields of a result's data; others are left out. Throws where the data contradicts its schema. */
export function validateResponse(route: Route, { status = 200, data }: RouteResult<unknown>): unknown {
  const schema = route.responses[status];
  if (!schema) throw new Error(`${route.operationId} returned ${status}, which it does not declare`);
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'data'} (${issue.code})`).join(', ');
  throw new Error(`${route.operationId} broke its response schema at ${where}`);
}

/** The error envelope as JSON text. */
export function errorText(error: AppError, context: { requestId: string; baseUrl: string; at: Date }): string {
  const { code, details, existing } = error;
  return JSON.stringify({
    statusCode: error.status,
    message: error.message,
    data: null,
    error: {
      code,
      details: presentIssues(details),
      docUrl: `${context.baseUrl}/docs/errors#${code}`,
      ...(existing && { existing }),
    },
    requestId: context.requestId,
    timestamp: offsetTimestamp(context.at),
  });
}

/** Transient SQLSTATEs: lock and statement timeouts, deadlocks, serialization failures. */
const TRANSIENT_SQLSTATE = new Set(['55P03', '57014', '40P01', '40001', '25P03', '25P02']);

/**
 * The error a caller gets for whatever was thrown. A database that is unavailable or too busy, and a store of files that
 * is, become SERVICE_UNAVAILABLE with Retry-After; everything else but an AppError becomes INTERNAL_ERROR without its text.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof UnavailableError) return serviceUnavailable(error.forCallers);
  if (isDatabaseUnavailable(error) || TRANSIENT_SQLSTATE.has(codeOf(error))) {
    return serviceUnavailable();
  }
  return new AppError('INTERNAL_ERROR', 'Internal error. If it persists, contact support with the requestId.');
}

function codeOf(error: unknown): string {
  return isNativeError(error) && 'code' in error ? String(error.code) : '';
}

/** The headers of JSON that no cache stores. */
export const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };

/** Sends JSON that no cache stores. */
export function sendJson(ctx: Context, { status, text }: StoredResponse): void {
  ctx.status = status;
  ctx.set(JSON_HEADERS);
  ctx.body = text;
}

/** Of a PDF in a frame: a page of the same origin may frame it; it loads nothing, runs no script, and has an origin of its own. */
const FRAME_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'self'; sandbox",
  'X-Frame-Options': 'SAMEORIGIN',
};

/** Sends a file to be saved under its name, or shown in a frame; 304 to a client that has it. Names consist of letters, digits, dots and dashes. */
export async function sendFile(ctx: Context, { file }: FileResponse): Promise<void> {
  const { stored } = file;
  const headers = {
    'Content-Type': file.contentType,
    'Content-Disposition': `${file.isFramed ? 'inline' : 'attachment'}; filename="${file.name}"`,
    ...(file.isFramed && FRAME_HEADERS),
    'Cache-Control': stored ? 'private, no-cache' : 'no-store',
    ...(stored && {
      ETag: `"${stored.sha256}"`,
      // RFC 9530
      'Repr-Digest': `sha-256=:${Buffer.from(stored.sha256, 'hex').toString('base64')}:`,
    }),
  };
  ctx.status = 200;
  ctx.set(headers);
  if (stored && ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (ctx.method === 'HEAD') ctx.body = '';
  else {
    ctx.body = await file.open().catch((error: unknown) => {
      // They would make the error's envelope a file.
      for (const name of Object.keys(headers)) ctx.remove(name);
      throw error;
    });
  }
  ctx.type = file.contentType;
  if (stored) ctx.length = stored.bytes;
}

/** Sends server-sent events until they end. A stream that is destroyed before closes the connection. */
export function sendEvents(ctx: Context, events: Readable): void {
  ctx.status = 200;
  // A proxy that collects the response would hold events back.
  ctx.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  events.once('close', () => {
    if (!events.readableEnded) ctx.res.destroy();
  });
  ctx.body = events;
  ctx.type = 'text/event-stream';
}

const PATH_CHARACTERS_MAX = 200;

/** The 404 of a path that no route has. */
export function unknownPath({ method, path }: Context): AppError {
  const shortened = path.length > PATH_CHARACTERS_MAX ? `${path.slice(0, PATH_CHARACTERS_MAX)}…` : path;
  return new AppError('NOT_FOUND', `There is no ${method} ${shortened}. All paths are listed at /docs.`);
}

/** The innermost middleware, reached without a matching route: 405 with Allow if the path exists, else 404. */
export const rejectUnknown: Middleware = async (ctx) => {
  const matched: { methods: string[] }[] = ctx['matched'] ?? [];
  const allowed = [...new Set(matched.flatMap((layer) => layer.methods))].toSorted().join(', ');
  if (allowed === '') throw unknownPath(ctx);
  throw new AppError('METHOD_NOT_ALLOWED', `This path takes ${allowed}, got ${ctx.method}.`, {
    headers: { Allow: allowed },
  });
};
