import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { openDatabase } from '../../src/lib/db.ts';
import { countConfirmPayment, countCreateSession, countCreateWithdrawal, countDelivery } from './counts.ts';
import { judge, type Counts, type Results } from './goals.ts';
import { prepareGround, type Ground } from './ground.ts';
import { measureLists } from './lists.ts';
import { measurePostings } from './postings.ts';
import { tableOf } from './report.ts';
import { measureWebhooks } from './webhooks.ts';
import { createWorld } from './world.ts';

const USAGE = `Usage: npm run bench [-- [--json] [--only webhooks|lists|postings|counts] [--profile <folder>]]
Measures this machine against the goals; about five minutes. Progress goes to stderr, results to stdout.
With --profile each process writes a CPU profile to the folder.
`;

const startedAtMs = Date.now();
const say = (line: string): void => {
  const seconds = Math.round((Date.now() - startedAtMs) / 1000);
  process.stderr.write(`${String(seconds).padStart(4)} s  ${line}\n`);
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean' }, only: { type: 'string' }, profile: { type: 'string' } },
  });
  const { json = false, only, profile } = values;
  if (only !== undefined && !['webhooks', 'lists', 'postings', 'counts'].includes(only)) throw new Error(USAGE);
  if (process.platform !== 'linux')
    throw new Error('The bench reads processor times from /proc: it runs on Linux only.');
  const about = {
    machine: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    node: process.version,
    loadBefore: loadavg()[0]?.toFixed(1) ?? '',
  };
  const ground = await prepareGround({ say, profileFolder: profile && resolve(profile) });
  try {
    const results = await measureAll(ground, only);
    process.stdout.write(
      json ? `${JSON.stringify({ about, ...results, goals: judge(results) }, null, 2)}\n` : tableOf(results, about),
    );
  } finally {
    say('stopping everything');
    await ground.clear();
  }
}

async function measureAll(ground: Ground, only: string | undefined): Promise<Results> {
  say('counting statements');
  const counts = await countAll(ground);
  if (only === 'counts') return { counts };
  const wants = (part: string): boolean => only === undefined || only === part;
  if (wants('postings')) say('the ledger and pgbench in turns');
  const measured = wants('postings') ? await measurePostings(ground) : null;
  if (wants('postings') && measured === null)
    say('there is no pgbench here, so nothing to compare the ledger with: apt-get install postgresql');
  const postings = measured === null ? {} : { postings: measured };
  if (only === 'postings') return { counts, ...postings };
  const world = await createWorld(ground);
  try {
    if (wants('lists')) say('the list of 50 and its twin in turns');
    const lists = wants('lists') ? { lists: await measureLists(world) } : {};
    const webhooks = wants('webhooks') ? { webhooks: await measureWebhooks({ world, say }) } : {};
    return { ...webhooks, ...lists, ...postings, counts };
  } finally {
    await world.close();
  }
}

/** Each in a database of its own: what one leaves in the outbox, the next one would deliver. */
async function countAll(ground: Ground): Promise<Counts> {
  const inFreshDatabase = async <T>(count: (db: ReturnType<typeof openDatabase>) => Promise<T>): Promise<T> => {
    const db = openDatabase({ url: await ground.newDatabase(), poolMax: 5, applicationName: 'bench' });
    try {
      return await count(db);
    } finally {
      await db.destroy();
    }
  };
  return {
    createSession: await inFreshDatabase(countCreateSession),
    confirmPayment: await inFreshDatabase(countConfirmPayment),
    directDelivery: await inFreshDatabase((db) => countDelivery(db, 'failed')),
    createWithdrawal: await inFreshDatabase(countCreateWithdrawal),
    workflowDelivery: await inFreshDatabase((db) => countDelivery(db, 'every')),
  };
}

const exitCode = await main().then(
  () => 0,
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return 1;
  },
);
// Not left to the event loop: Temporal's client keeps it turning for a while.
process.exit(exitCode);
