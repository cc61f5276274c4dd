import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import type { Finding } from '../../src/app/doctor/check.ts';
import { doctor } from '../../src/app/doctor/doctor.ts';
import { openDatabase, rows } from '../../src/lib/db.ts';
import { migrate } from '../../src/lib/migrate.ts';
import { buy, PHONES, startChaosService, untilQuiet } from '../chaos/service.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { meskot } from '../support/program.ts';
import { until } from '../support/until.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const directory = resolve(PROJECT, 'migrations');
const REFUSED = /pooler that gives each transaction another session .* pool_mode = session/;

let database: TestDatabase;
let pooler: PgBouncer;
const children: ChildProcess[] = [];

async function startPooler(settings: Record<string, string>): Promise<void> {
  database = await createTestDatabase();
  pooler = await startPgBouncer([database.url, database.ownerUrl], settings);
}
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await pooler.close();
  await database.drop();
});

/** Settings of a process, whose Temporal is away. */
const settings = () => ({ DATABASE_URL: pooler.through(database.url), TEMPORAL_ADDRESS: '127.0.0.1:1' });

/** The doctor's line about the database. */
async function examine(): Promise<Finding | undefined> {
  let printed = '';
  const terminal = { write: (part: string | Uint8Array) => void (printed += part.toString()), note: () => {} };
  await doctor({ env: settings(), project: PROJECT, terminal }, { json: true });
  return (JSON.parse(printed) as Finding[]).find(({ name }) => name === 'database');
}

test('through PgBouncer in session mode a payment is made, its webhook arrives, and the time limits hold', async () => {
  await startPooler({ pool_mode: 'session', default_pool_size: '40' });
  const db = openDatabase({ url: pooler.through(database.url), poolMax: 5, applicationName: 'test' });
  expect(await rows(db, 'SHOW statement_timeout')).toEqual([{ statementTimeout: '5s' }]);
  await expect(migrate({ url: pooler.through(database.ownerUrl), directory })).resolves.toMatchObject({ applied: [] });
  expect(await examine()).toMatchObject({ status: 'ok' });

  await database.db.destroy();
  const drop = async (): Promise<void> => {
    await db.destroy();
    await database.drop();
  };
  const own = { ...database, url: pooler.through(database.url), db, drop };
  const service = await startChaosService({ TASK_QUEUES: 'payments,webhooks', DATABASE_POOL_MAX: '5' }, own);
  const merchant = await service.newMerchant();
  const api = await service.startApi();
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  await service.fixture.startWorker().ready;
  const { transactionId } = await buy(merchant.client, { orderNo: 'POOLED-1', phone: PHONES.approved });
  await until('the webhook', async () =>
    merchant.receiver.requests.some(({ body }) => {
      const { event, data } = JSON.parse(body.toString()) as { event: string; data: { transactionId?: string } };
      return event === 'payment.succeeded' && data.transactionId === transactionId;
    }),
  );
  await untilQuiet(service);
  await api.stop();
  await service.close();
}, 120_000);

test('a pooler in session mode that has no second connection to give is not taken for one without sessions', async () => {
  await startPooler({ pool_mode: 'session', default_pool_size: '1' });
  const db = openDatabase({ url: pooler.through(database.url), poolMax: 1, applicationName: 'test' });
  expect(await rows(db, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await db.destroy();
});

test.each([
  ['transaction', {}],
  ['transaction', { server_round_robin: '1', min_pool_size: '3' }],
  ['statement', {}],
])(
  'in %s mode, with %j, PgBouncer is refused by every process with the reason',
  async (pool_mode, more) => {
    await startPooler({ pool_mode, ...more });
    await expect(migrate({ url: pooler.through(database.ownerUrl), directory })).rejects.toMatchObject({
      code: 'SHARED_SESSIONS',
    });
    const found = await examine();
    expect(`${found?.found} ${found?.next}`).toMatch(REFUSED);
    // A process that had started before the pooler did.
    const db = openDatabase({ url: pooler.through(database.url), poolMax: 1, applicationName: 'test' });
    await expect(rows(db, 'SELECT 1')).rejects.toMatchObject({ code: 'SHARED_SESSIONS' });
    await db.destroy();
    for (const command of ['api', 'worker']) {
      const env = { ...process.env, NODE_OPTIONS: '', ...settings() };
      const child = spawn(process.execPath, meskot(command), { env, stdio: ['ignore', 'ignore', 'pipe'] });
      children.push(child);
      const [said] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      expect({ command, said, exitCode: child.exitCode }).toMatchObject({
        exitCode: 1,
        said: expect.stringMatching(REFUSED),
      });
    }
  },
  120_000,
);
