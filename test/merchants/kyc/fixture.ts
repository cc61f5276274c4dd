import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createKey } from '../../../src/access/api-keys.ts';
import { createKeyAuthenticator } from '../../../src/access/authenticate.ts';
import type { Scope } from '../../../src/http/route.ts';
import { type Database, rows } from '../../../src/lib/db.ts';
import type { FilePlace } from '../../../src/lib/file-store.ts';
import { createLogger } from '../../../src/lib/log.ts';
import type { Environment, MerchantScope } from '../../../src/lib/scope.ts';
import { channelRoutes } from '../../../src/merchants/channels/routes.ts';
import { kycRoutes } from '../../../src/merchants/kyc/routes.ts';
import { createDocumentStore, type DocumentStore } from '../../../src/merchants/kyc/store.ts';
import { createMerchant } from '../../../src/merchants/operations.ts';
import { createTransactionRunner, type RunInTransaction } from '../../../src/outbox/record.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startTestServer, testServerDeps, type HttpResponse } from '../../support/http.ts';
import { KEY_RING } from '../../support/key-ring.ts';

const PEPPER = 'a pepper of sixteen characters';

/** All fields of the application. */
export const APPLICATION = {
  legalName: 'Abyssinia Coffee Trading PLC',
  tradeName: 'Abyssinia Coffee',
  businessType: 'PRIVATE_LIMITED_COMPANY',
  tin: '0012345678',
  tradeLicenceNumber: 'AA/AA/1/0012345/2015',
  address: 'Bole, woreda 3, house 112',
  region: 'ADDIS_ABABA',
  contactPerson: 'Almaz Kebede',
  phone: '0911223344',
  email: 'almaz@coffee.example.et',
  website: 'https://coffee.example.et',
  expectedMonthlyVolume: 250_000.5,
};

/** Small files of each type; no two of one type are the same. */
let made = 0;
export const pdf = (bytes = 40): Buffer => Buffer.from(`%PDF-1.7 ${(made += 1)} `.padEnd(bytes, '.'));
export const png = (): Buffer =>
  Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.from(`${(made += 1)}`)]);
export const jpeg = (): Buffer => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.from(`${(made += 1)}`)]);

export type Applicant = {
  merchantId: string;
  scope: (environment: Environment) => MerchantScope;
  key: (environment: Environment) => string;
  send: (method: string, path: string, request?: Request) => Promise<HttpResponse>;
  put: (changes?: object, environment?: Environment) => Promise<HttpResponse>;
  upload: (kind: string, file: Upload, environment?: Environment) => Promise<HttpResponse>;
  submit: (environment?: Environment) => Promise<HttpResponse>;
  read: (environment?: Environment) => Promise<HttpResponse>;
  /** Filled in, with every document it needs, and handed in. */
  apply: (environment: Environment, changes?: object) => Promise<HttpResponse>;
};
type Request = { environment?: Environment; body?: unknown; headers?: Record<string, string> };
type Upload = { bytes: Buffer; type?: string; fileName?: string };

export type KycFixture = {
  db: Database;
  runInTransaction: RunInTransaction;
  store: DocumentStore;
  folder: string;
  now: () => Date;
  wait: (ms: number) => void;
  url: string;
  newApplicant: (name?: string) => Promise<Applicant>;
  newKey: (scope: MerchantScope, scopes?: Scope[]) => Promise<string>;
  /** A row of a sandbox payment that has ended so. */
  addSandboxPayment: (merchantId: string, status: 'SUCCESS' | 'FAILED') => Promise<void>;
  close: () => Promise<void>;
};

/** The routes of verification and channels, with real keys, and files in a folder of their own unless a place is given. */
export async function startKycFixture(place?: FilePlace): Promise<KycFixture> {
  const database = await createTestDatabase();
  const { db } = database;
  const folder = await mkdtemp(join(tmpdir(), 'meskot-kyc-'));
  let nowMs = Date.parse('2026-06-01T09:00:00Z');
  const clock = () => new Date(nowMs);
  const runInTransaction = createTransactionRunner(db, () => {});
  const store = createDocumentStore(place ?? join(folder, 'documents'), KEY_RING);
  const keys = createKeyAuthenticator({ db, peppers: [PEPPER], clock, log: createLogger('silent', 'test') });
  const routes = [...kycRoutes({ db, runInTransaction, store }), ...channelRoutes({ db, findProvider: () => null })];
  const server = await startTestServer(testServerDeps(db, { routes, clock, authenticateKey: keys.authenticateKey }));

  const newKey = async (scope: MerchantScope, scopes?: Scope[]): Promise<string> => {
    const kind = scopes ? 'restricted' : 'secret';
    const input = { ...scope, kind, ...(scopes && { scopes }) } as const;
    return (await db.transaction((trx) => createKey({ trx, pepper: PEPPER, clock }, input))).secret;
  };

  const newApplicant = async (name = 'Coffee'): Promise<Applicant> => {
    const { id: merchantId } = await db.transaction((trx) => createMerchant(trx, { name }));
    const scope = (environment: Environment): MerchantScope => ({ merchantId, environment });
    const secrets = { sandbox: await newKey(scope('sandbox')), live: await newKey(scope('live')) };
    const send: Applicant['send'] = (method, path, { environment = 'live', ...request } = {}) =>
      server.send(method, path, { ...request, key: secrets[environment] });
    const put: Applicant['put'] = (changes = {}, environment = 'live') =>
      send('PUT', '/api/checkout/kyc', { environment, body: { ...APPLICATION, ...changes } });
    const upload: Applicant['upload'] = (kind, { bytes, type, fileName }, environment = 'live') => {
      const query = new URLSearchParams({ kind, ...(fileName !== undefined && { fileName }) });
      const headers = { 'content-type': type ?? 'application/pdf' };
      return send('POST', `/api/checkout/kyc/documents?${query.toString()}`, { environment, body: bytes, headers });
    };
    const submit: Applicant['submit'] = (environment = 'live') =>
      send('POST', '/api/checkout/kyc/submit', { environment, body: {} });
    return {
      merchantId,
      scope,
      key: (environment) => secrets[environment],
      send,
      put,
      upload,
      submit,
      read: (environment = 'live') => send('GET', '/api/checkout/kyc', { environment }),
      apply: async (environment, changes = {}) => {
        await put(changes, environment);
        for (const kind of ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID']) {
          await upload(kind, { bytes: pdf() }, environment);
        }
        return submit(environment);
      },
    };
  };

  return {
    db,
    runInTransaction,
    store,
    folder: join(folder, 'documents'),
    now: clock,
    wait: (ms) => void (nowMs += ms),
    url: server.url,
    newApplicant,
    newKey,
    addSandboxPayment: async (merchantId, status) => {
      const id = `txn_${merchantId.slice(4)}${(made += 1)}`;
      await rows(
        db,
        `INSERT INTO transaction (id, session_id, merchant_id, environment, checkout_order_no, amount_santim, currency, type,
           status, created_at)
         VALUES (:id, :id, :merchantId, 'sandbox', :id, 100, 'ETB', 'API', :status, now())`,
        { id, merchantId, status },
      );
    },
    close: async () => {
      await keys.flush();
      await server.close();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
