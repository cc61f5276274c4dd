import { join } from 'node:path';

import type Router from '@koa/router';
import { Connection } from '@temporalio/client';

import { createKeyAuthenticator } from '../access/authenticate.ts';
import { invitationRoute } from '../access/key-routes.ts';
import { workflowUrl, type Config } from '../config.ts';
import { findFullDisk } from '../http/health.ts';
import { createLimits, type Limits, type LimitSettings } from '../http/limits.ts';
import {
  cachedFor,
  createRegistry,
  listenForMetrics,
  measureClockSkew,
  measureFigures,
  measurePool,
  type Registry,
} from '../http/metrics.ts';
import type { Route } from '../http/route.ts';
import { createApiServer } from '../http/server.ts';
import { balanceRoutes } from '../ledger/routes.ts';
import type { Clock } from '../lib/clock.ts';
import { createDatabaseClock } from '../lib/database-clock.ts';
import { closeFrozenConnections } from '../lib/db-liveness.ts';
import { type Database, openDatabase } from '../lib/db.ts';
import { createHttpClient } from '../lib/http-client.ts';
import { createKeyedQueue } from '../lib/keyed-queue.ts';
import type { Logger } from '../lib/log.ts';
import { pendingMigrations } from '../lib/migrate.ts';
import { withTimeout } from '../lib/timeout.ts';
import { channelRoutes } from '../merchants/channels/routes.ts';
import { kycRoutes } from '../merchants/kyc/routes.ts';
import { createDocumentStore } from '../merchants/kyc/store.ts';
import { createNotifier } from '../outbox/listener.ts';
import { createTransactionRunner, type RunInTransaction } from '../outbox/record.ts';
import { findAttemptBySecret } from '../payments/attempt.ts';
import { createCheckoutPages } from '../payments/checkout-page/routes.ts';
import { createTokenAuthenticator, type TokenAuthenticator } from '../payments/client-token.ts';
import { createCloseUnpaid } from '../payments/close-unpaid.ts';
import { isConclusive } from '../payments/recheck-callbacks.ts';
import { checkoutRoutes } from '../payments/session-routes.ts';
import { MIN_QUERY_INTERVAL_MS, createSyncAttempt } from '../payments/sync.ts';
import { transactionRoutes } from '../payments/transaction-routes.ts';
import { createCallbackRouter, storeCallback } from '../providers/callbacks.ts';
import { createFindProvider } from '../providers/find-provider.ts';
import type { FindProvider } from '../providers/provider.ts';
import { createReportFiles } from '../reports/files.ts';
import { reportRoutes } from '../reports/routes.ts';
import { bankAccountRoutes } from '../settlements/bank-account/routes.ts';
import { calendarRoutes } from '../settlements/calendar/routes.ts';
import { settlementRoutes } from '../settlements/routes.ts';
import { createTemporalGateway, temporalOptions } from '../temporal/client.ts';
import { temporalConnection } from '../temporal/connection.ts';
import { measureLateDeliveries } from '../webhooks/delivery/metrics.ts';
import { findResourceDeliveries } from '../webhooks/delivery/queries.ts';
import { deliveryRoutes } from '../webhooks/delivery/routes.ts';
import { createEgressGuard } from '../webhooks/egress/egress.ts';
import { eventRoutes } from '../webhooks/events/routes.ts';
import { subscriptionRoutes } from '../webhooks/subscriptions/routes.ts';
import { measureUnsentWithdrawals } from '../withdrawals/monitoring.ts';
import { findWithdrawalBySecret } from '../withdrawals/queries.ts';
import { withdrawalRoutes } from '../withdrawals/routes.ts';
import { createCheckPayout, isPayoutConclusive } from '../withdrawals/sync.ts';
import { readEventCatalogue } from './event-catalogue.ts';
import { operatorRoutesOf } from './operator-routes.ts';

export type RunningApi = { url: string; metricsUrl: string | null; stop: () => Promise<void> };

export type ApiOptions = {
  log: Logger;
  /** The folder of package.json. */
  project: string;
  version: string;
  /** The registry of this process, if it exposes more than the API's metrics. */
  registry?: Registry;
  /** Temporal's metrics, where a worker runs in this process. */
  readMoreMetrics?: () => Promise<string>;
};

const REACHABLE_CACHED_MS = 3_000;
const CLOCK_WITHIN_MS = 2_000;
/** Limits of money operations: a few seconds of work per merchant. Together they use half of the connections at most. */
const QUEUE_LIMITS = { pendingMax: { ofOne: 300, ofAll: 3_000 }, waitMsMax: 20_000 };

/** The HTTP process: the API, the checkout page and the providers' callbacks. It never sends to merchants. */
export async function startApi(config: Config, options: ApiOptions): Promise<RunningApi> {
  const { log } = options;
  const registry = options.registry ?? createRegistry('api');
  const db = openDatabase({
    url: config.DATABASE_URL,
    poolMax: config.DATABASE_POOL_MAX,
    applicationName: 'meskot-api',
  });
  measurePool(registry, db, 'api');
  closeFrozenConnections(db, config.DATABASE_URL);
  const databaseClock = createDatabaseClock(db, { log });
  const clock = databaseClock.now;
  measureClockSkew(registry, databaseClock.skewSeconds);
  const connection = Connection.lazy(temporalConnection(config));
  const { ping } = createTemporalGateway({ ...temporalOptions(config), connection });
  measureForWorkers(registry, db, ping);
  const notifier = createNotifier(db);
  const runInTransaction = createTransactionRunner(db, notifier.dispatch);
  const http = createHttpClient();
  const findProvider = createFindProvider({ http, clock, ...config.simulator });
  const limits = createLimits(limitsOf(config));
  const keys = createKeyAuthenticator({ db, peppers: config.peppers, clock, log });
  const tokens = createTokenAuthenticator({ db, clock, peppers: config.peppers });
  const docsFolder = join(options.project, 'docs');
  const server = createApiServer({
    ...routesOf(config, { db, runInTransaction, findProvider, clock, log, limits, tokens, docsFolder }),
    ...keys,
    ...tokens,
    db,
    runInTransaction,
    countPendingMigrations: async () => (await pendingMigrations(db, join(options.project, 'migrations'))).length,
    findFullDisk: async () => findFullDisk(config.disks),
    keyRing: config.keyRing,
    limits,
    queue: createKeyedQueue({ ...QUEUE_LIMITS, runningMax: Math.ceil(config.DATABASE_POOL_MAX / 2) }),
    trustProxy: config.TRUSTED_PROXY_COUNT,
    baseUrl: config.PUBLIC_BASE_URL,
    version: options.version,
    docsFolder,
    log,
    clock,
    registry,
  });
  // Without a database nothing falls due either, so the port opens without it.
  await withTimeout(databaseClock.known, CLOCK_WITHIN_MS);
  const listening = await server.listen(config.API_PORT, config.LISTEN_HOST);
  const metrics = await listenForMetrics(registry, {
    host: config.LISTEN_HOST,
    port: config.METRICS_PORT,
    log,
    ...(options.readMoreMetrics && { readMore: options.readMoreMetrics }),
  });
  return {
    url: listening.url,
    metricsUrl: metrics.url,
    stop: async () => {
      await listening.close({ delayMs: config.shutdownDelayMs });
      databaseClock.stop();
      await metrics.close();
      await notifier.stop();
      await keys.flush();
      await Promise.all([http.close(), db.destroy(), connection.close()]);
    },
  };
}

/** Metrics about missing workers or an unreachable Temporal: the process that runs exposes them. */
function measureForWorkers(registry: Registry, db: Database, isTemporalReachable: () => Promise<boolean>): void {
  measureLateDeliveries(registry, db);
  measureUnsentWithdrawals(registry, db);
  const reachable = { name: 'meskot_temporal_reachable', help: 'Whether Temporal responds within a second: 1 or 0' };
  const measure = async () => ({ reachable: (await isTemporalReachable()) ? 1 : 0 });
  measureFigures(registry, { reachable }, cachedFor(REACHABLE_CACHED_MS, measure));
}

type RouteParts = {
  db: Database;
  runInTransaction: RunInTransaction;
  findProvider: FindProvider;
  clock: Clock;
  log: Logger;
  limits: Limits;
  tokens: TokenAuthenticator;
  /** With the examples of events. */
  docsFolder: string;
};

/** The route table, and the plain routers beside it: pages for customers, callbacks of providers. */
export function routesOf(config: Config, parts: RouteParts): { routes: Route[]; routers: Router[] } {
  const { db, runInTransaction, findProvider, clock, log, limits, tokens } = parts;
  const catalogue = readEventCatalogue(parts.docsFolder);
  const baseUrl = config.PUBLIC_BASE_URL;
  const sync = { db, runInTransaction, findProvider, clock, baseUrl, log };
  const [checkAttempt, checkPayout] = [createSyncAttempt(sync), createCheckPayout(sync)];
  const endUnpaid = createCloseUnpaid({ db, runInTransaction, clock, checkAttempt });
  const pepper = config.API_KEY_PEPPER;
  const checkout = { db, runInTransaction, clock, checkAttempt, endUnpaid, findProvider, baseUrl, pepper };
  const { checkUrl } = createEgressGuard(config.egress);
  const store = createDocumentStore(config.KYC_DOCUMENTS_DIR, config.keyRing);
  return {
    routes: [
      ...checkoutRoutes(checkout),
      ...transactionRoutes({ db, clock, findDeliveries: (scope, id) => findResourceDeliveries(db, scope, id) }),
      ...channelRoutes({ db, findProvider }),
      ...calendarRoutes({ db, clock }),
      ...balanceRoutes({ db, clock }),
      ...withdrawalRoutes({ db, clock, findProvider, checkPayout }),
      ...bankAccountRoutes({ db, clock }),
      ...settlementRoutes({ db, clock }),
      ...reportRoutes({ db, runInTransaction, clock, baseUrl, log, files: createReportFiles(config.REPORTS_DIR) }),
      ...kycRoutes({ db, runInTransaction, store }),
      ...eventRoutes({ db, clock, catalogue }),
      ...deliveryRoutes({ db, clock }),
      ...subscriptionRoutes({ db, clock, keyRing: config.keyRing, checkUrl, catalogue }),
      invitationRoute(config.peppers),
      ...operatorRoutesOf({
        db,
        runInTransaction,
        clock,
        findProvider,
        store,
        pepper,
        workflowUrl: (workflowId) => workflowUrl(config, workflowId),
      }),
    ],
    routers: [
      createCheckoutPages({ ...checkout, limits, tokens }),
      createCallbackRouter({
        findOrderBySecret: async (secret) =>
          (await findAttemptBySecret(db, secret)) ?? findWithdrawalBySecret(db, secret),
        findProvider,
        storeCallback: (row) => storeCallback(db, row),
        onCallback: async (order, { verified }) =>
          'attemptId' in order
            ? isConclusive(await checkAttempt(order.attemptId, afterCallback(verified)))
            : isPayoutConclusive(
                await checkPayout(order.withdrawalId, { ...afterCallback(verified), proof: verified }),
              ),
        unknown: limits.unknownCallbacks,
        log,
      }),
    ],
  };
}

/** A verified callback is checked with the provider at once. */
const afterCallback = (isVerified: boolean) => ({
  minIntervalMs: isVerified ? 0 : MIN_QUERY_INTERVAL_MS,
  notifyWorkflow: true,
});

function limitsOf(config: Config): LimitSettings {
  return {
    sandboxPerSecond: config.RATE_LIMIT_SANDBOX_PER_SECOND,
    livePerSecond: config.RATE_LIMIT_LIVE_PER_SECOND,
    listsPerSecond: config.RATE_LIMIT_LISTS_PER_SECOND,
    pagesPerSecond: config.RATE_LIMIT_PAGES_PER_SECOND,
    failedAuthPerMinute: config.RATE_LIMIT_FAILED_AUTH_PER_MINUTE,
  };
}
