import { join } from 'node:path';

import type { WorkflowBundleOption } from '@temporalio/worker';

import { startApi } from '../app/api.ts';
import { readVersion } from '../app/run-process.ts';
import { startWorker } from '../app/worker.ts';
import type { Config } from '../config.ts';
import { seedDemo } from '../demo/seed/seed.ts';
import { createCheckout, MENU } from '../demo/shop/checkout.ts';
import { startDemoShop } from '../demo/shop/server.ts';
import { createRegistry } from '../http/metrics.ts';
import type { Logger } from '../lib/log.ts';
import { startSimulator } from '../sandbox/simulator/server.ts';
import { installRuntime } from '../temporal/runtime.ts';
import { readState, type ServiceInfo } from './data-folder.ts';
import { print, step } from './log.ts';
import type { LocalSettings } from './settings.ts';
import type { Shutdown } from './shutdown.ts';

export type ServicesContext = {
  project: string;
  config: Config;
  settings: LocalSettings;
  workflowBundle: WorkflowBundleOption;
  log: Logger;
  shutdown: Shutdown;
};

const HOST = '127.0.0.1';
const PROGRESS_EVERY_MS = 2_000;

/**
 * Starts everything except the servers. The worker comes last, since it calls the others at once. Returns their
 * information.
 */
export async function startServices(context: ServicesContext): Promise<ServiceInfo> {
  const { config, settings, project, log, shutdown } = context;
  const registry = createRegistry('local');
  const { PUBLIC_BASE_URL: apiUrl, PORTAL_URL: portalUrl, CONSOLE_URL: consoleUrl } = config;
  const demoShopUrl = `http://localhost:${settings.DEMO_SHOP_PORT}`;
  const stateFile = join(settings.dataFolder, 'simulator.jsonl');
  const start = <T>(name: string, service: (onStop: (stop: () => Promise<void>) => void) => Promise<T>) =>
    step(name, () => service((stop) => shutdown.add({ name, stop })));

  const secrets = await start('Demo data', () =>
    seedDemo({
      config,
      // With the keys that are presented only once.
      previous: readState(settings.dataFolder).info,
      payments: settings.MESKOT_DEMO_PAYMENTS,
      webhookUrl: `${demoShopUrl}/webhooks`,
      simulatorFile: stateFile,
      onProgress: createSeedProgress(),
    }),
  );
  await start('Provider simulator', async (onStop) => {
    const listen = { port: settings.SIMULATOR_PORT, host: HOST };
    onStop((await startSimulator({ ...config.simulator, ...listen, stateFile, log })).close);
  });
  const api = await start('API', async (onStop) => {
    const readMoreMetrics = await installRuntime(log);
    const more = { version: await readVersion(project), readMoreMetrics };
    const { stop, metricsUrl, operatorsUrl: opsUrl } = await startApi(config, { log, registry, project, ...more });
    onStop(stop);
    return { opsUrl, metricsUrl: metricsUrl ?? undefined };
  });
  const checkout = createCheckout({ apiUrl, apiKey: secrets.sandboxKey, shopUrl: () => demoShopUrl });
  // A page that waits to be paid; none while the demo merchant may take no payments, as after its suspension.
  const page = await checkout.start(MENU[0], { orderPrefix: 'WELCOME', expiresInMinutes: 1_440 }).catch(() => null);
  await start('Demo shop', async (onStop) => {
    const shop = await startDemoShop({
      apiUrl,
      apiKey: secrets.sandboxKey,
      webhookSecret: secrets.webhookSecret,
      port: settings.DEMO_SHOP_PORT,
      host: HOST,
      url: demoShopUrl,
      customersEveryMs: settings.MESKOT_DEMO_PURCHASE_INTERVAL_SECONDS * 1_000,
      write: print,
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
    checkoutUrl: page?.checkoutUrl,
    apiUrl,
    portalUrl,
    consoleUrl,
    demoShopUrl,
    docsUrl: `${apiUrl}/docs`,
    simulatorUrl: config.SIMULATOR_URL,
  };
}

function createSeedProgress(): (count: number, total: number) => void {
  let printedAt = performance.now();
  return (count, total) => {
    if (performance.now() - printedAt < PROGRESS_EVERY_MS) return;
    printedAt = performance.now();
    print(`Demo data: ${count} of ${total} payments`);
  };
}
