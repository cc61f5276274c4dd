import pg from 'pg';

import type { RunningApi } from '../../src/app/api.ts';
import { expectInvariants } from '../invariants/check.ts';
import { runSql } from '../support/database.ts';
import { createOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts';
import { until } from '../support/until.ts';
import { buy, startChaosService, PHONES, untilQuiet, type ChaosService, type ChaosMerchant } from './service.ts';

const POOL = 5;
const CUSTOMERS = 6;
/** The promised limit, plus a margin for a busy machine. */
const RESPONSE_MS_MAX = 2_000 + 1_000;

let postgres: OwnPostgres;
let service: ChaosService;
let merchant: ChaosMerchant;
let api: RunningApi;

beforeAll(async () => {
  postgres = await createOwnPostgres();
  service = await startChaosService(
    { TASK_QUEUES: 'payments,webhooks', DATABASE_POOL_MAX: String(POOL) },
    postgres.database,
  );
  merchant = await service.newMerchant({ loseEvery: 5 });
  api = await service.startApi();
  await service.fixture.startWorker().ready;
});
afterAll(async () => {
  postgres.thaw();
  await api.stop();
  await service.close();
  await postgres.close();
});

/** Buys and sends test events until it is stopped. */
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

async function request(path: string): Promise<{ status: number; code: string | undefined; tookMs: number }> {
  const since = performance.now();
  const response = await fetch(`${service.url}${path}`, {
    method: path.includes('/test') ? 'POST' : 'GET',
    headers: { 'x-api-key': merchant.client.key, 'content-type': 'application/json' },
    ...(path.includes('/test') && { body: '{}' }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: error?.code, tookMs: performance.now() - since };
}

/** Reads and writes get a 503 within the limit, also when there are more than pool connections; /livez stays 200. */
async function expectUnavailable(): Promise<void> {
  const test = `/api/checkout/webhooks/subscriptions/${merchant.subscriptionId}/test`;
  const paths = Array.from({ length: 10 }, (_, nth) => (nth % 2 === 0 ? '/api/checkout/webhooks/events' : test));
  const [live, ready, ...responses] = await Promise.all([request('/livez'), request('/readyz'), ...paths.map(request)]);
  expect(live.status).toBe(200);
  for (const { status, code, tookMs } of [ready, ...responses]) {
    expect({ status, code }).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(tookMs).toBeLessThan(RESPONSE_MS_MAX);
  }
}

test('with PostgreSQL killed in a burst, requests get a 503, and all processing resumes after its restart', async () => {
  const shopping = startShopping('KILLED');
  await until('the start of the burst', async () => shopping.bought() >= CUSTOMERS);
  await postgres.kill();
  await expectUnavailable().finally(postgres.start);
  const target = shopping.bought() + CUSTOMERS;
  await until('the burst to continue', async () => shopping.bought() >= target);
  await shopping.stop();
  await untilQuiet(service);
  // Every sent attempt is recorded before the next one.
  await expectInvariants(async () => service.gather({ duplicatesMax: 0 }));
}, 120_000);

test('ten times of cut database connections under load cause no duplicate delivery', async () => {
  const shopping = startShopping('CUT');
  for (let cut = 0; cut < 10; cut += 1) {
    const target = shopping.bought() + 2;
    await until('the burst to continue', async () => shopping.bought() >= target);
    await runSql(
      postgres.database.superuserUrl,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'meskot_app' AND pid <> pg_backend_pid()`,
    );
  }
  await shopping.stop();
  await untilQuiet(service);
  await expectInvariants(async () => service.gather({ duplicatesMax: 0 }));
}, 120_000);

test('with PostgreSQL frozen, requests get a 503 within the limit, and all processing resumes after the thaw', async () => {
  // Opens idle connections: the next request takes one and gets no reply from it.
  await Promise.all(Array.from({ length: POOL }, async () => request('/api/checkout/webhooks/events')));
  await postgres.freeze();
  await expectUnavailable().finally(postgres.thaw);
  const shopping = startShopping('FROZEN');
  const target = shopping.bought() + CUSTOMERS;
  await until('the burst to continue', async () => shopping.bought() >= target);
  await shopping.stop();
  await untilQuiet(service);
  await expectInvariants(async () => service.gather({ duplicatesMax: 0 }));
}, 120_000);

test('a request for a locked table gets a 503 within the limit', async () => {
  const scope = new pg.Client({ connectionString: postgres.database.ownerUrl });
  await scope.connect();
  await scope.query('BEGIN; LOCK TABLE webhook_event IN ACCESS EXCLUSIVE MODE');
  try {
    const { status, code, tookMs } = await request('/api/checkout/webhooks/events');
    expect({ status, code }).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(tookMs).toBeLessThan(RESPONSE_MS_MAX);
  } finally {
    await scope.end();
  }
  expect((await request('/api/checkout/webhooks/events')).status).toBe(200);
});
