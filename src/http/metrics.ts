import { createServer } from 'node:http';
import { isNativeError } from 'node:util/types';

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import type { Knex } from '../lib/db.ts';
import { listen, stopListening } from '../lib/listen.ts';
import type { Logger } from '../lib/log.ts';

export { Registry };

/** A process's registry, with Node's own metrics (event loop delay, memory, handles). Other parts add theirs to it. */
export function createRegistry(role: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry });
  return registry;
}

export type HttpMetrics = { record: (route: string, status: number, seconds: number) => void };

/** Requests by route and status. `route` is the pattern, never the path that was asked: no ids in labels. */
export function createHttpMetrics(registry: Registry): HttpMetrics {
  const requests = new Counter({
    name: 'meskot_http_requests_total',
    help: 'Requests answered, by route and status',
    labelNames: ['route', 'status'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'meskot_http_request_seconds',
    help: 'Time from the request to the end of its answer being made',
    labelNames: ['route'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    registers: [registry],
  });
  // Looking a label set up costs more than counting: both are looked up once.
  const counters = new Map<string, Counter.Internal>();
  const timers = new Map<string, Histogram.Internal<'route'>>();
  return {
    record: (route, status, seconds) => {
      const key = `${status} ${route}`;
      let counter = counters.get(key);
      if (!counter) counters.set(key, (counter = requests.labels(route, String(status))));
      let timer = timers.get(route);
      if (!timer) timers.set(route, (timer = duration.labels(route)));
      counter.inc();
      timer.observe(seconds);
    },
  };
}

/** The parts of tarn, knex's pool, that are looked at. */
type Pool = {
  numUsed: () => number;
  numFree: () => number;
  numPendingAcquires: () => number;
  on: (event: 'acquireRequest' | 'acquireSuccess' | 'acquireFail', listener: (id: number) => void) => void;
};

/** How long work waits for a database connection, and how many are in use. */
export function measurePool(registry: Registry, db: Knex): void {
  const pool = (db.client as { pool: Pool }).pool;
  const wait = new Histogram({
    name: 'meskot_database_pool_wait_seconds',
    help: 'Time waited for a database connection',
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1],
    registers: [registry],
  });
  const askedAt = new Map<number, number>();
  pool.on('acquireRequest', (id) => void askedAt.set(id, performance.now()));
  const answered = (id: number): void => {
    const asked = askedAt.get(id);
    if (asked !== undefined) wait.observe((performance.now() - asked) / 1000);
    askedAt.delete(id);
  };
  pool.on('acquireSuccess', answered);
  pool.on('acquireFail', answered);
  new Gauge({
    name: 'meskot_database_pool_connections',
    help: 'Database connections by state; pending = waiting for one',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'used' }, pool.numUsed());
      this.set({ state: 'free' }, pool.numFree());
      this.set({ state: 'pending' }, pool.numPendingAcquires());
    },
  });
}

/** Gauges by figure, all set by one question that is asked when somebody looks. */
export function measureFigures<Figure extends string>(
  registry: Registry,
  gauges: Readonly<Record<Figure, { name: string; help: string }>>,
  ask: () => Promise<Readonly<Record<Figure, number>>>,
): void {
  let asked: Promise<Readonly<Record<Figure, number>> | null> | null = null;
  const figures = (): NonNullable<typeof asked> => {
    // All gauges are collected in the same turn. One that rejects would take all other metrics along.
    asked ??= ask()
      .catch(() => null)
      .finally(() => {
        asked = null;
      });
    return asked;
  };
  for (const figure of Object.keys(gauges) as Figure[]) {
    new Gauge({
      ...gauges[figure],
      registers: [registry],
      async collect() {
        // Uncounted is not zero.
        this.set((await figures())?.[figure] ?? NaN);
      },
    });
  }
}

export type MetricsListener = {
  /** null: another process has the port, and this one goes on without. */
  url: string | null;
  close: () => Promise<void>;
};

export type MetricsAddress = { host: string; port: number; log: Pick<Logger, 'warn'> };

/** Serves the registry at /metrics on a port of its own, which is not for the public. */
export async function listenForMetrics(registry: Registry, at: MetricsAddress): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    void registry.metrics().then(
      (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  try {
    const url = await listen(server, at);
    return { url: `${url}/metrics`, close: async () => stopListening(server) };
  } catch (error) {
    if (!(isNativeError(error) && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    const { host, port } = at;
    at.log.warn(
      { host, port },
      'the port for metrics is taken: none are shown; give this process a METRICS_PORT of its own',
    );
    return { url: null, close: async () => {} };
  }
}
