import { execFile } from 'node:child_process';
import { access, readdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import { environment } from '../../src/config.ts';
import { paymentFact } from '../../src/ledger/facts.ts';
import { postLast } from '../../src/ledger/post.ts';
import { openDatabase, type Knex } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { createRunChange } from '../../src/lib/outbox.ts';
import { asOwner, type Ground } from './ground.ts';
import { hundredths, middle } from './numbers.ts';

const CLIENTS = 16;
const SECONDS = 5;
const ROUNDS = 3;
const MERCHANTS = 200;
/** One of several hundred, or one that gets everything. */
const SPREADS = { many: MERCHANTS, hot: 1 } as const;

/** Payments booked in a second: by our own operation, and by pgbench with the same SQL function. */
type Rate = { ours: number; pgbench: number; ratio: number };
export type Postings = Record<keyof typeof SPREADS, Rate>;

/** Books payments as fast as it goes, in turns with pgbench on the same server; null where there is no pgbench. */
export async function measurePostings(ground: Ground): Promise<Postings | null> {
  const pgbench = await findPgbench();
  if (pgbench === null) return null;
  const url = await ground.newDatabase();
  const ownerUrl = ground.postgres.url(new URL(url).pathname.slice(1), 'owner');
  await asOwner(
    ownerUrl,
    `INSERT INTO merchant (id, name) SELECT 'mrc_' || n, 'Bench' FROM generate_series(1, ${MERCHANTS}) n`,
  );
  const db = openDatabase({ url, poolMax: CLIENTS, applicationName: 'bench' });
  try {
    const measured = async (merchants: number): Promise<Rate> => {
      const script = join(ground.folder, `posting-${merchants}.sql`);
      await writeFile(script, pgbenchScript(merchants));
      const rounds: Rate[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const ours = await bookFor(db, merchants);
        const theirs = await runPgbench(pgbench, { script, url });
        rounds.push({ ours, pgbench: theirs, ratio: hundredths(ours / theirs) });
      }
      return middle(rounds, ({ ratio }) => ratio);
    };
    return { many: await measured(SPREADS.many), hot: await measured(SPREADS.hot) };
  } finally {
    await db.destroy();
  }
}

/** How many payments a second {@link CLIENTS} callers book, each in a change of its own, as confirming one does. */
async function bookFor(db: Knex, merchants: number): Promise<number> {
  const runChange = createRunChange(db, () => {});
  const endMs = Date.now() + SECONDS * 1_000;
  let booked = 0;
  const caller = async (): Promise<void> => {
    while (Date.now() < endMs) {
      const fact = paymentFact({
        merchantId: `mrc_${1 + Math.floor(Math.random() * merchants)}`,
        environment: 'sandbox',
        transactionId: newId('txn'),
        channel: 'TELEBIRR',
        amountSantim: 100_00n,
        feeSantim: 2_50n,
        feeTaxSantim: 38n,
      });
      await runChange((change) => postLast(change, fact, new Date()));
      booked += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, caller));
  return Math.round(booked / SECONDS);
}

function pgbenchScript(merchants: number): string {
  return `\\set merchant random(1, ${merchants})
SELECT ledger_post('jrn_' || gen_random_uuid(), 'payment:' || gen_random_uuid(), 'PAYMENT', 'mrc_' || :merchant, 'sandbox',
  'ETB', 'transaction', 'txn_' || gen_random_uuid(), now(),
  ARRAY['CHANNEL_CLEARING', 'AVAILABLE', 'FEE_REVENUE', 'TAX_PAYABLE'], ARRAY['TELEBIRR', NULL, NULL, NULL],
  ARRAY[-10000, 9712, 250, 38]);
`;
}

async function runPgbench(pgbench: string, { script, url }: { script: string; url: string }): Promise<number> {
  const options = ['--no-vacuum', '--protocol=prepared', `--client=${CLIENTS}`, '--jobs=2', `--time=${SECONDS}`];
  const { stdout } = await promisify(execFile)(pgbench, [...options, `--file=${script}`, url]);
  const perSecond = Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  if (!(perSecond > 0)) throw new Error(`pgbench said nothing of its rate:\n${stdout}`);
  return Math.round(perSecond);
}

/** On the PATH, or where Debian keeps it. */
async function findPgbench(): Promise<string | null> {
  const debian = '/usr/lib/postgresql';
  const versions = (await readdir(debian).catch(() => [])).toSorted((a, b) => Number(b) - Number(a));
  const folders = [
    ...(environment['PATH'] ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  for (const folder of folders) {
    const file = join(folder, 'pgbench');
    if (
      await access(file).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  return null;
}
