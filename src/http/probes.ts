import type { IncomingMessage, ServerResponse } from 'node:http';

import { newId } from '../lib/ids.ts';
import { errorText, successText } from './envelope.ts';
import { toAppError } from './errors.ts';
import { recordRequest, type FrameDeps } from './request-context.ts';
import type { RouteResult, Route } from './route.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/**
 * Answers GETs of health checks as their routes do, without the layers that they need not pass: they are asked all day
 * long. Returns false for every other request.
 */
export function createProbes(
  routes: readonly Route[],
  deps: FrameDeps,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const probes = new Map(routes.map((route) => [route.path, route]));
  return (request, response) => {
    const route = request.method === 'GET' ? probes.get(request.url ?? '') : undefined;
    if (route) void respondToProbe(route, deps, response);
    return route !== undefined;
  };
}

const HEADERS = [
  ...SECURITY_HEADERS,
  ['Content-Type', 'application/json; charset=utf-8'],
  ['Cache-Control', 'no-store'],
].flat();

async function respondToProbe(route: Route, deps: FrameDeps, response: ServerResponse): Promise<void> {
  const startedAt = performance.now();
  const requestId = newId('req');
  let thrown: unknown;
  let status = 200;
  let text = '';
  let more: string[] = [];
  try {
    const { message, data } = (await route.handle({} as never)) as RouteResult<unknown>;
    text = successText({ status, message, dataJson: JSON.stringify(data) }, deps.clock());
  } catch (error) {
    thrown = error;
    const rejection = toAppError(error);
    status = rejection.status;
    more = Object.entries(rejection.headers).flat();
    text = errorText(rejection, { requestId, baseUrl: deps.baseUrl, at: deps.clock() });
  }
  if (deps.red.aborted) more.push('Connection', 'close');
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, ['X-Request-Id', requestId, ...HEADERS, ...more, 'Content-Length', length]).end(text);
  const seconds = (performance.now() - startedAt) / 1000;
  recordRequest(deps, { route: `${route.method} ${route.path}`, status, seconds, thrown, requestId });
}
