import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { createKey, createOperatorKey } from '../../src/access/api-keys.ts';
import { createOperator } from '../../src/access/operators.ts';
import { startApi, type RunningApi } from '../../src/app/api.ts';
import { startWorker } from '../../src/app/worker.ts';
import { readConfig } from '../../src/config.ts';
import { Registry } from '../../src/http/metrics.ts';
import type { Scope } from '../../src/http/route.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger, type Logger } from '../../src/lib/log.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import type { Environment } from '../../src/lib/scope.ts';
import { grantChannels } from '../../src/merchants/channels/operations.ts';
import { createMerchant } from '../../src/merchants/operations.ts';
import { requireDeclared, type Declared } from '../support/declared.ts';
import type { HttpResponse } from '../support/http.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startTestSimulator } from '../support/simulator.ts';
import { testStack } from '../support/stack-facts.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

export type Call = {
  key?: string | null;
  headers?: Record<string, string>;
  /** Text and files are sent unchanged; anything else as JSON. */
  body?: unknown;
};

/** The complete service as in production, with a simulator, a receiver that works and one that fails. */
export type TestService = {
  fixture: WorkerFixture;
  api: RunningApi;
  healthy: Receiver;
  failing: Receiver;
  /** To the operators' listener where the path is theirs, else to the public one. */
  send: (method: string, path: string, call?: Call) => Promise<HttpResponse>;
  newMerchant: (name: string) => Promise<string>;
  /** Creates a key and returns its secret; with `scopes` a restricted one. */
  newKey: (merchantId: string, more?: { environment?: Environment; scopes?: Scope[] }) => Promise<string>;
  /** Creates an admin and returns the secret of its key. */
  newOperatorKey: () => Promise<string>;
  close: () => Promise<void>;
};

const NO_LIMITS = {
  RATE_LIMIT_SANDBOX_PER_SECOND: '0',
  RATE_LIMIT_LIVE_PER_SECOND: '0',
  RATE_LIMIT_LISTS_PER_SECOND: '0',
  RATE_LIMIT_PAGES_PER_SECOND: '0',
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0',
};

/** The log and the metrics of the processes. */
export type Observed = { log: Logger; registry: Registry };

/** Starts the service. A failing delivery ends after a second attempt, 1 s later. */
export async function startTestService(observed: Partial<Observed> = {}): Promise<TestService> {
  const { log = createLogger('silent', 'test'), registry = new Registry() } = observed;
  const simulator = await startTestSimulator();
  const [apiPort, metricsPort] = [await anyFreePort(), await anyFreePort()];
  const [portalPort, consolePort] = [await anyFreePort(), await anyFreePort()];
  const settings = {
    ...NO_LIMITS,
    TASK_QUEUES: 'webhooks,reports',
    SIMULATOR_URL: simulator.url,
    PUBLIC_BASE_URL: `http://127.0.0.1:${apiPort}`,
    API_PORT: String(apiPort),
    METRICS_PORT: String(metricsPort),
    CONSOLE_PORT: String(consolePort),
    PORTAL_PORT: String(portalPort),
    PORTAL_URL: `http://127.0.0.1:${portalPort}`,
    WEBHOOK_RETRY_SCHEDULE_SECONDS: '1',
    KYC_DOCUMENTS_DIR: await mkdtemp(join(tmpdir(), 'meskot-service-')),
    REPORTS_DIR: await mkdtemp(join(tmpdir(), 'meskot-service-')),
  };
  const fixture = await createWorkerFixture(settings);
  const { config, database, db } = fixture;
  const { workflowBundlePath } = testStack();
  const worker = startWorker(config, {
    log,
    registry,
    ...(workflowBundlePath && { workflowBundle: { codePath: workflowBundlePath } }),
  });
  await worker.ready;
  const api = await startApi(
    readConfig({
      ...settings,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS,
      TASK_QUEUE_PREFIX: config.TASK_QUEUE_PREFIX,
    }),
    { log, project: resolve(import.meta.dirname, '../..'), version: 'test' },
  );
  const [healthy, failing] = [await startReceiver(), await startReceiver()];
  failing.behave({ kind: 'answer', status: 503 });
  const clock = () => new Date();
  const declared = [...(await readDeclared(api.url)), ...(await readDeclared(api.operatorsUrl))];

  return {
    fixture,
    api,
    healthy,
    failing,
    send: async (method, path, call) => {
      const url = path.startsWith('/api/ops/') ? api.operatorsUrl : api.url;
      const received = await send(url + path, method, call);
      requireDeclared(declared, { method, path, ...received });
      return received;
    },
    newMerchant: (name) =>
      db.transaction(async (trx) => {
        const { id } = await createMerchant(trx, { name });
        await grantChannels(trx, { merchantId: id, environment: 'sandbox' });
        return id;
      }),
    newKey: async (merchantId, { environment = 'sandbox', scopes } = {}) => {
      const input = {
        merchantId,
        environment,
        kind: scopes ? 'restricted' : 'secret',
        ...(scopes && { scopes }),
      } as const;
      const made = await db.transaction((trx) => createKey({ trx, pepper: config.API_KEY_PEPPER, clock }, input));
      return made.secret;
    },
    newOperatorKey: () =>
      db.transaction(async (trx) => {
        const email = `${newId('opr')}@meskot.example`;
        const { id } = await createOperator(trx, { name: 'Admin', email, role: 'admin' });
        return (await createOperatorKey({ trx, pepper: config.API_KEY_PEPPER, clock }, { operatorId: id })).secret;
      }),
    close: async () => {
      await Promise.all([api.stop(), worker.stop()]);
      await fixture.close();
      await Promise.all([healthy.close(), failing.close(), simulator.close()]);
      await rm(settings.KYC_DOCUMENTS_DIR, { recursive: true });
      await rm(settings.REPORTS_DIR, { recursive: true });
    },
  };
}

/** The operations of a listener's /openapi.json. */
async function readDeclared(url: string): Promise<Declared[]> {
  const { body } = await send(`${url}/openapi.json`, 'GET');
  type Described = Record<string, { content?: { 'application/json'?: { examples?: object } } }>;
  const paths: [string, Record<string, { operationId: string; responses: Described }>][] = Object.entries(body.paths);
  const codesOf = (responses: Described): string[] =>
    Object.values(responses).flatMap(({ content }) => Object.keys(content?.['application/json']?.examples ?? {}));
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) => ({
      operationId,
      method: method.toUpperCase(),
      path,
      statuses: Object.keys(responses).map(Number),
      codes: codesOf(responses),
    })),
  );
}

async function send(url: string, method: string, { key, headers, body }: Call = {}): Promise<HttpResponse> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(key && { 'x-api-key': key }),
      ...(body !== undefined && !(body instanceof Blob) && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}
