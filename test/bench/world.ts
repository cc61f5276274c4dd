import { setTimeout as sleep } from 'node:timers/promises';

import { createKey } from '../../src/access/api-keys.ts';
import { readConfig } from '../../src/config.ts';
import { type Database, openDatabase, rows } from '../../src/lib/db.ts';
import { anyFreePort } from '../../src/lib/free-port.ts';
import { grantChannels } from '../../src/merchants/channels/operations.ts';
import { createMerchant } from '../../src/merchants/operations.ts';
import { asOwner, type Ground, type Running } from './ground.ts';
import { TWIN_TABLES } from './history.ts';
import type { Sheet } from './sheet.ts';
import { openWorkflows, type Workflows } from './workflows.ts';

/** What a step is given. */
export type Bench = {
  ground: Ground;
  sheet: Sheet;
  say: (line: string) => void;
  /** The second of the two in a short run, which only tries whether everything works. */
  size: (full: number, short: number) => number;
  step: string;
};

export type Server = Running & { origin: string };
export type Merchant = { merchantId: string; key: string };

/** A database of its own, and the processes on it. Each step has one or more, so that none meets what another left. */
export type World = {
  db: Database;
  /** Runs statements as the owner. */
  asOwner: (...statements: string[]) => Promise<void>;
  newMerchant: () => Promise<Merchant>;
  /** Always at the same address, so that it can be started again. */
  startApi: () => Promise<Server>;
  /** Resolves when its workflows are served. */
  startWorker: (settings?: Record<string, string>) => Promise<Running>;
  startTwin: () => Promise<Server>;
  startSimulator: () => Promise<Running>;
  /** Whether no delivery's workflow runs any more; each ask costs Temporal a little. */
  workflowsEnded: () => Promise<boolean>;
  workflows: Workflows;
};

const NO_LIMITS = {
  RATE_LIMIT_SANDBOX_PER_SECOND: '0',
  RATE_LIMIT_LIVE_PER_SECOND: '0',
  RATE_LIMIT_LISTS_PER_SECOND: '0',
  RATE_LIMIT_PAGES_PER_SECOND: '0',
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0',
};
let worlds = 0;

/** Makes a world, has it measured, and stops its processes whatever happens. */
export async function inWorld<T>({ ground, step }: Bench, work: (world: World) => Promise<T>): Promise<T> {
  worlds += 1;
  const { url, ownerUrl } = await ground.newDatabase();
  await asOwner(ownerUrl, ...TWIN_TABLES);
  const db = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const started: Running[] = [];
  const workflows = await openWorkflows(ground);
  const name = `${step}-${worlds}`;
  try {
    return await work({
      db,
      workflows,
      workflowsEnded: async () => (await workflows.running(`${name}-webhooks`)) === 0,
      asOwner: async (...statements) => asOwner(ownerUrl, ...statements),
      newMerchant: () => newMerchant(db),
      ...(await starters({ ground, url, name, started })),
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

type Starting = { ground: Ground; url: string; name: string; started: Running[] };

async function starters({ ground, url, name, started }: Starting) {
  const [apiPort, simulatorPort] = [await anyFreePort(), await anyFreePort()];
  const origin = `http://127.0.0.1:${apiPort}`;
  const settings = {
    ...NO_LIMITS,
    DATABASE_URL: url,
    TEMPORAL_ADDRESS: ground.temporal.address,
    TASK_QUEUE_PREFIX: `${name}-`,
    PUBLIC_BASE_URL: origin,
    SIMULATOR_URL: `http://127.0.0.1:${simulatorPort}`,
  };
  const command = async (
    word: 'api' | 'worker' | 'simulator',
    more: Record<string, string>,
    isReady: (running: Running) => Promise<boolean>,
  ): Promise<Running> => {
    const ports = { METRICS_PORT: String(await anyFreePort()) };
    const script = { name: `${name}-${word}-${started.length}`, file: 'src/cli.js', args: [word] };
    const running = await ground.run({ ...script, settings: { ...settings, ...ports, ...more } }, isReady);
    started.push(running);
    return running;
  };
  return {
    startApi: async () => {
      const running = await command('api', { API_PORT: String(apiPort) }, () => answers(`${origin}/readyz`));
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
    startTwin: async () => {
      const port = await anyFreePort();
      const at = `http://127.0.0.1:${port}`;
      const script = { name: `${name}-twin`, file: 'test/bench/twin.js', args: [String(port), url] };
      const running = await ground.run(script, () => answers(`${at}/livez`));
      started.push(running);
      return { ...running, origin: at };
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => null);
  await response?.body?.cancel();
  return response?.ok ?? false;
}

/** Waits until the database says yes. */
export async function untilTrue(db: Database, question: string, withinMs: number): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const [answer] = await rows<{ yes: boolean }>(db, `SELECT (${question}) AS yes`);
    if (answer?.yes) return;
    if (Date.now() > deadlineMs) throw new Error(`not true within ${withinMs / 1000} s: ${question}`);
    await sleep(100);
  }
}
