import pg from 'pg';

import type { RunningApi } from '../../src/app/api.ts';
import { closeFrozenConnections } from '../../src/lib/db-liveness.ts';
import { type Database, openDatabase, rows } from '../../src/lib/db.ts';
import { expectInvariants } from '../invariants/check.ts';
import { runSql } from '../support/database.ts';
import { createOwnPostgres, type OwnPostgres, type Successor } from '../support/own-postgres.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { buy, startChaosService, PHONES, untilQuiet, type ChaosService, type ChaosMerchant } from './service.ts';

const READ_PORT = 'SELECT CAST(current_setting(:name) AS int) AS port';
const PURCHASES = 3;

let postgres: OwnPostgres;
let oldPort: number;
let successor: Successor;
/** The name of the database. */
let name: TcpProxy;
let url: string;
let service: ChaosService;
let merchant: ChaosMerchant;
let api: RunningApi;

beforeAll(async () => {
  postgres = await createOwnPostgres();
  oldPort = Number(new URL(postgres.database.url).port);
  name = await startTcpProxy(oldPort);
  url = postgres.database.url.replace(`:${oldPort}/`, `:${name.port}/`);
  await postgres.database.db.destroy();
  const db = openDatabase({ url, poolMax: 10, applicationName: 'test' });
  const database = { ...postgres.database, url, db, drop: async () => db.destroy() };
  service = await startChaosService({ TASK_QUEUES: 'payments,webhooks', DATABASE_POOL_MAX: '5' }, database);
  // Two servers start meanwhile, on a machine that may be busy.
  merchant = await service.newMerchant({ giveUpMs: 120_000 });
  api = await service.startApi();
  await service.fixture.startWorker().ready;
});
afterAll(async () => {
  postgres.thaw();
  await api.stop();
  await service.close();
  await name.close();
  await successor.close();
  await postgres.close();
});

/** Buys until it is stopped; what gets a 503 is repeated. */
function startShopping(order: string): { bought: () => number; stop: () => Promise<void> } {
  let [bought, stopping] = [0, false];
  const customers = ['A', 'B', 'C'].map(async (customer) => {
    for (let nth = 0; !stopping; nth += 1) {
      await buy(merchant.client, { orderNo: `${order}-${customer}-${nth}`, phone: PHONES.approved });
      bought += 1;
    }
  });
  return {
    bought: () => bought,
    stop: async () => {
      stopping = true;
      await Promise.all(customers);
    },
  };
}

async function untilBought(shopping: { bought: () => number }): Promise<void> {
  const target = shopping.bought() + PURCHASES;
  await until('more purchases', async () => shopping.bought() >= target);
}

async function expectReadOnly(reason: string): Promise<void> {
  const read = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${service.url}${path}`, {
      ...init,
      headers: { 'x-api-key': merchant.client.key, 'content-type': 'application/json' },
    });
    return { status: response.status, message: ((await response.json()) as { message: string }).message };
  };
  expect(await read('/readyz')).toEqual({ status: 503, message: `The database is read-only: ${reason}` });
  const body = JSON.stringify({ checkoutOrderNo: `READ-ONLY-${reason.length}`, amount: 20, currency: 'ETB' });
  expect(await read('/api/checkout/sessions', { method: 'POST', body })).toMatchObject({ status: 503 });
}

/** Of the application. */
async function countConnections(server: string): Promise<number> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  const sql = "SELECT 1 FROM pg_stat_activity WHERE usename = 'meskot_app'";
  return client
    .query(sql)
    .then(({ rows: found }) => found.length)
    .finally(() => client.end());
}

test('after a failover whose old server returns as a standby, nothing is read from it, and no payment or webhook is lost', async () => {
  const shopping = startShopping('FAILOVER');
  await untilBought(shopping);
  await postgres.kill();
  successor = await postgres.startSuccessor();
  await postgres.demote();
  await postgres.start();
  // The name still leads to the old server.
  await until('the service to find the standby', async () => (await fetch(`${service.url}/readyz`)).status === 503);
  await expectReadOnly('the server is a standby, or still recovers.');
  name.leadTo(successor.port);
  await untilBought(shopping);
  await shopping.stop();
  await untilQuiet(service);
  await expectInvariants(async () => service.gather({ duplicatesMax: 0 }));
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  expect(await countConnections(postgres.database.superuserUrl)).toBe(0);
}, 120_000);

test('a server that becomes read-only while it runs is a 503 until it takes writes again, and nothing is lost', async () => {
  const shopping = startShopping('READ-ONLY');
  await untilBought(shopping);
  const setReadOnly = async (value: string): Promise<void> => {
    await runSql(successor.superuserUrl, `ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await runSql(successor.superuserUrl, 'SELECT pg_reload_conf()');
  };
  await setReadOnly('on');
  await until('the service to notice', async () => (await fetch(`${service.url}/readyz`)).status === 503);
  await expectReadOnly('default_transaction_read_only is on.');
  await setReadOnly('off');
  await untilBought(shopping);
  await shopping.stop();
  await untilQuiet(service);
  await expectInvariants(async () => service.gather({ duplicatesMax: 0 }));
}, 120_000);

const portsOf = async (db: Database, count: number): Promise<number[]> => {
  const statements = Array.from({ length: count }, async () => rows<{ port: number }>(db, READ_PORT, { name: 'port' }));
  return (await Promise.all(statements)).flat().map(({ port }) => port);
};

test('one connection to a new server is enough: those to the old one, which runs on and takes writes, are not used again', async () => {
  await runSql(postgres.database.superuserUrl, 'SELECT pg_promote()');
  name.leadTo(oldPort);
  const db = openDatabase({ url, poolMax: 3, applicationName: 'test' });
  expect(await portsOf(db, 2)).toEqual([oldPort, oldPort]);
  name.leadTo(successor.port);
  // A third connection.
  await portsOf(db, 3);
  expect(await portsOf(db, 3)).toEqual([successor.port, successor.port, successor.port]);
  await db.destroy();
}, 60_000);

test('a statement on a server that is silent after a failover fails as soon as without another server', async () => {
  name.leadTo(oldPort);
  const db = openDatabase({ url, poolMax: 1, applicationName: 'test' });
  closeFrozenConnections(db, url);
  expect(await portsOf(db, 1)).toEqual([oldPort]);
  await postgres.freeze();
  name.leadTo(successor.port);
  // Not after its own timeout of six seconds: "Query read timeout".
  await expect(portsOf(db, 1)).rejects.toThrow('Connection terminated');
  expect(await portsOf(db, 1)).toEqual([successor.port]);
  await db.destroy();
  postgres.thaw();
}, 60_000);
