import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Writable } from 'node:stream';

import { createKey, createOperatorKey } from '../../src/access/api-keys.ts';
import { createOperator } from '../../src/access/operators.ts';
import { startApi, type RunningApi } from '../../src/app/api.ts';
import { readConfig } from '../../src/config.ts';
import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { grantChannels } from '../../src/merchants/channels/operations.ts';
import { buildMerchant } from '../support/build.ts';
import { createCertificate } from '../support/certificates.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { createLiveAccounts, type LiveAccounts } from './accounts.ts';
import { createClient, type Client } from './client.ts';
import { startTlsProxy } from './network.ts';
import { connectTo, type Connection } from './send.ts';

/** An API whose live providers are a simulator that can be stopped. No worker runs: what the API does not do is not done. */
let database: TestDatabase;
let folder: string;
let live: LiveAccounts;
let ports: { api: number; console: number; metrics: number; providers: number };
let simulator: TestSimulator;
let api: RunningApi;
let connection: Connection;
let client: Client;
let orders = 0;
const lines: string[] = [];

beforeAll(async () => {
  [database, folder] = [await createTestDatabase(), await mkdtemp(join(tmpdir(), 'meskot-live-'))];
  const [api, console, metrics] = [await anyFreePort(), await anyFreePort(), await anyFreePort()];
  ports = { api, console, metrics, providers: await anyFreePort() };
  live = createLiveAccounts(`http://127.0.0.1:${ports.providers}`);
  const url = `http://127.0.0.1:${ports.api}`;
  connection = connectTo(url);
  const operatorsUrl = `http://127.0.0.1:${ports.console}`;
  client = createClient({ url, operatorsUrl, send: connection.send, meskot: async () => '' });
  await Promise.all([startApiWith({}), startProviders()]);
  await createMerchantAndOperator();
});
beforeEach(() => void (lines.length = 0));
afterEach(() => simulator.clearFaults());
afterAll(async () => {
  await Promise.all([api.stop(), simulator.close(), connection.close()]);
  await database.drop();
  await rm(folder, { recursive: true });
});

async function startApiWith(settings: Record<string, string>): Promise<void> {
  const destination = new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) });
  const config = readConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    API_PORT: String(ports.api),
    METRICS_PORT: String(ports.metrics),
    CONSOLE_PORT: String(ports.console),
    PUBLIC_BASE_URL: `http://127.0.0.1:${ports.api}`,
    KYC_DOCUMENTS_DIR: folder,
    REPORTS_DIR: folder,
    RATE_LIMIT_LIVE_PER_SECOND: '0',
    ...live.settings,
    ...settings,
  });
  const log = createLogger('info', 'test', { destination });
  api = await startApi(config, { log, project: resolve(import.meta.dirname, '../..'), version: 'test' });
}

async function startProviders(): Promise<void> {
  const stateFile = join(folder, 'providers.jsonl');
  simulator = await startTestSimulator({ port: ports.providers, accounts: live.accounts, stateFile });
}

/** A merchant that was verified and has paid in the sandbox, and an operator of finance. */
async function createMerchantAndOperator(): Promise<void> {
  const { db } = database;
  const { merchantId } = await buildMerchant(db);
  const environment = 'live';
  await rows(
    db,
    `INSERT INTO kyc_application (merchant_id, environment, status, tier) VALUES (:merchantId, 'live', 'APPROVED', 2)`,
    { merchantId },
  );
  await rows(
    db,
    `INSERT INTO transaction (id, session_id, merchant_id, environment, checkout_order_no, amount_santim, currency, type,
       status, created_at)
     VALUES ('txn_1', 'cs_1', :merchantId, 'sandbox', 'TRIAL', 100, 'ETB', 'API', 'SUCCESS', now())`,
    { merchantId },
  );
  const { API_KEY_PEPPER: pepper } = readConfig({ DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:1' });
  await db.transaction(async (trx) => {
    const deps = { trx, pepper, clock: () => new Date() };
    await grantChannels(trx, { merchantId, environment });
    client.keys.live = (await createKey(deps, { merchantId, environment, kind: 'secret' })).secret;
    const { id } = await createOperator(trx, { name: 'Hana', email: 'hana@example.et', role: 'finance' });
    client.keys.hana = (await createOperatorKey(deps, { operatorId: id })).secret;
  });
}

const startPayment = () => {
  orders += 1;
  return client.startPayment('live', { no: `ORDER-${orders}`, amount: 100, phone: '0922334455' });
};
type Payment = Awaited<ReturnType<typeof startPayment>>;
const statusOf = async (payment: Payment) => client.statusOf('live', payment);
/** The same payment again, which has the address of telebirr's page once telebirr has accepted it. */
async function reloaded({ sessionId, ...payment }: Payment): Promise<Payment> {
  const path = `POST /api/checkout/sessions/${sessionId}/pay`;
  const { redirectUrl = '' } = await client.ok('live', path, { channel: 'TELEBIRR', phone: '0922334455' });
  return { ...payment, sessionId, redirectUrl };
}
/** Why the callbacks of a payment were refused. */
const refusals = async ({ attemptId }: Payment): Promise<(string | null)[]> => {
  const sql = 'SELECT rejection_reason AS reason FROM provider_callback WHERE attempt_id = :attemptId ORDER BY id';
  return (await rows<{ reason: string | null }>(database.db, sql, { attemptId })).map(({ reason }) => reason);
};
const providerKey = () => live.accounts.TELEBIRR.providerPrivateKey;
/** The payment succeeds once the customer confirms it. */
async function expectPayable(payment: Payment): Promise<void> {
  const accepted = await until('the page of telebirr', async () => {
    await statusOf(payment);
    const again = await reloaded(payment);
    return again.redirectUrl !== '' && again;
  });
  await client.confirmOnPage(accepted);
  await client.untilPaid('live', payment);
}
const NEXT_STEP = 'it is queried again. If it persists, run meskot doctor --channel TELEBIRR';

test('wrong credentials: nothing is assumed, the log names the next step, and the payment continues with right ones', async () => {
  await api.stop();
  await startApiWith({ TELEBIRR_APP_SECRET: 'mistyped-secret' });
  const payment = await startPayment();
  expect(payment.redirectUrl).toBe('');
  expect(await statusOf(payment)).toBe('PENDING');
  expect(await simulator.orderOf(payment.attemptId)).toBeUndefined();
  expect(lines.join('')).toContain(`"problem":"status 401","msg":"the provider gave no outcome: ${NEXT_STEP}"`);
  expect(lines.join('')).not.toContain('mistyped-secret');
  await api.stop();
  await startApiWith({});
  await expectPayable(payment);
});

test('a key that the provider does not know: the payment fails, and the log names the next step', async () => {
  await api.stop();
  await startApiWith({ TELEBIRR_MERCHANT_PRIVATE_KEY: live.foreignPrivateKey });
  const payment = await startPayment();
  expect(await statusOf(payment)).toBe('FAILED');
  const next = 'Check the account: run meskot doctor --channel TELEBIRR';
  const sentence = `the provider rejected the request itself: the order fails. ${next}`;
  expect(lines.join('')).toContain(`"problem":"INVALID_SIGN","msg":"${sentence}"`);
  await api.stop();
  await startApiWith({});
});

test('a provider that is down: the outcome is unknown, and the payment continues when the provider is back', async () => {
  await simulator.close();
  const payment = await startPayment();
  expect([payment.redirectUrl, await statusOf(payment)]).toEqual(['', 'PENDING']);
  expect(lines.join('')).toContain(`"problem":"ECONNREFUSED","msg":"the provider gave no outcome: ${NEXT_STEP}"`);
  await startProviders();
  await expectPayable(payment);
  expect(await simulator.orderOf(payment.attemptId)).toMatchObject({ submissions: 1, paidAmount: '100.00' });
});

test('a certificate that is not accepted: no credentials are sent, and the log has the reason', async () => {
  const front = await startTlsProxy(await createCertificate(null, { days: -1 }), ports.providers);
  const base = `https://localhost:${front.port}/telebirr`;
  const tokens = await simulator.requests('TELEBIRR token');
  await api.stop();
  await startApiWith({ TELEBIRR_BASE_URL: base });
  const payment = await startPayment();
  expect(await statusOf(payment)).toBe('PENDING');
  expect(lines.join('')).toMatch(/"problem":"[A-Z_]*(?:CERT|SIGNATURE)[A-Z_]*","msg":"the provider gave no outcome/);
  expect(await simulator.requests('TELEBIRR token')).toBe(tokens);
  await api.stop();
  await startApiWith({});
  await expectPayable(payment);
  await front.close();
});

test('a callback with a wrong signature is refused and recorded; the query has the truth', async () => {
  await simulator.fault({ kind: 'callbackWronglySigned', channel: 'TELEBIRR', next: 1 });
  const payment = await startPayment();
  await client.notify(await simulator.orderOf(payment.attemptId), live.foreignPrivateKey);
  expect(await statusOf(payment)).toBe('PENDING');
  await client.confirmOnPage(payment);
  const reason = 'the signature is not of this message';
  await until('both callbacks', async () => (await refusals(payment)).length === 2);
  expect(await refusals(payment)).toEqual([reason, reason]);
  expect(await statusOf(payment)).toBe('PENDING');
  // As the worker queries it, too.
  await client.ok('live', `POST /api/checkout/hooks/success/${payment.sessionId}`, {});
  await client.untilPaid('live', payment);
});

test('a callback for another order, and one for an order that is not paid, confirm nothing', async () => {
  const [payment, other] = [await startPayment(), await startPayment()];
  const [order, otherOrder] = [await simulator.orderOf(payment.attemptId), await simulator.orderOf(other.attemptId)];
  if (!order || !otherOrder) throw new Error('the orders are missing');
  await client.notify({ ...otherOrder, callbackUrl: order.callbackUrl }, providerKey());
  expect(await refusals(payment)).toEqual(['it names another order']);
  await client.notify(order, providerKey());
  expect(await refusals(payment)).toEqual(['it names another order', null]);
  expect([await statusOf(payment), await statusOf(other)]).toEqual(['PENDING', 'PENDING']);
});

test('another amount than requested is held for an operator, and the merchant is not credited', async () => {
  await simulator.fault({ kind: 'paidWrongAmount', channel: 'TELEBIRR', next: 1 });
  const { available } = await client.ok('live', 'GET /api/checkout/balance');
  const payment = await startPayment();
  await client.confirmOnPage(payment);
  type Queue = { items: { kind: string; what: string }[] };
  const { items } = await until('the work item', async () => {
    const queue = await client.ok<Queue>('hana', 'GET /api/ops/queue?environment=live&kind=PAYMENT_HELD');
    return queue.items.length > 0 && queue;
  });
  expect(items).toEqual([
    expect.objectContaining({
      kind: 'PAYMENT_HELD',
      what: `${payment.transactionId}: received 101.00 instead of 100.00`,
    }),
  ]);
  expect(await statusOf(payment)).toBe('PENDING');
  expect(await client.ok('live', 'GET /api/checkout/balance')).toMatchObject({ available });
  expect(lines.join('')).toContain('payment with an unexpected amount, currency or reference is held');
});
