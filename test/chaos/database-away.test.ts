import pg from 'pg';

import type { RunningApi } from '../../src/app/api.ts';
import { expectInvariants } from '../invariants/check.ts';
import { runSql } from '../support/database.ts';
import { createOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts';
import { until } from '../support/worker.ts';
import { buy, createGround, PHONES, untilQuiet, type Ground, type GroundMerchant } from './ground.ts';

const POOL = 5;
const CUSTOMERS = 6;
/** What is promised, and what a busy machine adds. */
const ANSWERED_WITHIN_MS = 2_000 + 1_000;

let postgres: OwnPostgres;
let ground: Ground;
let merchant: GroundMerchant;
let api: RunningApi;

beforeAll(async () => {
  postgres = await createOwnPostgres();
  ground = await createGround({ TASK_QUEUES: 'payments,webhooks', DATABASE_POOL_MAX: String(POOL) }, postgres.database);
  merchant = await ground.newMerchant({ loseEvery: 5 });
  api = await ground.startApi();
  await ground.world.startWorker().ready;
});
afterAll(async () => {
  postgres.thaw();
  await api.stop();
  await ground.close();
  await postgres.close();
});

/** Buys and asks for test events until it is told to stop. */
function startShopping(name: string): { bought: () => number; stop: () => Promise<void> } {
  const { client, subscriptionId } = merchant;
  let [bought, stopping] = [0, false];
  const customers = Array.from({ length: CUSTOMERS }, async (_, customer) => {
    for (let nth = 0; !stopping; nth += 1) {
      await buy(client, { orderNo: `${name}-${customer}-${nth}`, phone: PHONES.approved });
      await client.post(`webhooks/subscriptions/${subscriptionId}/test`);
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

async function ask(path: string): Promise<{ status: number; code: string | undefined; tookMs: number }> {
  const since = performance.now();
  const response = await fetch(`${ground.url}${path}`, {
    method: path.includes('/test') ? 'POST' : 'GET',
    headers: { 'x-api-key': merchant.client.key, 'content-type': 'application/json' },
    ...(path.includes('/test') && { body: '{}' }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: error?.code, tookMs: performance.now() - since };
}

/** A read and a write are refused in time, more of them at once than the pool has connections; /livez stays green. */
async function expectRefusals(): Promise<void> {
  const test = `/api/checkout/webhooks/subscriptions/${merchant.subscriptionId}/test`;
  const paths = Array.from({ length: 10 }, (_, nth) => (nth % 2 === 0 ? '/api/checkout/webhooks/events' : test));
  const [live, ready, ...answers] = await Promise.all([ask('/livez'), ask('/readyz'), ...paths.map(ask)]);
  expect(live.status).toBe(200);
  for (const { status, code, tookMs } of [ready, ...answers]) {
    expect({ status, code }).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS);
  }
}

test('a PostgreSQL killed in a burst is answered for with 503, and everything goes on when it is back', async () => {
  const shopping = startShopping('KILLED');
  await until('the burst to be under way', async () => shopping.bought() >= CUSTOMERS);
  await postgres.kill();
  await expectRefusals().finally(postgres.start);
  const target = shopping.bought() + CUSTOMERS;
  await until('the burst to go on', async () => shopping.bought() >= target);
  await shopping.stop();
  await untilQuiet(ground);
  // What was sent is saved before anything is sent again.
  await expectInvariants(async () => ground.gather({ duplicatesMax: 0 }));
}, 120_000);

test('connections that are cut ten times under load cause no duplicate', async () => {
  const shopping = startShopping('CUT');
  for (let cut = 0; cut < 10; cut += 1) {
    const target = shopping.bought() + 2;
    await until('the burst to go on', async () => shopping.bought() >= target);
    await runSql(
      postgres.database.superuserUrl,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'meskot_app' AND pid <> pg_backend_pid()`,
    );
  }
  await shopping.stop();
  await untilQuiet(ground);
  await expectInvariants(async () => ground.gather({ duplicatesMax: 0 }));
}, 120_000);

test('a frozen database is answered for with 503 in time, and everything goes on when it thaws', async () => {
  // Connections that are open and idle: whoever takes one waits for an answer that does not come.
  await Promise.all(Array.from({ length: POOL }, async () => ask('/api/checkout/webhooks/events')));
  await postgres.freeze();
  await expectRefusals().finally(postgres.thaw);
  const shopping = startShopping('FROZEN');
  const target = shopping.bought() + CUSTOMERS;
  await until('the burst to go on', async () => shopping.bought() >= target);
  await shopping.stop();
  await untilQuiet(ground);
  await expectInvariants(async () => ground.gather({ duplicatesMax: 0 }));
}, 120_000);

test('a table that somebody has locked is answered for with 503 in time', async () => {
  const scope = new pg.Client({ connectionString: postgres.database.ownerUrl });
  await scope.connect();
  await scope.query('BEGIN; LOCK TABLE webhook_event IN ACCESS EXCLUSIVE MODE');
  try {
    const { status, code, tookMs } = await ask('/api/checkout/webhooks/events');
    expect({ status, code }).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS);
  } finally {
    await scope.end();
  }
  expect((await ask('/api/checkout/webhooks/events')).status).toBe(200);
});
