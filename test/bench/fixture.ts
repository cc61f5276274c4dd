import { setTimeout as sleep } from 'node:timers/promises';

import { createKey } from '../../src/access/api-keys.ts';
import { readConfig } from '../../src/config.ts';
import { type Database, openDatabase, rows } from '../../src/lib/db.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { grantChannels } from '../../src/merchants/channels/operations.ts';
import { createMerchant } from '../../src/merchants/operations.ts';
import { BASELINE_TABLES } from './history.ts';
import type { Sheet } from './sheet.ts';
import { asOwner, type BenchStack, type Running } from './stack.ts';
import { openWorkflows, type Workflows } from './workflows.ts';

/** The input of a step. */
export type Bench = {
  stack: BenchStack;
  sheet: Sheet;
  say: (line: string) => void;
  /** The second value in a short run, which only tests that all steps work. */
  size: (full: number, short: number) => number;
  step: string;
};

export type Server = Running & { origin: string };
export type Merchant = { merchantId: string; key: string };

/** A database and the processes on it. Each step has at least one, so that steps do not affect each other. */
export type Fixture = {
  db: Database;
  /** Runs statements with the owner's role. */
  asOwner: (...statements: string[]) => Promise<void>;
  newMerchant: () => Promise<Merchant>;
  /** Always at the same address, so that it can be restarted. */
  startApi: () => Promise<Server>;
  /** Resolves when the worker serves its workflows. */
  startWorker: (settings?: Record<string, string>) => Promise<Running>;
  startBaseline: () => Promise<Server>;
  startSimulator: () => Promise<Running>;
  /** Whether no delivery workflow is running; each call costs Temporal a little. */
  workflowsEnded: () => Promise<boolean>;
  /** How many delivery workflows were started. */
  workflowsStarted: () => Promise<number>;
  workflows: Workflows;
};

const NO_LIMITS = {
  RATE_LIMIT_SANDBOX_PER_SECOND: '0',
  RATE_LIMIT_LIVE_PER_SECOND: '0',
  RATE_LIMIT_LISTS_PER_SECOND: '0',
  RATE_LIMIT_PAGES_PER_SECOND: '0',
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0',
};
let fixtures = 0;

/** Creates a fixture, measures it, and stops its processes in any case. */
export async function inFixture<T>({ stack, step }: Bench, work: (fixture: Fixture) => Promise<T>): Promise<T> {
  fixtures += 1;
  const { url, ownerUrl } = await stack.newDatabase();
  await asOwner(ownerUrl, ...BASELINE_TABLES);
  const db = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const started: Running[] = [];
  const workflows = await openWorkflows(stack);
  const name = `${step}-${fixtures}`;
  try {
    return await work({
      db,
      workflows,
      workflowsEnded: async () => (await workflows.running(`${name}-webhooks`)) === 0,
      workflowsStarted: async () => workflows.started(`${name}-webhooks`),
      asOwner: async (...statements) => asOwner(ownerUrl, ...statements),
      newMerchant: () => newMerchant(db),
      ...(await starters({ stack, url, name, started })),
    });
  } finally {
    await Promise.all(started.map((running) => running.stop()));
    await Promise.all([db.destroy(), workflows.close()]);
  }
}

async function newMerchant(db: Database): Promise<Merchant> {
  const { API_KEY_PEPPER: pepper } = readConfig({ DATABASE_URL: 'unused', TEMPORAL_ADDRESS: 'unused' });
  return db.transaction(async (trx) => {
    const { id: merchantId } = await createMerchant(trx, { name: 'Abyssinia Coffee' });
    const scope = { merchantId, environment: 'sandbox' } as const;
    await grantChannels(trx, scope);
    const deps = { trx, pepper, clock: () => new Date() };
    const { secret: key } = await createKey(deps, { ...scope, kind: 'secret' });
    return { merchantId, key };
  });
}

type Starting = { stack: BenchStack; url: string; name: string; started: Running[] };

async function starters({ stack, url, name, started }: Starting) {
  const [apiPort, simulatorPort] = [await anyFreePort(), await anyFreePort()];
  const origin = `http://127.0.0.1:${apiPort}`;
  const simulatorOrigin = `http://127.0.0.1:${simulatorPort}`;
  const settings = {
    ...NO_LIMITS,
    DATABASE_URL: url,
    TEMPORAL_ADDRESS: stack.temporal.address,
    TASK_QUEUE_PREFIX: `${name}-`,
    PUBLIC_BASE_URL: origin,
    SIMULATOR_URL: simulatorOrigin,
  };
  const command = async (
    word: 'api' | 'worker' | 'simulator',
    more: Record<string, string>,
    isReady: (running: Running) => Promise<boolean>,
  ): Promise<Running> => {
    const ports = { METRICS_PORT: String(await anyFreePort()), CONSOLE_PORT: String(await anyFreePort()) };
    const script = { name: `${name}-${word}-${started.length}`, file: 'src/cli.js', args: [word] };
    const running = await stack.run({ ...script, settings: { ...settings, ...ports, ...more } }, isReady);
    started.push(running);
    return running;
  };
  return {
    startApi: async () => {
      const running = await command('api', { API_PORT: String(apiPort) }, () => isServing(`${origin}/readyz`));
      return { ...running, origin };
    },
    startWorker: (more: Record<string, string> = {}) =>
      command('worker', { WEBHOOK_WORKFLOWS: 'failed', ...more }, async (running) =>
        (await running.output()).includes('workflow workers started'),
      ),
    startSimulator: () =>
      command('simulator', { SIMULATOR_PORT: String(simulatorPort) }, async (running) =>
        (await running.output()).includes('simulator started'),
      ),
    startBaseline: async () => {
      const port = await anyFreePort();
      const at = `http://127.0.0.1:${port}`;
      const args = [String(port), url, simulatorOrigin];
      const script = { name: `${name}-baseline`, file: 'test/bench/baseline.js', args };
      const running = await stack.run(script, () => isServing(`${at}/livez`));
      started.push(running);
      return { ...running, origin: at };
    },
  };
}

async function isServing(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => null);
  await response?.body?.cancel();
  return response?.ok ?? false;
}

/** Waits until the SQL condition is true. */
export async function untilTrue(db: Database, condition: string, withinMs: number): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const [row] = await rows<{ holds: boolean }>(db, `SELECT (${condition}) AS holds`);
    if (row?.holds) return;
    if (Date.now() > deadlineMs) throw new Error(`not true within ${withinMs / 1000} s: ${condition}`);
    await sleep(100);
  }
}
