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
import { exposeCoreMetrics } from '../temporal/metrics.ts';
import { installRuntime } from '../temporal/workers.ts';
import { openCheckout } from './sample-session.ts';
import type { LocalPorts } from './settings.ts';
import type { Facts } from './state.ts';

/** Something that a local start starts after the servers and the migrations, and stops before them. */
export type Part = {
  /** As in the line that is printed with its time. */
  name: string;
  start: () => Promise<RunningPart>;
};

export type RunningPart = {
  stop: () => Promise<void>;
  /** What people should be told about it. */
  facts?: Facts;
};

export type PartsContext = {
  /** The folder of package.json. */
  project: string;
  config: Config;
  ports: LocalPorts;
  dataFolder: string;
  demoPayments: number;
  demoCustomerSeconds: number;
  workflowBundle: WorkflowBundleOption;
  /** What the last start wrote: keys that are shown only once are kept there. */
  previous: Facts;
  log: Logger;
  /** Prints a line for people while everything runs. */
  write: (line: string) => void;
};

const HOST = '127.0.0.1';
const COUNT_EVERY_MS = 2_000;

/**
 * Everything of a local start but the servers, in the order of starting: the worker sends and asks at once, so whoever
 * it talks to listens before.
 */
export function localParts(context: PartsContext): Part[] {
  const { project, config, ports, previous, write, log } = context;
  const registry = createRegistry('local');
  const shopUrl = `http://localhost:${ports.demoShop}`;
  let [seeded, workflowsReady]: [Facts, Promise<void>] = [{}, Promise.resolve()];
  return [
    {
      name: 'Demo data',
      start: async () => {
        const onProgress = createCount((made, total) => write(`Demo data: ${made} of ${total} payments`));
        const wanted = { payments: context.demoPayments, webhookUrl: `${shopUrl}/webhooks` };
        seeded = await seedDemo({ config, previous, ...wanted, onProgress });
        return { stop: async () => {}, facts: seeded };
      },
    },
    {
      name: 'Provider simulator',
      start: async () => {
        const stateFile = join(context.dataFolder, 'simulator.jsonl');
        await writeSimulatorHistory(config.DATABASE_URL, stateFile);
        const listen = { port: ports.simulator, host: HOST };
        const { close } = await startSimulator({ ...config.simulator, ...listen, stateFile, log });
        return { stop: close, facts: { simulatorUrl: config.SIMULATOR_URL } };
      },
    },
    {
      name: 'API',
      start: async () => {
        const temporalMetrics = await exposeCoreMetrics();
        installRuntime(log, temporalMetrics);
        const version = await readVersion(project);
        const readMoreMetrics = temporalMetrics.read;
        const api = await startApi(config, { log, registry, project, version, readMoreMetrics });
        const facts = { apiUrl: config.PUBLIC_BASE_URL, docsUrl: `${config.PUBLIC_BASE_URL}/docs` };
        const metrics = api.metricsUrl === null ? {} : { metricsUrl: api.metricsUrl };
        return { stop: api.stop, facts: { ...facts, ...metrics, ...(await openCheckout(config, seeded)) } };
      },
    },
    {
      name: 'Demo shop',
      start: async () => {
        const { sandboxKey = '', webhookSecret = '' } = seeded;
        const keys = { apiUrl: config.PUBLIC_BASE_URL, apiKey: sandboxKey, webhookSecret };
        const listen = { port: ports.demoShop, host: HOST };
        const customersEveryMs = context.demoCustomerSeconds * 1_000;
        const shop = await startDemoShop({ ...keys, ...listen, customersEveryMs, write, log });
        return { stop: shop.close, facts: { demoShopUrl: shopUrl } };
      },
    },
    {
      name: 'Worker',
      start: async () => {
        const worker = startWorker(config, { log, registry, workflowBundle: context.workflowBundle });
        workflowsReady = worker.ready;
        return { stop: worker.stop };
      },
    },
    {
      name: 'Workflows',
      start: async () => {
        await workflowsReady;
        return { stop: async () => {} };
      },
    },
  ];
}

/** Tells how far something is, but not more often than a person reads, and nothing of what is quick. */
function createCount(print: (made: number, total: number) => void): (made: number, total: number) => void {
  let printedAt = performance.now();
  return (made, total) => {
    if (performance.now() - printedAt < COUNT_EVERY_MS) return;
    printedAt = performance.now();
    print(made, total);
  };
}
