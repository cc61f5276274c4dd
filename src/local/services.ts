import { join } from 'node:path';

import type { WorkflowBundleOption } from '@temporalio/worker';

import { startApi } from '../app/api.ts';
import { readVersion } from '../app/run-process.ts';
import { startWorker } from '../app/worker.ts';
import type { Config } from '../config.ts';
import { seedDemo } from '../demo/seed/seed.ts';
import { writeSimulatorHistory } from '../demo/seed/simulator-history.ts';
import { startDemoShop } from '../demo/shop/server.ts';
import { createRegistry } from '../http/metrics.ts';
import type { Logger } from '../lib/log.ts';
import { startSimulator } from '../sandbox/simulator/server.ts';
import { installRuntime } from '../temporal/workers.ts';
import type { ServiceInfo } from './data-folder.ts';
import type { LocalPorts, LocalSettings } from './settings.ts';

export type ServicesContext = {
  /** The folder of package.json. */
  project: string;
  config: Config;
  ports: LocalPorts;
  settings: LocalSettings;
  workflowBundle: WorkflowBundleOption;
  /** The last start's information, with the keys that are presented only once. */
  previous: ServiceInfo;
  log: Logger;
  write: (line: string) => void;
  /** Runs the start of a service as a step. What it gives to `onStop` is called at the end, in reverse order. */
  start: <T>(name: string, service: (onStop: (stop: () => Promise<void>) => void) => Promise<T>) => Promise<T>;
};

const HOST = '127.0.0.1';
const PROGRESS_EVERY_MS = 2_000;

/**
 * Starts everything except the servers. The worker comes last, since it calls the others at once. Returns their
 * information.
 */
export async function startServices(context: ServicesContext): Promise<ServiceInfo> {
  const { config, ports, settings, project, log, write, start } = context;
  const registry = createRegistry('local');
  const shopUrl = `http://localhost:${ports.DEMO_SHOP_PORT}`;
  const secrets = await start('Demo data', () => {
    const onProgress = createSeedProgress(write);
    const webhookUrl = `${shopUrl}/webhooks`;
    return seedDemo({
      config,
      previous: context.previous,
      payments: settings.MESKOT_DEMO_PAYMENTS,
      webhookUrl,
      onProgress,
    });
  });
  await start('Provider simulator', async (onStop) => {
    const stateFile = join(settings.dataFolder, 'simulator.jsonl');
    await writeSimulatorHistory(config.DATABASE_URL, stateFile);
    const listen = { port: ports.SIMULATOR_PORT, host: HOST };
    onStop((await startSimulator({ ...config.simulator, ...listen, stateFile, log })).close);
  });
  const api = await start('API', async (onStop) => {
    const readMoreMetrics = await installRuntime(log);
    const version = await readVersion(project);
    const { stop, metricsUrl } = await startApi(config, {
      log,
      registry,
      project,
      version,
      readMoreMetrics,
    });
    onStop(stop);
    return { metricsUrl: metricsUrl ?? undefined, checkoutUrl: await createSampleSession(config, secrets.sandboxKey) };
  });
  await start('Demo shop', async (onStop) => {
    const shop = await startDemoShop({
      apiUrl: config.PUBLIC_BASE_URL,
      apiKey: secrets.sandboxKey,
      webhookSecret: secrets.webhookSecret,
      port: ports.DEMO_SHOP_PORT,
      host: HOST,
      customersEveryMs: settings.MESKOT_DEMO_PURCHASE_INTERVAL_SECONDS * 1_000,
      write,
      log,
    });
    onStop(shop.close);
  });
  const worker = await start('Worker', async (onStop) => {
    const started = startWorker(config, { log, registry, workflowBundle: context.workflowBundle });
    onStop(started.stop);
    return started;
  });
  await start('Workflows', () => worker.ready);
  return {
    ...secrets,
    ...api,
    simulatorUrl: config.SIMULATOR_URL,
    apiUrl: config.PUBLIC_BASE_URL,
    docsUrl: `${config.PUBLIC_BASE_URL}/docs`,
    demoShopUrl: shopUrl,
  };
}

/** Prints the progress every 2 s. */
function createSeedProgress(write: (line: string) => void): (count: number, total: number) => void {
  let printedAt = performance.now();
  return (count, total) => {
    if (performance.now() - printedAt < PROGRESS_EVERY_MS) return;
    printedAt = performance.now();
    write(`Demo data: ${count} of ${total} payments`);
  };
}

/** Creates a session through the API, as merchants do, whose page can be paid. */
async function createSampleSession(config: Config, sandboxKey: string): Promise<string | undefined> {
  const response = await fetch(`${config.PUBLIC_BASE_URL}/api/checkout/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': sandboxKey },
    body: JSON.stringify({
      checkoutOrderNo: `WELCOME-${Date.now()}`,
      amount: 100.5,
      currency: 'ETB',
      expiresInMinutes: 1_440,
    }),
  });
  const { data } = (await response.json()) as { data: { checkoutUrl: string } | null };
  return data?.checkoutUrl;
}
