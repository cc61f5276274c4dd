import { setTimeout as sleep } from 'node:timers/promises';

import { readConfig } from '../../src/config.ts';
import { createKey } from '../../src/keys/operations.ts';
import { openDatabase, rows, type Knex } from '../../src/lib/db.ts';
import { anyFreePort } from '../../src/local/ports.ts';
import { createMerchant } from '../../src/merchants/operations.ts';
import { processorMs } from './cpu.ts';
import { asOwner, type Ground, type Running } from './ground.ts';
import { startReceiver, type Receiver } from './receiver.ts';

/** Processor time by whose it is: our processes (or the twin's), Temporal's server with its SQLite, PostgreSQL's. */
export type Cpu = { ours: number; temporal: number; postgres: number };

/** What is measured: the API of ours, its twin, one merchant with a history, and a receiver. */
export type World = {
  ground: Ground;
  db: Knex;
  merchantId: string;
  receiver: Receiver;
  api: Running & { origin: string; key: string };
  twin: Running & { origin: string };
  /** Starts a worker; resolves when its workflows are served. */
  startWorker: (settings: Record<string, string>) => Promise<Running>;
  /** The work's processor time, by whose it is, in ms; `processes` are those that count as ours. */
  measure: (processes: readonly Running[], work: () => Promise<unknown>) => Promise<Cpu>;
  close: () => Promise<void>;
};

export const TRANSACTIONS = 5_000;

const NO_LIMITS = {
  RATE_LIMIT_SANDBOX_PER_SECOND: '0',
  RATE_LIMIT_LIVE_PER_SECOND: '0',
  RATE_LIMIT_LISTS_PER_SECOND: '0',
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0',
};

export async function createWorld(ground: Ground): Promise<World> {
  const { databaseUrl, temporal } = ground;
  const settings = { ...NO_LIMITS, DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporal.address };
  const db = openDatabase({ url: databaseUrl, poolMax: 2, applicationName: 'bench' });
  const receiver = await startReceiver();
  const { merchantId, key } = await seed(ground, db);
  const [apiPort, metricsPort, twinPort] = [await anyFreePort(), await anyFreePort(), await anyFreePort()];
  const origin = `http://127.0.0.1:${apiPort}`;
  const ports = { API_PORT: String(apiPort), METRICS_PORT: String(metricsPort), BASE_URL: origin };
  const api = await ground.run(
    { name: 'api', file: 'src/cli.js', args: ['api'], settings: { ...settings, ...ports } },
    () => answers(`${origin}/readyz`),
  );
  const twinOrigin = `http://127.0.0.1:${twinPort}`;
  const days = 'startDate=2026-01-01&endDate=2026-01-01&currency=ETB&limit=1&page=1';
  const twin = await ground.run(
    {
      name: 'twin',
      file: 'test/bench/twin.js',
      args: [String(twinPort), databaseUrl, receiver.url, merchantId],
    },
    () => answers(`${twinOrigin}/?${days}`),
  );
  return {
    ground,
    db,
    merchantId,
    receiver,
    api: { ...api, origin, key },
    twin: { ...twin, origin: twinOrigin },
    startWorker: async (more) =>
      ground.run(
        {
          name: 'worker',
          file: 'src/cli.js',
          args: ['worker'],
          settings: { ...settings, METRICS_PORT: String(await anyFreePort()), ...more },
        },
        async (running) => (await running.output()).includes('the workflows are served'),
      ),
    measure: async (processes, work) => {
      const before = await read(ground, processes);
      await work();
      const after = await read(ground, processes);
      return {
        ours: after.ours - before.ours,
        temporal: after.temporal - before.temporal,
        postgres: after.postgres - before.postgres,
      };
    },
    close: async () => {
      await Promise.all([receiver.close(), db.destroy()]);
    },
  };
}

async function read({ temporal, postgres }: Ground, processes: readonly Running[]): Promise<Cpu> {
  const [ours, ofTemporal, ofPostgres] = await Promise.all([
    processorMs(processes.map(({ pid }) => pid)),
    processorMs([temporal.child.pid]),
    processorMs([postgres.child.pid]),
  ]);
  return { ours, temporal: ofTemporal, postgres: ofPostgres };
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => null);
  await response?.body?.cancel();
  return response?.ok ?? false;
}

/** A merchant with transactions over the last 30 days, a key, and the tables of the twin. */
async function seed(ground: Ground, db: Knex): Promise<{ merchantId: string; key: string }> {
  const { KEY_PEPPER: pepper } = readConfig({ DATABASE_URL: ground.databaseUrl, TEMPORAL_ADDRESS: '-' });
  const made = await db.transaction(async (trx) => {
    const merchant = await createMerchant(trx, { name: 'Abyssinia Coffee' });
    const owner = { merchantId: merchant.id, environment: 'sandbox' } as const;
    const { secret } = await createKey({ trx, pepper, clock: () => new Date() }, { ...owner, kind: 'secret' });
    await rows(trx, TRANSACTIONS_SQL, { merchantId: merchant.id, count: TRANSACTIONS });
    return { merchantId: merchant.id, key: secret };
  });
  await asOwner(
    ground.ownerUrl,
    `CREATE TABLE twin_event (id text PRIMARY KEY, event text NOT NULL, payload text NOT NULL, created_at timestamptz NOT NULL)`,
    `CREATE TABLE twin_delivery (event_id text PRIMARY KEY REFERENCES twin_event, status text NOT NULL, http_status integer,
       created_at timestamptz NOT NULL, delivered_at timestamptz)`,
    'GRANT SELECT, INSERT, UPDATE ON twin_event, twin_delivery TO meskot_app',
    'VACUUM ANALYZE transaction',
  );
  return made;
}

const TRANSACTIONS_SQL = `
  INSERT INTO transaction (id, session_id, merchant_id, environment, checkout_order_no, amount_santim, currency, type,
    status, channel, provider_reference, failure, customer_name, customer_email, customer_phone, metadata, created_at, completed_at)
  SELECT 'txn_' || lpad(upper(to_hex(n)), 26, '0'), 'cs_' || lpad(upper(to_hex(n)), 26, '0'), :merchantId, 'sandbox',
    'ORDER-' || n, 1000 + n * 7, 'ETB', CASE WHEN n % 5 = 0 THEN 'QRCODE' ELSE 'API' END,
    CASE WHEN n % 7 > 0 THEN 'SUCCESS' ELSE 'FAILED' END, CASE n % 3 WHEN 0 THEN 'TELEBIRR' WHEN 1 THEN 'AWASH' ELSE 'CBE_BIRR' END,
    'REF' || n,
    CASE WHEN n % 7 = 0 THEN jsonb_build_object('code', 'DECLINED', 'message', 'The customer said no.',
      'providerCode', 'PAY_FAILED', 'retryable', false) END,
    'Abebe Kebede', 'abebe' || n || '@example.com', '09110' || lpad(CAST(n AS text), 5, '0'),
    CASE WHEN n % 2 = 0 THEN jsonb_build_object('item', 'Macchiato', 'quantity', '2') END,
    now() - n * interval '8 minutes', CASE WHEN n % 7 > 0 THEN now() - n * interval '8 minutes' + interval '40 seconds' END
  FROM generate_series(1, CAST(:count AS integer)) AS n`;

/** Waits until the database says yes, asked every 50 ms. */
export async function untilTrue(db: Knex, question: string, withinMs: number): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const [answer] = await rows<{ yes: boolean }>(db, `SELECT (${question}) AS yes`);
    if (answer?.yes) return;
    if (Date.now() > deadlineMs) throw new Error(`not true within ${withinMs / 1000} s: ${question}`);
    await sleep(50);
  }
}
