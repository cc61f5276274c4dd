import { Client, Connection } from '@temporalio/client';

import { createKey } from '../../src/access/api-keys.ts';
import { ledgerChecks } from '../../src/app/ledger-invariants.ts';
import { readConfig } from '../../src/config.ts';
import { createRegistry, listenForMetrics } from '../../src/http/metrics.ts';
import { createIntegrityMonitor } from '../../src/ledger/verify.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/log.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { enqueueMail } from '../../src/outbox/mail.ts';
import { liveSettings } from '../providers/live.ts';
import { buildFixture, buildMerchant } from '../support/build.ts';
import { runSql } from '../support/database.ts';
import { createOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts';
import { createOwnTemporal, type OwnTemporal } from '../support/own-temporal.ts';
import { startProgram, type Program } from '../support/program.ts';
import { withdraw } from '../support/settlements.ts';
import { until } from '../support/until.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { startPrometheus, type Prometheus } from './prometheus.ts';

/** These fire from the start on: credentials that have ended, and a ledger that is verified ten minutes after the start. */
const AT_REST = ['CredentialsEnd', 'CredentialsEndSoon', 'LedgerUnverified'];
const WITHIN_MS = 120_000;

let postgres: OwnPostgres;
let temporal: OwnTemporal;
let prometheus: Prometheus;
let api: Program;
let worker: Program;
let apiUrl: string;
let settings: Record<string, string>;

beforeAll(async () => {
  [postgres, temporal, prometheus] = await Promise.all([createOwnPostgres(), createOwnTemporal(), startPrometheus()]);
  await temporal.start();
  const port = String(await anyFreePort());
  apiUrl = `http://127.0.0.1:${port}`;
  settings = {
    ...(liveSettings('http://127.0.0.1:9') as Record<string, string>),
    DATABASE_URL: postgres.database.url,
    TEMPORAL_ADDRESS: temporal.address,
    API_PORT: port,
    SMTP_URL: 'smtp://127.0.0.1:9',
    AWASH_CREDENTIALS_EXPIRE_ON: '2026-01-01',
    DISK_FREE_MEGABYTES_MIN: '0',
  };
  [api, worker] = await Promise.all([startProgram('api', settings), startProgram('worker', settings)]);
  await readAll();
}, 400_000);
afterAll(async () => {
  await Promise.all([api?.kill(), worker?.kill(), prometheus?.close()]);
  await Promise.all([postgres?.close(), temporal?.close()]);
}, 400_000);

const readAll = async (...more: string[]): Promise<void> =>
  prometheus.read({ 'meskot-api': [api.metricsUrl], 'meskot-worker': [worker.metricsUrl, ...more] });

const namesFiring = async (): Promise<string[]> => {
  const names = (await prometheus.firing()).map(({ labels }) => labels['alertname'] ?? '');
  // Of the machine that runs the test.
  return [...new Set(names)].filter((name) => !['DiskNearlyFull', 'RequestsSlow'].includes(name)).toSorted();
};
const fire = async (...names: string[]): Promise<void> => {
  let firing: string[] = [];
  const isSo = async (): Promise<boolean> => {
    firing = await namesFiring();
    return names.every((name) => firing.includes(name));
  };
  await until('alerts', isSo, WITHIN_MS).catch(() => expect(firing).toEqual(expect.arrayContaining(names)));
};
const areOver = async (...names: string[]): Promise<void> => {
  let left: string[] = [];
  const isSo = async (): Promise<boolean> => {
    left = (await namesFiring()).filter((name) => names.includes(name));
    return left.length === 0;
  };
  await until('alerts to be over', isSo, WITHIN_MS).catch(() => expect(left).toEqual([]));
};
const asOwner = async (sql: string): Promise<void> => postgres.database.asOwner(sql);

test('while all is well, only credentials that have ended and a ledger that is not verified yet are alerts', async () => {
  await until('both processes to be read', async () => (await prometheus.query('sum(up)')) === 2, WITHIN_MS);
  // A busy machine makes one of them not ready for a moment.
  let firing: string[] = [];
  const isAtRest = async (): Promise<boolean> => {
    firing = await namesFiring();
    return firing.join() === AT_REST.join();
  };
  await until('the alerts at rest', isAtRest, WITHIN_MS).catch(() => expect(firing).toEqual(AT_REST));
  const ended = (await prometheus.firing()).find(({ labels }) => labels['alertname'] === 'CredentialsEnd');
  expect(ended?.labels).toMatchObject({ what: 'AWASH_CREDENTIALS_EXPIRE_ON', severity: 'page' });
  expect(ended?.annotations['description']).toMatch(/^AWASH_CREDENTIALS_EXPIRE_ON ends in -\d+d /);
}, 400_000);

test('without a worker, the work that waits is an alert, until a worker has done it', async () => {
  await worker.kill();
  await fire('WorkerDown', 'ProcessDown');

  const { db } = postgres.database;
  const fixture = buildFixture(db, { clock: () => new Date() });
  const scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 100_00n);
  const { id } = await withdraw(fixture, scope, 20_00n);
  const sql = `UPDATE payout SET approvals_needed = 0, stage = 'CREATED', requested_at = now() - interval '1 hour' WHERE id = :id`;
  await rows(db, sql, { id });
  const ids = { eventId: newId('evt'), subscriptionId: newId('whs'), deliveryId: newId('whd') };
  await rows(
    db,
    `WITH event AS (
       INSERT INTO webhook_event (id, merchant_id, environment, event, api_version, resource_type, resource_id, payload)
       VALUES (:eventId, :merchantId, :environment, 'payment.succeeded', '1', 'transaction', 'txn_1', '{"data":{}}')
     ), subscription AS (
       INSERT INTO webhook_subscription (id, merchant_id, environment, url, event_types, secret, secret_hint)
       VALUES (:subscriptionId, :merchantId, :environment, 'https://hooks.example.com', '{*}', '', '')
     )
     INSERT INTO webhook_delivery (id, event_id, subscription_id, merchant_id, environment, event, status, next_attempt_at)
     VALUES (:deliveryId, :eventId, :subscriptionId, :merchantId, :environment, 'payment.succeeded', 'PENDING', now() - interval '1 hour')`,
    { ...scope, ...ids },
  );
  await asOwner(`UPDATE outbox SET created_at = now() - interval '2 minutes'`);
  await fire('DeliveriesLate', 'DeliveriesVeryLate', 'OutboxStuck', 'WithdrawalsUnsent');

  worker = await startProgram('worker', settings);
  await readAll();
  // The delivery fails, since its secret cannot be decrypted; its retry is due later.
  await areOver(
    'WorkerDown',
    'ProcessDown',
    'DeliveriesLate',
    'DeliveriesVeryLate',
    'OutboxStuck',
    'WithdrawalsUnsent',
  );
}, 400_000);

test('a Temporal that is away is an alert, until it is back', async () => {
  await temporal.stop();
  await fire('TemporalUnreachable');
  await temporal.start();
  await areOver('TemporalUnreachable');
}, 400_000);

test('a workflow whose tasks fail is an alert', async () => {
  const connection = await Connection.connect({ address: temporal.address });
  await new Client({ connection }).workflow.start('unknown', { workflowId: newId('evt'), taskQueue: 'payments' });
  await connection.close();
  await fire('WorkflowTasksFail');
  const [failing] = (await prometheus.firing()).filter(({ labels }) => labels['alertname'] === 'WorkflowTasksFail');
  expect(failing?.annotations['description']).toContain('the workflow unknown fail');
}, 400_000);

test('mails that the server does not take are an alert', async () => {
  const { db } = postgres.database;
  const keyRing = { currentId: 'test', keys: new Map([['test', Buffer.alloc(32, 7)]]) };
  const mail = { recipient: 'hana@people.example', subject: 'Hello', text: 'Hello' };
  await db.transaction((trx) => enqueueMail(trx, keyRing, mail));
  await asOwner(`UPDATE mail SET created_at = now() - interval '20 minutes'`);
  await fire('MailsUnsent');
}, 400_000);

test('a balance that is not the sum of its entries is an alert after the next verification, until one finds nothing', async () => {
  const { db, url: databaseUrl, superuserUrl } = postgres.database;
  const log = createLogger('silent', 'test');
  const registry = createRegistry('worker');
  let now = Date.now();
  const verify = createIntegrityMonitor(
    { db, databaseUrl, checks: ledgerChecks, clock: () => new Date(now), log, registry },
    0,
  );
  const metrics = await listenForMetrics(registry, { host: '127.0.0.1', port: await anyFreePort(), log });
  await readAll(metrics.url ?? '');
  const change = async (santim: number) =>
    runSql(
      superuserUrl,
      `SET session_replication_role = replica; UPDATE ledger_balance SET available_santim = available_santim + ${santim}`,
    );
  const verifyOnce = async () =>
    until(
      'a verification',
      async () =>
        verify(new AbortController().signal).then(
          () => true,
          () => false,
        ),
      WITHIN_MS,
    );
  await change(1);
  await verifyOnce();
  await fire('LedgerBroken');
  await areOver('LedgerUnverified');
  await change(-1);
  now += 1_000;
  await verifyOnce();
  await areOver('LedgerBroken');
  await readAll();
  await metrics.close();
}, 400_000);

test('a database that is away is an alert, and so are the requests that fail, until it is back', async () => {
  const { db } = postgres.database;
  const scope = await buildMerchant(db);
  const { API_KEY_PEPPER: pepper } = readConfig(settings);
  const { secret: key } = await db.transaction((trx) =>
    createKey({ trx, pepper, clock: () => new Date() }, { ...scope, kind: 'secret' }),
  );
  const request = async () => fetch(`${apiUrl}/api/checkout/channels`, { headers: { 'x-api-key': key } });
  expect((await request()).status).toBe(200);
  await postgres.kill();
  let isAway = true;
  const requests = (async () => {
    while (isAway) await request();
  })();
  await fire('ApiNotReady', 'RequestsFail').finally(() => (isAway = false));
  await requests;
  await postgres.start();
  await areOver('ApiNotReady');
}, 400_000);

test('an API that is away is an alert', async () => {
  await api.kill();
  await fire('ApiDown');
}, 400_000);
