import { resolve } from 'node:path';

import { recordMerchantAudit } from '../../src/access/merchant-audit.ts';
import { createKeyIdentification, type Authenticators } from '../../src/http/auth.ts';
import { createLimits } from '../../src/http/limits.ts';
import { Registry } from '../../src/http/metrics.ts';
import { errorCodes } from '../../src/http/openapi.ts';
import { type KeyCaller, type Route, SCOPES } from '../../src/http/route.ts';
import { createApiServer, type ApiServer, type ApiServerDeps, type Listening } from '../../src/http/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Database } from '../../src/lib/db.ts';
import { AppError } from '../../src/lib/errors.ts';
import { createKeyedQueue } from '../../src/lib/keyed-queue.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { Environment } from '../../src/lib/scope.ts';
import { createTransactionRunner } from '../../src/outbox/record.ts';
import { requireDeclared } from './declared.ts';

/** A response as received; `body` is its parsed JSON, undefined for other content types. */
export type HttpResponse = {
  status: number;
  headers: Headers;
  text: string;
  // The expectations of a test declare the shape of the body; a type would repeat them.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
};

export type TestServer = {
  url: string;
  server: ApiServer;
  registry: Registry;
  /** Sends a request with the default test key, or with `key` (null = without one). */
  send: (method: string, path: string, request?: TestRequest) => Promise<HttpResponse>;
  close: Listening['close'];
};

export type TestRequest = {
  key?: string | null;
  headers?: Record<string, string>;
  /** Text and bytes are sent unchanged; anything else as JSON. */
  body?: unknown;
};

/** A key that the stub authenticator accepts: `sandbox:mrc_…`, `live:mrc_…`, with scopes after another colon. */
export function stubKey(merchantId: string, environment: Environment = 'sandbox', scopes?: readonly string[]): string {
  return [environment, merchantId, ...(scopes ? [scopes.join(',').replaceAll(':', '.')] : [])].join(':');
}

/** Accepts {@link stubKey}: for tests of everything except keys. */
export async function authenticateStubKey(key: string): Promise<KeyCaller> {
  const [environment, merchantId, scopes] = key.split(':');
  if ((environment !== 'sandbox' && environment !== 'live') || !merchantId?.startsWith('mrc_')) {
    throw new AppError('INVALID_API_KEY', 'This is not a valid API key.');
  }
  const listed = scopes?.replaceAll('.', ':').split(',');
  return {
    kind: 'key',
    merchantId,
    environment,
    keyId: `key_${key}`,
    scopes: listed ? SCOPES.filter((scope) => listed.includes(scope)) : SCOPES,
  };
}

export const NO_LIMITS = {
  sandboxPerSecond: 0,
  livePerSecond: 0,
  listsPerSecond: 0,
  pagesPerSecond: 0,
  failedAuthPerMinute: 0,
};

/** A server whose callers are identified by keys and tokens. */
export type TestServerDeps = Omit<ApiServerDeps, 'identify'> & Authenticators;

/** Dependencies of a server with a database only: no limits, stub keys, no log. */
export function testServerDeps(db: Database, changes: Partial<TestServerDeps> & { routes: Route[] }): TestServerDeps {
  const { baseUrl = 'http://meskot.test' } = changes;
  return {
    routers: [],
    authenticateKey: authenticateStubKey,
    isKnownKey: (key) => key.split(':')[1]?.startsWith('mrc_') === true,
    authenticateClientToken: async () => null,
    isOurToken: () => false,
    db,
    runInTransaction: createTransactionRunner(db, () => {}),
    countPendingMigrations: async () => 0,
    findFullDisk: async () => null,
    keyRing: { currentId: 'test', keys: new Map([['test', Buffer.alloc(32, 7)]]) },
    limits: createLimits(NO_LIMITS),
    recordAudit: recordMerchantAudit,
    queue: createKeyedQueue({ runningMax: 5, pendingMax: { ofOne: 300, ofAll: 300 }, waitMsMax: 60_000 }),
    trustProxy: 0,
    baseUrl,
    version: '0.0.0',
    docs: { docsFolder: resolve(import.meta.dirname, '../../docs'), routes: changes.routes, serverUrl: baseUrl },
    log: createLogger('silent', 'test'),
    clock: systemClock,
    registry: new Registry(),
    ...changes,
  };
}

/** A server that does not listen yet. */
export function createTestServer(deps: TestServerDeps): ApiServer {
  return createApiServer({ ...deps, identify: createKeyIdentification(deps) });
}

/** Starts a server on a free port. Close it in afterAll. */
export async function startTestServer(deps: TestServerDeps, defaultKey: string | null = null): Promise<TestServer> {
  const server = createTestServer(deps);
  const declared = deps.routes.map((route) => ({
    ...route,
    statuses: Object.keys(route.responses).map(Number),
    codes: errorCodes(route),
  }));
  const { url, close } = await server.listen(0, '127.0.0.1');
  return {
    url,
    server,
    registry: deps.registry,
    close,
    send: async (method, path, request = {}) => {
      const key = request.key === undefined ? defaultKey : request.key;
      const { body } = request;
      const response = await fetch(url + path, {
        method,
        redirect: 'manual',
        headers: {
          ...(key !== null && { 'x-api-key': key }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...request.headers,
        },
        ...(body !== undefined && { body: asBytes(body) }),
      });
      const received = await readMessage(response);
      requireDeclared(declared, { method, path, ...received });
      return received;
    },
  };
}

function asBytes(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

async function readMessage(response: Response): Promise<HttpResponse> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/** For `untilServed`: a 503 is not a result of the operation, so the request is repeated. */
export function servedOnly(response: HttpResponse): HttpResponse {
  if (response.status !== 503) return response;
  throw Object.assign(new Error('shed'), { code: '55P03' });
}
