import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { createKey, createOperatorKey } from '../../src/access/api-keys.ts';
import { createKeyAuthenticator } from '../../src/access/authenticate.ts';
import { createOperator } from '../../src/access/operators.ts';
import { routesOf } from '../../src/app/routes.ts';
import { readConfig } from '../../src/config.ts';
import { createLimits } from '../../src/http/limits.ts';
import type { OperatorRole, Route } from '../../src/http/route.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { Environment } from '../../src/lib/scope.ts';
import { createDocumentStore, type DocumentStore } from '../../src/merchants/kyc/store.ts';
import { createTokenAuthenticator } from '../../src/payments/session.ts';
import type { LiveProviders } from '../../src/providers/settings.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { runCommandLine, type CommandResult } from '../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NO_LIMITS, startTestServer, testServerDeps, type HttpResponse, type TestServer } from '../support/http.ts';
import { KEY_RING } from '../support/key-ring.ts';

export const PEPPER = 'a pepper of sixteen characters';

/** One of the platform's people, with a key. */
export type Person = { operatorId: string; key: string };

/** The operators' routes over HTTP, with real keys, and one operator of each role. */
export type BackOffice = {
  database: TestDatabase;
  fixture: Fixture;
  clock: Clock;
  people: Record<OperatorRole, Person>;
  server: TestServer;
  routes: Route[];
  store: DocumentStore;
  /** As the admin, unless a key is given. */
  send: (method: string, path: string, call?: { key?: string | null; body?: unknown }) => Promise<HttpResponse>;
  hire: (role: OperatorRole) => Promise<Person>;
  /** What the admin proposes and another admin confirms: the answer to the confirmation. */
  confirmed: (method: string, path: string, body: object) => Promise<HttpResponse>;
  /** A merchant's key by an invitation of the admin, unless another key is given. */
  invitedKey: (merchantId: string, key?: object, by?: Person) => Promise<{ keyId: string; secret: string }>;
  merchantKey: (merchantId: string, environment?: Environment) => Promise<string>;
  /** The actions in the audit log, the oldest first; of one resource if it is named. */
  audited: (resourceId?: string) => Promise<string[]>;
  close: () => Promise<void>;
};

/** Starts it. The clock is the real one: keys and lists depend on it. */
export async function startBackOffice({ liveProviders }: { liveProviders?: LiveProviders } = {}): Promise<BackOffice> {
  const database = await createTestDatabase();
  const { db } = database;
  const clock = () => new Date();
  const fixture = buildFixture(db, { clock });
  const keys = createKeyAuthenticator({ db, peppers: [PEPPER], clock, log: createLogger('silent', 'test') });
  let hired = 0;
  const hire = async (role: OperatorRole): Promise<Person> => {
    hired += 1;
    const about = { name: `${role} ${hired}`, email: `${role}-${hired}@meskot.example`, role };
    return db.transaction(async (trx) => {
      const { id } = await createOperator(trx, about);
      return {
        operatorId: id,
        key: (await createOperatorKey({ trx, pepper: PEPPER, clock }, { operatorId: id })).secret,
      };
    });
  };
  const people = {
    viewer: await hire('viewer'),
    support: await hire('support'),
    finance: await hire('finance'),
    admin: await hire('admin'),
  };
  const folder = await mkdtemp(join(tmpdir(), 'meskot-documents-'));
  const store = createDocumentStore(folder, KEY_RING);
  const config = readConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: 'nowhere:1',
    KYC_DOCUMENTS_DIR: folder,
    CONSOLE_URL: 'https://console.meskot.example',
    PORTAL_URL: 'https://portal.meskot.example',
    TEMPORAL_UI_URL: 'https://temporal.example',
  });
  const own = {
    keyRing: KEY_RING,
    API_KEY_PEPPER: PEPPER,
    peppers: [PEPPER] as [string],
    ...(liveProviders && { liveProviders }),
  };
  const { operatorRoutes, invitationRoutes } = routesOf(
    { ...config, ...own },
    {
      ...fixture,
      clock,
      log: createLogger('silent', 'test'),
      limits: createLimits(NO_LIMITS),
      tokens: createTokenAuthenticator({ db, clock, peppers: [PEPPER] }),
      docsFolder: resolve(import.meta.dirname, '../../docs'),
    },
  );
  const routes = operatorRoutes.filter(({ fileTypes }) => !fileTypes?.includes('text/event-stream'));
  const accept = invitationRoutes.ofAll;
  const { authenticateKey } = keys;
  const server = await startTestServer(testServerDeps(db, { routes: [...routes, accept], authenticateKey }));
  const send: BackOffice['send'] = (method, path, call = {}) =>
    server.send(method, path, { key: people.admin.key, ...call });
  const done = async (method: string, path: string, call: Parameters<BackOffice['send']>[2]): Promise<HttpResponse> => {
    const answer = await send(method, path, call);
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
    return answer;
  };
  return {
    database,
    fixture,
    clock,
    people,
    server,
    routes,
    store,
    send,
    hire,
    confirmed: async (method, path, body) => {
      const { proposalId } = (await done(method, path, { body })).body.data;
      const { key } = await hire('admin');
      return done('POST', `/api/ops/proposals/${proposalId}/confirm`, { key, body: {} });
    },
    invitedKey: async (merchantId, wanted = {}, { key } = people.admin) => {
      const body = { environment: 'sandbox', ...wanted };
      const path = `/api/ops/merchants/${merchantId}/key-invitations`;
      const { token } = (await done('POST', path, { key, body })).body.data;
      return (await done('POST', '/api/invitations/accept', { key: null, body: { token } })).body.data;
    },
    merchantKey: async (merchantId, environment = 'sandbox') => {
      const input = { merchantId, environment, kind: 'secret' } as const;
      return (await db.transaction((trx) => createKey({ trx, pepper: PEPPER, clock }, input))).secret;
    },
    audited: async (resourceId) => {
      const sql = `SELECT action FROM operator_audit WHERE :resourceId IN ('', resource_id) ORDER BY occurred_at, id`;
      return (await rows<{ action: string }>(db, sql, { resourceId: resourceId ?? '' })).map(({ action }) => action);
    },
    close: async () => {
      await server.close();
      await keys.flush();
      await database.drop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Runs `meskot …` against a backOffice, with its admin's key unless another one is given. */
export async function runCli(
  { server, people }: BackOffice,
  args: readonly string[],
  { key = people.admin.key, answer }: { key?: string; answer?: string } = {},
): Promise<CommandResult> {
  return runCommandLine({ url: server.url, key }, args, { answer });
}
