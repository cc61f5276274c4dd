import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { createUser, setMembership } from '../../src/access/users/users.ts';
import { startApi } from '../../src/app/api.ts';
import { readConfig } from '../../src/config.ts';
import { Registry } from '../../src/http/metrics.ts';
import { errorCodes } from '../../src/http/openapi.ts';
import type { MemberRole } from '../../src/http/people.ts';
import { rows, type Database } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger, type Logger } from '../../src/lib/log.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import type { Environment } from '../../src/lib/scope.ts';
import { createDocumentStore, type DocumentStore } from '../../src/merchants/kyc/store.ts';
import { onboardMerchant } from '../../src/merchants/operations.ts';
import { productRoutes } from '../docs/document.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { requireDeclared } from '../support/declared.ts';
import { testStack } from '../support/stack-facts.ts';

/** The password of every person that {@link addPerson} creates. */
export const PASSWORD = 'correct horse battery staple';

export type PortalResponse = {
  status: number;
  headers: Headers;
  text: string;
  // The expectations of a test declare the shape of the body.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
};

type PortalRequest = {
  /** 'sandbox' unless given; null: no header. */
  environment?: Environment | null;
  headers?: Record<string, string>;
  body?: unknown;
};

/** A browser with one cookie jar, at the portal. Requests are those of the portal's own pages unless headers differ. */
export type Browser = {
  cookies: Map<string, string>;
  send: (method: string, path: string, request?: PortalRequest) => Promise<PortalResponse>;
  /** Posts a form of a page. */
  post: (path: string, fields: Record<string, string>, headers?: Record<string, string>) => Promise<PortalResponse>;
  signIn: (email: string, password?: string, next?: string) => Promise<PortalResponse>;
};

/** The routes for people only, and for operators: what others return to people is not all declared for keys. */
const DECLARED = productRoutes()
  .filter(({ path }) => /^[/]api[/](?:portal|ops)[/]/.test(path))
  .map((route) => ({ ...route, statuses: Object.keys(route.responses).map(Number), codes: errorCodes(route) }));

/** A browser without cookies. */
export function openBrowser(portalUrl: string): Browser {
  const cookies = new Map<string, string>();
  type Init = Omit<RequestInit, 'headers'> & { headers: Record<string, string> };
  const call = async (path: string, init: Init): Promise<PortalResponse> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers: Record<string, string> = { 'sec-fetch-site': 'same-origin', ...init.headers };
    if (cookie !== '') headers['cookie'] = cookie;
    const response = await fetch(portalUrl + path, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';', 1)[0]?.split('=') ?? [];
      if (/expires=Thu, 01 Jan 1970|Max-Age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const received = {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
    requireDeclared(DECLARED, { method: init.method ?? 'GET', path, ...received });
    return received;
  };
  const post: Browser['post'] = (path, fields, headers = {}) =>
    call(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  return {
    cookies,
    post,
    send: (method, path, { environment = 'sandbox', headers, body } = {}) =>
      call(path, {
        method,
        headers: {
          ...(environment && { 'x-meskot-environment': environment }),
          ...(body !== undefined && !(body instanceof Blob) && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
      }),
    signIn: (email, password = PASSWORD, next = '/') => post('/sign-in', { email, password, next }),
  };
}

/** Creates a person with a role in a merchant. Returns the e-mail address. */
export async function addPerson(db: Database, merchantId: string, role: MemberRole): Promise<string> {
  const email = `${role}-${randomBytes(4).toString('hex')}@people.example`;
  await db.transaction(async (trx) => {
    const user = await createUser(trx, { email, name: `The ${role}`, password: PASSWORD });
    await setMembership(trx, { userId: user.id, merchantId, role });
  });
  return email;
}

/** Turns two-factor on, as if a code had just been entered in every session. */
export async function confirmTwoFactor(db: Database, email: string): Promise<void> {
  await rows(db, 'UPDATE user_account SET totp_enabled_at = now() WHERE email = :email', { email });
  const sql = `UPDATE user_session SET step_up_at = now() FROM user_account u WHERE u.id = user_id AND u.email = :email`;
  await rows(db, sql, { email });
}

export type PortalService = {
  database: TestDatabase;
  db: Database;
  url: string;
  consoleUrl: string;
  /** The files of documents. */
  store: DocumentStore;
  apiUrl: string;
  newMerchant: (name?: string) => Promise<string>;
  /** A browser in which a new person of the merchant has signed in. */
  signedIn: (merchantId: string, role: MemberRole) => Promise<Browser & { email: string }>;
  /** The same, with two-factor on and a code just entered. */
  confirmed: (merchantId: string, role: MemberRole) => Promise<Browser & { email: string }>;
  close: () => Promise<void>;
};

const NO_LIMITS = {
  RATE_LIMIT_SANDBOX_PER_SECOND: '0',
  RATE_LIMIT_LIVE_PER_SECOND: '0',
  RATE_LIMIT_LISTS_PER_SECOND: '0',
  RATE_LIMIT_PAGES_PER_SECOND: '0',
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0',
};

/** Starts the API's process with a portal. `settings` replace those of tests, which limit no rate. */
export async function startPortalService(
  settings: Record<string, string> = {},
  log: Logger = createLogger('silent', 'test'),
): Promise<PortalService> {
  const database = await createTestDatabase();
  const { db } = database;
  const [apiPort, portalPort] = [await anyFreePort(), await anyFreePort()];
  const [consolePort, metricsPort] = [await anyFreePort(), await anyFreePort()];
  // Browsers have passkeys for names only, not for addresses.
  const [url, consoleUrl] = [`http://localhost:${portalPort}`, `http://localhost:${consolePort}`];
  const folder = await mkdtemp(join(tmpdir(), 'meskot-portal-'));
  const config = readConfig({
    ...NO_LIMITS,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: testStack().temporalAddress,
    KYC_DOCUMENTS_DIR: folder,
    REPORTS_DIR: folder,
    API_PORT: String(apiPort),
    METRICS_PORT: String(metricsPort),
    PORTAL_PORT: String(portalPort),
    PORTAL_URL: url,
    CONSOLE_PORT: String(consolePort),
    CONSOLE_URL: consoleUrl,
    ...settings,
  });
  const project = resolve(import.meta.dirname, '../..');
  const api = await startApi(config, { log, project, version: 'test', registry: new Registry() });
  const signedIn: PortalService['signedIn'] = async (merchantId, role) => {
    const email = await addPerson(db, merchantId, role);
    const browser = openBrowser(url);
    await browser.signIn(email);
    return { ...browser, email };
  };
  return {
    database,
    db,
    url,
    consoleUrl,
    store: createDocumentStore(folder, config.keyRing),
    apiUrl: api.url,
    newMerchant: (name = newId('req')) => db.transaction(async (trx) => (await onboardMerchant(trx, { name })).id),
    signedIn,
    confirmed: async (merchantId, role) => {
      const person = await signedIn(merchantId, role);
      await confirmTwoFactor(db, person.email);
      return person;
    },
    close: async () => {
      await api.stop();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A portal without limits for the tests of a file, which runs in them and in the hooks that follow. */
export function usePortalService(): PortalService {
  const service = {} as PortalService;
  beforeAll(async () => void Object.assign(service, await startPortalService()), 60_000);
  afterAll(() => service.close?.());
  return service;
}
