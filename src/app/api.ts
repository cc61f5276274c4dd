import { join } from 'node:path';

import { Connection } from '@temporalio/client';

import { createKeyAuthenticator } from '../access/authenticate.ts';
import { recordMerchantAudit } from '../access/merchant-audit.ts';
import { createRequestLog } from '../access/request-log.ts';
import type { Config } from '../config.ts';
import { createKeyIdentification } from '../http/auth.ts';
import { findFullDisk, measureReadiness } from '../http/health.ts';
import { createLimits } from '../http/limits.ts';
import { cachedFor, createRegistry, listenForMetrics, measureFigures, type Registry } from '../http/metrics.ts';
import { type Database, ensureWritable } from '../lib/db.ts';
import { createKeyedQueue } from '../lib/keyed-queue.ts';
import type { Logger } from '../lib/log.ts';
import { pendingMigrations } from '../lib/migrate.ts';
import { withTimeout } from '../lib/timeout.ts';
import type { Tracing } from '../lib/tracing.ts';
import { createNotifier } from '../outbox/listener.ts';
import { createTransactionRunner } from '../outbox/record.ts';
import { createTokenAuthenticator } from '../payments/session.ts';
import { measureUnsentWithdrawals } from '../payouts/withdrawals/monitoring.ts';
import { countCallbacks } from '../providers/callbacks.ts';
import { pingTemporal, temporalConnection } from '../temporal/client.ts';
import { measureLateDeliveries } from '../webhooks/delivery/metrics.ts';
import { startOperatorsListener, startPortal, startPublicApi } from './listeners.ts';
import { openProcess } from './open-process.ts';
import { routesOf } from './routes.ts';

export type RunningApi = Awaited<ReturnType<typeof startApi>>;

export type ApiOptions = {
  log: Logger;
  project: string;
  version: string;
  /** The registry of this process, if it exposes more than the API's metrics. */
  registry?: Registry;
  /** Temporal's metrics, where a worker runs in this process. */
  readMoreMetrics?: () => Promise<string>;
  tracing?: Tracing;
};

const REACHABLE = { name: 'meskot_temporal_reachable', help: 'Whether Temporal responds within a second: 1 or 0' };
const REACHABLE_CACHED_MS = 3_000;
const CLOCK_WITHIN_MS = 2_000;
/** Limits of money operations: a few seconds of work per merchant. Together they use half of the connections at most. */
const QUEUE_LIMITS = { pendingMax: { ofOne: 300, ofAll: 3_000 }, waitMsMax: 20_000 };

/** The HTTP process: the API, the checkout page and the providers' callbacks, the portal, and what operators call. It never sends to merchants. */
export async function startApi(config: Config, options: ApiOptions) {
  const { log, project, version, registry = createRegistry('api') } = options;
  const { DATABASE_POOL_MAX: poolMax } = config;
  const opened = openProcess(config, { name: 'api', log, registry });
  const { db, databaseClock, clock, findProvider, countResult } = opened;
  const connection = Connection.lazy(temporalConnection(config));
  measureAbsences(registry, { db, connection });
  const notifier = createNotifier(db);
  const runInTransaction = createTransactionRunner(db, notifier.dispatch, options.tracing);
  const limits = createLimits(ratesOf(config), db);
  const keys = createKeyAuthenticator({ db, peppers: config.peppers, clock, log });
  const tokens = createTokenAuthenticator({ db, clock, peppers: config.peppers });
  const requestLog = createRequestLog({ db, registry });
  const docsFolder = join(project, 'docs');
  const counts = { countCallback: countCallbacks(registry), countResult };
  const parts = { db, runInTransaction, findProvider, clock, log, limits, tokens, docsFolder, ...counts };
  const table = routesOf({ ...config, files: opened.files }, parts);
  const readiness = {
    countPendingMigrations: async () => countPending(db, project),
    findFullDisk: async () => findFullDisk(config.disks),
  };
  measureReadiness(registry, readiness);
  const shared = {
    db,
    runInTransaction,
    ...readiness,
    keyRing: config.keyRing,
    limits,
    recordAudit: recordMerchantAudit,
    queue: createKeyedQueue({ ...QUEUE_LIMITS, runningMax: Math.ceil(poolMax / 2) }),
    trustProxy: config.TRUSTED_PROXY_COUNT,
    baseUrl: config.PUBLIC_BASE_URL,
    version,
    log,
    clock,
    registry,
    ...(options.tracing && { tracing: options.tracing }),
  };
  const identifyByKey = createKeyIdentification({ ...keys, ...tokens, limits });
  const keyed = { ...shared, identifyByKey, docsFolder };
  // Without a database nothing falls due either, so the port opens without it.
  await withTimeout(databaseClock.known, CLOCK_WITHIN_MS);
  const api = await startPublicApi(config, { ...keyed, onCompleted: requestLog.add }, table);
  const portal = await startPortal(config, shared, table);
  const operators = await startOperatorsListener(config, keyed, table);
  const { METRICS_PORT: port, LISTEN_HOST: host } = config;
  const metrics = await listenForMetrics(registry, { host, port, log, readMore: options.readMoreMetrics });
  return {
    url: api.url,
    portalUrl: portal?.url ?? null,
    operatorsUrl: operators.url,
    metricsUrl: metrics.url,
    stop: async () => {
      const times = { delayMs: config.shutdownDelayMs };
      await Promise.all([api.close(times), portal?.close(times), operators.close(times)]);
      databaseClock.stop();
      await metrics.close();
      await notifier.stop();
      await Promise.all([keys.flush(), requestLog.stop()]);
      await Promise.all([opened.close(), connection.close()]);
    },
  };
}

/** About missing workers and an unreachable Temporal: the process that runs exposes them. */
function measureAbsences(registry: Registry, { db, connection }: { db: Database; connection: Connection }): void {
  measureLateDeliveries(registry, db);
  measureUnsentWithdrawals(registry, db);
  const measure = async () => ({ reachable: (await pingTemporal(connection)) ? 1 : 0 });
  measureFigures(registry, { reachable: REACHABLE }, cachedFor(REACHABLE_CACHED_MS, measure));
}

const ratesOf = (config: Config) => ({
  sandboxPerSecond: config.RATE_LIMIT_SANDBOX_PER_SECOND,
  livePerSecond: config.RATE_LIMIT_LIVE_PER_SECOND,
  listsPerSecond: config.RATE_LIMIT_LISTS_PER_SECOND,
  pagesPerSecond: config.RATE_LIMIT_PAGES_PER_SECOND,
  failedAuthPerMinute: config.RATE_LIMIT_FAILED_AUTH_PER_MINUTE,
});

/** Rejects when the database takes no writes. */
async function countPending(db: Database, project: string): Promise<number> {
  await ensureWritable(db);
  return (await pendingMigrations(db, join(project, 'migrations'))).length;
}
