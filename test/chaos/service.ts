import { resolve } from 'node:path';

import { createKey } from '../../src/access/api-keys.ts';
import { startApi, type RunningApi } from '../../src/app/api.ts';
import { readConfig } from '../../src/config.ts';
import { createLogger } from '../../src/lib/log.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { readRunning, RETRY_DELAYS_SECONDS, type Evidence } from '../invariants/evidence.ts';
import type { TestDatabase } from '../support/database.ts';
import { createMerchantClient, type MerchantClient } from '../support/merchant-client.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

/** A merchant of these tests: its receiver, its subscription to all events, its client that repeats requests. */
export type ChaosMerchant = {
  scope: MerchantScope;
  receiver: Receiver;
  subscriptionId: string;
  client: MerchantClient;
};

/** One database, the simulator and merchants; each test starts the API and the worker. */
export type ChaosService = {
  fixture: WorkerFixture;
  simulator: TestSimulator;
  /** The API's URL, also while it is stopped. */
  url: string;
  /** The settings of API and worker processes. */
  settings: Record<string, string>;
  newMerchant: (client?: { loseEvery?: number; giveUpMs?: number }) => Promise<ChaosMerchant>;
  /** Starts the API in this process. */
  startApi: () => Promise<RunningApi>;
  /** The current evidence for the invariants. */
  gather: (more?: Partial<Evidence>) => Promise<Evidence>;
  close: () => Promise<void>;
};

/** Sandbox phones, by the outcome of a payment. */
export const PHONES = {
  approved: '0911000001',
  declined: '0911000002',
  silent: '0911000004',
  slow: '0911000005',
} as const;

export async function startChaosService(
  settings: Record<string, string> = {},
  ownDatabase?: TestDatabase,
): Promise<ChaosService> {
  const simulator = await startTestSimulator();
  const [apiPort, metricsPort, consolePort] = [await anyFreePort(), await anyFreePort(), await anyFreePort()];
  const url = `http://127.0.0.1:${apiPort}`;
  const own = {
    SIMULATOR_URL: simulator.url,
    PUBLIC_BASE_URL: url,
    API_PORT: String(apiPort),
    METRICS_PORT: String(metricsPort),
    CONSOLE_PORT: String(consolePort),
    RATE_LIMIT_SANDBOX_PER_SECOND: '0',
    ...settings,
  };
  const fixture = await createWorkerFixture(own, ownDatabase);
  const all = {
    ...own,
    DATABASE_URL: fixture.database.url,
    TEMPORAL_ADDRESS: fixture.config.TEMPORAL_ADDRESS,
    TASK_QUEUE_PREFIX: fixture.config.TASK_QUEUE_PREFIX,
  };
  const merchants: ChaosMerchant[] = [];
  return {
    fixture,
    simulator,
    url,
    settings: all,
    newMerchant: async (client) => {
      const merchant = await newMerchant(fixture, { url, ...client });
      merchants.push(merchant);
      return merchant;
    },
    startApi: async () =>
      startApi(readConfig(all), {
        log: createLogger('silent', 'test'),
        project: resolve(import.meta.dirname, '../..'),
        version: 'test',
      }),
    gather: async (more = {}) => {
      const { orders } = await simulator.journal();
      return {
        db: fixture.db,
        now: new Date(),
        clients: merchants.map(({ client }) => client),
        receivers: merchants.map(({ receiver, scope }) => ({ url: receiver.url, requests: receiver.requests, scope })),
        orders,
        running: await readRunning(fixture.temporal.client, fixture.config.TASK_QUEUE_PREFIX),
        retryDelaysSeconds: RETRY_DELAYS_SECONDS,
        duplicatesMax: 0,
        ...more,
      };
    },
    close: async () => {
      await fixture.close();
      await Promise.all([simulator.close(), ...merchants.map(({ receiver }) => receiver.close())]);
    },
  };
}

async function newMerchant(
  fixture: WorkerFixture,
  client: { url: string; loseEvery?: number; giveUpMs?: number },
): Promise<ChaosMerchant> {
  const scope = await fixture.newMerchant();
  const receiver = await startReceiver();
  const { id: subscriptionId } = await fixture.subscribe(scope, { url: receiver.url });
  const { API_KEY_PEPPER: pepper } = fixture.config;
  const { secret: key } = await fixture.db.transaction((trx) =>
    createKey({ trx, pepper, clock: () => new Date() }, { ...scope, kind: 'secret' }),
  );
  return { scope, receiver, subscriptionId, client: createMerchantClient({ ...client, key, scope }) };
}

/** Creates a session and pays it. */
export async function buy(
  client: MerchantClient,
  order: { orderNo: string; phone: string; expiresInMinutes?: number },
) {
  const { orderNo, phone, ...more } = order;
  const session = await client.post('sessions', { checkoutOrderNo: orderNo, amount: 20, currency: 'ETB', ...more });
  const sessionId = String(session['sessionId']);
  const payment = await client.post(`sessions/${sessionId}/pay`, { channel: 'TELEBIRR', phone });
  return { sessionId, transactionId: String(session['transactionId']), attemptId: String(payment['attemptId']) };
}

/** A payment's next poll may be a minute away. */
const QUIET_WITHIN_MS = 75_000;

/** Waits until no delivery and no payment is open. */
export async function untilQuiet({ fixture }: ChaosService): Promise<void> {
  const hasEnded = async (): Promise<boolean> => {
    const deliveries = await fixture.db.knex()('webhookDelivery').whereIn('status', ['PENDING', 'RETRYING']);
    const payments = await fixture.db.knex()('paymentAttempt').whereIn('status', ['CREATED', 'PENDING']);
    return deliveries.length + payments.length === 0;
  };
  await until('deliveries and payments to end', hasEnded, QUIET_WITHIN_MS);
}
