import { createServer } from 'node:http';
import { isNativeError } from 'node:util/types';

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { type Database, first, type Queryable } from '../lib/db.ts';
import type { OnStoreCall } from '../lib/file-bucket.ts';
import type { Logger } from '../lib/log.ts';
import { listen, stopListening } from '../lib/ports.ts';

export { Registry };

/** The event loop is woken this often to measure its delay: the library's 10 ms cost an idle process half of its processor time. */
const EVENT_LOOP_INTERVAL_MS = 100;

/** The registry of a process, with Node's own metrics (event loop delay, memory, handles). */
export function createRegistry(role: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_INTERVAL_MS });
  return registry;
}

export type HttpMetrics = { record: (route: string, status: number, seconds: number) => void };

const httpMetricsOf = new WeakMap<Registry, HttpMetrics>();

/** Requests by route and status. `route` is the pattern, never the requested path: no ids in labels. */
export function httpMetrics(registry: Registry): HttpMetrics {
  const existing = httpMetricsOf.get(registry);
  if (existing) return existing;
  const requests = new Counter({
    name: 'meskot_http_requests_total',
    help: 'Requests by route and status',
    labelNames: ['route', 'status'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'meskot_http_request_duration_seconds',
    help: 'Time from the request until its response is ready',
    labelNames: ['route'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    registers: [registry],
  });
  const metrics: HttpMetrics = {
    record: (route, status, seconds) => {
      requests.inc({ route, status });
      duration.observe({ route }, seconds);
    },
  };
  httpMetricsOf.set(registry, metrics);
  return metrics;
}

type MeasuredPools = { pools: Map<string, Database['pool']>; wait: Histogram<'pool'> };
const measuredPools = new WeakMap<Registry, MeasuredPools>();

/** Measures waits for a database connection, and connections by state. A process may have several pools. */
export function measurePool(registry: Registry, db: Database, name: 'api' | 'worker'): void {
  const { pools, wait } = measuredPools.get(registry) ?? createPoolMetrics(registry);
  pools.set(name, db.pool);
  db.events.on('acquired', (waitedMs) => wait.observe({ pool: name }, waitedMs / 1000));
}

function createPoolMetrics(registry: Registry): MeasuredPools {
  const pools: MeasuredPools['pools'] = new Map();
  new Gauge({
    name: 'meskot_database_pool_connections',
    help: 'Database connections by state; pending = waiting for one',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, { totalCount, idleCount, waitingCount }] of pools) {
        this.set({ pool, state: 'used' }, totalCount - idleCount);
        this.set({ pool, state: 'free' }, idleCount);
        this.set({ pool, state: 'pending' }, waitingCount);
      }
    },
  });
  const wait = new Histogram({
    name: 'meskot_database_pool_wait_seconds',
    help: 'Time waited for a database connection',
    labelNames: ['pool'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1],
    registers: [registry],
  });
  measuredPools.set(registry, { pools, wait });
  return { pools, wait };
}

const fileStoreMetricsOf = new WeakMap<Registry, OnStoreCall>();

/** Measures calls to the bucket of documents and reports; those of folders are not. Created once for each registry. */
export function measureFileStore(registry: Registry): OnStoreCall {
  const existing = fileStoreMetricsOf.get(registry);
  if (existing) return existing;
  const calls = new Counter({
    name: 'meskot_file_store_calls_total',
    help: 'Calls to the bucket of files (S3_BUCKET) by their outcome: ok or failed',
    labelNames: ['call', 'outcome'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'meskot_file_store_call_duration_seconds',
    help: 'Time of a call to the bucket of files, with its repetitions',
    labelNames: ['call'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60],
    registers: [registry],
  });
  const record: OnStoreCall = ({ call, outcome, seconds }) => {
    calls.inc({ call, outcome });
    duration.observe({ call }, seconds);
  };
  fileStoreMetricsOf.set(registry, record);
  return record;
}

/** Measures this process's clock against the database's, which all due times use. */
export function measureClockSkew(registry: Registry, skewSeconds: () => number | null): void {
  const help = "The process's clock minus the database's; NaN while the database's time is unknown";
  const seconds = { name: 'meskot_clock_skew_seconds', help };
  measureFigures(registry, { seconds }, async () => ({ seconds: skewSeconds() ?? NaN }));
}

/** The gauge of a figure. Gauges of one name differ in their labels. */
export type FigureGauge = { name: string; help: string; labels?: Readonly<Record<string, string>> };

/** Gauges by figure, all set by one measurement per scrape. Created once for each registry. */
export function measureFigures<Figure extends string>(
  registry: Registry,
  gauges: Readonly<Record<Figure, FigureGauge>>,
  measure: () => Promise<Readonly<Record<Figure, number>>>,
): void {
  type Figures = Readonly<Record<Figure, number>> | null;
  let measuring: Promise<Figures> | undefined;
  /** The gauges of one scrape are collected in the same turn: they share a measurement. */
  const figures = async (): Promise<Figures> =>
    (measuring ??= measure()
      // One gauge that rejects would fail the whole scrape.
      .catch(() => null)
      .finally(() => (measuring = undefined)));
  const all = Object.entries<FigureGauge>(gauges);
  for (const name of new Set(all.map(([, gauge]) => gauge.name))) {
    if (registry.getSingleMetric(name)) continue;
    const ofName = all.filter(([, gauge]) => gauge.name === name);
    new Gauge({
      name,
      help: ofName[0]?.[1].help ?? name,
      labelNames: [...new Set(ofName.flatMap(([, { labels = {} }]) => Object.keys(labels)))],
      registers: [registry],
      async collect() {
        const known = await figures();
        // Unknown is not zero.
        for (const [figure, { labels = {} }] of ofName) this.set(labels, known?.[figure as Figure] ?? NaN);
      },
    });
  }
}

/** Measures at most once in this time, for figures that several scrapers read, or that are expensive. */
export function cachedFor<Value>(ms: number, measure: () => Promise<Value>): () => Promise<Value> {
  let cached: { value: Promise<Value>; atMs: number } | null = null;
  return async () => {
    if (cached === null || performance.now() - cached.atMs >= ms)
      cached = { value: measure(), atMs: performance.now() };
    return cached.value;
  };
}

/** The same as {@link measureFigures}, by one statement whose one row has a column for each figure. */
export function measureRow<Figure extends string>(
  registry: Registry,
  gauges: Readonly<Record<Figure, FigureGauge>>,
  { db, sql, cachedMs = 0 }: { db: Queryable; sql: string; cachedMs?: number },
): void {
  const measure = async () => (await first<Record<Figure, number>>(db, sql)) ?? ({} as Record<Figure, number>);
  measureFigures(registry, gauges, cachedFor(cachedMs, measure));
}

type MetricsAddress = {
  host: string;
  port: number;
  log: Pick<Logger, 'warn'>;
  /** More metrics in Prometheus' text format, of sources without the registry. */
  readMore?: (() => Promise<string>) | undefined;
  /** Whether the process does its work, for /readyz; without it there is no such path. */
  isReady?: () => boolean;
};

/**
 * Serves the registry at /metrics on a separate port, which is not public, and of a process without an API /livez and
 * /readyz. `url` is null when another process uses the port; this one then serves none.
 */
export async function listenForMetrics(registry: Registry, at: MetricsAddress) {
  const { isReady } = at;
  const server = createServer((request, response) => {
    if (isReady && request.url === '/livez') {
      response.writeHead(200).end('alive\n');
      return;
    }
    if (isReady && request.url === '/readyz') {
      response.writeHead(isReady() ? 200 : 503).end(isReady() ? 'ready\n' : 'not ready\n');
      return;
    }
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    void Promise.all([registry.metrics(), at.readMore?.() ?? '']).then(
      ([own, more]) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(own + more),
      () => response.writeHead(500).end(),
    );
  });
  try {
    const url = await listen(server, at);
    return { url: `${url}/metrics`, close: async () => stopListening(server) };
  } catch (error) {
    if (!(isNativeError(error) && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    const { host, port } = at;
    at.log.warn({ host, port }, 'port for metrics in use: this process serves none; set another METRICS_PORT');
    return { url: null, close: async () => {} };
  }
}
