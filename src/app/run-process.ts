import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { z } from 'zod';

import { environment, parseSettings, readConfig, requireLoopback, type Config } from '../config.ts';
import { rejectSharedSessions } from '../lib/db-session.ts';
import { createLogger, type Logger } from '../lib/log.ts';
import { baseAddress, wholeNumber } from '../lib/setting-fields.ts';
import { withTimeout } from '../lib/timeout.ts';

/** The time from closing the port to the forced end. */
const DRAIN_MS = 15_000;

/** The simulator's address as a process of its own. Its admin calls need no key: never expose it. */
const SimulatorSettings = z.object({
  MESKOT_MODE: z.enum(['local', 'production']).default('local'),
  SIMULATOR_HOST: z.string().min(1).default('127.0.0.1'),
  SIMULATOR_PORT: wholeNumber(1, 65_535).default(4002),
  SIMULATOR_PUBLIC_URL: baseAddress({ path: true }).optional(),
  SIMULATOR_ACCOUNTS_PATH: z.string().min(1).optional(),
  SIMULATOR_ORDERS_PATH: z.string().min(1).optional(),
});

/** A started process; `stop` completes requests in flight, then closes everything. */
type Running = { stop: () => Promise<void> };

/** `meskot api`: the HTTP process, until a signal. `project` is the folder of package.json. */
export async function serveApi(project: string): Promise<number> {
  return serve('api', async (config, log) => {
    const { startApi } = await import('./api.ts');
    const { startTracing } = await import('./tracing.ts');
    const version = await readVersion(project);
    const tracing = await startTracing(config, { role: 'api', version, log });
    const { stop, ...urls } = await startApi(config, { log, project, version, tracing });
    log.info({ url: urls.url, operatorsUrl: urls.operatorsUrl, metricsUrl: urls.metricsUrl }, 'API started');
    return { stop: async () => stop().finally(tracing.stop) };
  });
}

/** `meskot worker`: Temporal's workers, the outbox and the periodic jobs, until a signal. */
export async function serveWorker(project: string): Promise<number> {
  return serve('worker', async (config, log) => {
    const { startWorker } = await import('./worker.ts');
    const { installRuntime } = await import('../temporal/runtime.ts');
    const { createRegistry, listenForMetrics } = await import('../http/metrics.ts');
    const { startTracing } = await import('./tracing.ts');
    const { LISTEN_HOST: host, METRICS_PORT: port } = config;
    const readMore = await installRuntime(log);
    const registry = createRegistry('worker');
    let isReady = (): boolean => false;
    const metrics = await listenForMetrics(registry, { host, port, log, readMore, isReady: () => isReady() });
    const tracing = await startTracing(config, { role: 'worker', version: await readVersion(project), log });
    const worker = startWorker(config, { log, registry, tracing });
    isReady = worker.isReady;
    log.info({ metricsUrl: metrics.url }, 'worker started');
    void worker.ready.then(() => log.info('workflow workers started'));
    return { stop: async () => worker.stop().finally(metrics.close).finally(tracing.stop) };
  });
}

/** Throws behind a pooler without sessions and, in production, when the database holds demo data. */
async function serve(
  name: 'api' | 'worker',
  start: (config: Config, log: Logger) => Promise<Running>,
): Promise<number> {
  const config = readConfig();
  const log = createLogger(config.LOG_LEVEL, name);
  await rejectSharedSessions(config.DATABASE_URL);
  if (config.production) {
    const { rejectDemoDataAt } = await import('../demo/seed/reject-demo-data.ts');
    await rejectDemoDataAt(config.DATABASE_URL, log);
  }
  return runUntilSignal(log, async () => start(config, log), name === 'api' ? config.shutdownDelayMs : 0);
}

/** `meskot simulator`: the sandbox's providers, until a signal. */
export async function serveSimulator(): Promise<number> {
  const settings = parseSettings(SimulatorSettings, environment);
  if (settings.MESKOT_MODE === 'local') requireLoopback('SIMULATOR_HOST', settings.SIMULATOR_HOST);
  const log = createLogger('info', 'simulator');
  return runUntilSignal(log, async () => {
    const { startSimulator } = await import('../sandbox/simulator/server.ts');
    const { readAccounts } = await import('../sandbox/simulator/accounts.ts');
    const { SIMULATOR_PORT: port, SIMULATOR_HOST: host, SIMULATOR_PUBLIC_URL: simulatorPublicUrl = null } = settings;
    const { SIMULATOR_ACCOUNTS_PATH: path, SIMULATOR_ORDERS_PATH: stateFile } = settings;
    const more = { ...(path !== undefined && { accounts: readAccounts(path) }), ...(stateFile && { stateFile }) };
    const { url, close } = await startSimulator({ port, host, simulatorPublicUrl, log, ...more }).catch(ofOrdersFile);
    log.info({ url }, 'simulator started');
    return { stop: close };
  });
}

/** Names the setting where the file of orders cannot be read or written. */
function ofOrdersFile(error: unknown): never {
  const { path, message } = error as NodeJS.ErrnoException;
  if (path === undefined) throw error;
  throw new Error(`SIMULATOR_ORDERS_PATH cannot be used: ${message}`, { cause: error });
}

/**
 * Runs until the first signal, then has 15 s to stop, after the delay in which the port still serves; a second signal
 * exits at once. Returns the exit code.
 */
async function runUntilSignal(log: Logger, start: () => Promise<Running>, delayMs = 0): Promise<number> {
  const stopSignal = waitForSignal();
  const running = await start();
  log.info({ signal: await stopSignal }, 'stopping');
  const stopped = running.stop().then(
    () => 0,
    (error: unknown) => {
      log.error({ err: error }, 'did not stop cleanly');
      return 1;
    },
  );
  const exitCode = await withTimeout(stopped, delayMs + DRAIN_MS);
  if (exitCode === null)
    log.warn(`stopped with work in progress after ${DRAIN_MS / 1000} s; other processes take it over`);
  return exitCode ?? 1;
}

/** Listens for signals before anything starts, so that none is lost. A second one exits at once; 130: ended by a signal. */
async function waitForSignal(): Promise<NodeJS.Signals> {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  const [signal] = (await Promise.race(signals.map((name) => once(process, name)))) as [NodeJS.Signals];
  for (const name of signals) process.on(name, () => process.exit(130));
  return signal;
}

/** Of package.json. */
export async function readVersion(project: string): Promise<string> {
  const text = await readFile(join(project, 'package.json'), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
