import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import pg from 'pg';

import { LEDGER_CHECKS, verifyLedger } from '../../src/ledger/verify.ts';
import { openDatabase, rows, type Knex } from '../../src/lib/db.ts';
import { migrate } from '../../src/lib/migrate.ts';
import { makeDatabaseOnce } from '../../src/local/postgres.ts';
import { testStack } from '../support/stack-facts.ts';

const MIGRATIONS = resolve(import.meta.dirname, '../../migrations');
const FIRST = '0044-ledger-entries-in-order-of-time.sql';

const name = `order_${randomBytes(4).toString('hex')}`;
const { ownerUrl } = testStack();
const url = ownerUrl.replace(/\/postgres$/, `/${name}`);
let directory: string;
let db: Knex;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'meskot-order-'));
  await makeDatabaseOnce(ownerUrl, name);
  await copy((file) => file < FIRST);
  await migrate({ url, directory });
  db = openDatabase({ url, poolMax: 2, applicationName: 'test' });
  await rows(db, `INSERT INTO merchant (id, name) VALUES ('mrc_1', 'One'), ('mrc_2', 'Two')`);
});
afterAll(async () => {
  await db.destroy();
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  await client.query(`DROP DATABASE ${name} WITH (FORCE)`).finally(() => client.end());
  await rm(directory, { recursive: true });
});

async function copy(isWanted: (file: string) => boolean): Promise<void> {
  for (const file of (await readdir(MIGRATIONS)).filter(isWanted)) {
    await copyFile(join(MIGRATIONS, file), join(directory, file));
  }
}

const atMinute = (minute: number): Date => new Date(Date.parse('2026-03-02T09:00:00.000Z') + minute * 60_000);

async function book(merchantId: string, minute: number): Promise<void> {
  await rows(
    db,
    `SELECT ledger_post(:id, :id, 'PAYMENT', :merchantId, 'sandbox', 'ETB', 'transaction', :id, :at,
              ARRAY['CHANNEL_CLEARING', 'AVAILABLE'], ARRAY['TELEBIRR', NULL], CAST(ARRAY[-100, 100] AS bigint[]))`,
    { id: `jrn_${merchantId}_${minute}`, merchantId, at: atMinute(minute) },
  );
}

const minutesOf = async (merchantId: string) => {
  const found = await rows<{ fact: number; available: number; clearing: number }>(
    db,
    `SELECT extract(epoch FROM j.at - :start)::int / 60 AS fact, extract(epoch FROM a.at - :start)::int / 60 AS available,
            extract(epoch FROM c.at - :start)::int / 60 AS clearing
     FROM ledger_journal j JOIN ledger_entry a ON a.journal_id = j.id AND a.sequence IS NOT NULL
     JOIN ledger_entry c ON c.journal_id = j.id AND c.sequence IS NULL
     WHERE j.merchant_id = :merchantId ORDER BY a.sequence`,
    { merchantId, start: atMinute(0) },
  );
  return found.map(({ fact, available, clearing }) => [fact, available, clearing]);
};

test('entries from before the rule get the time they were booked at, and those after it go on from there', async () => {
  for (const minute of [10, 5, 20, 19, 30]) await book('mrc_1', minute);
  await book('mrc_2', 1);
  await copy((file) => file >= FIRST);
  await migrate({ url, directory });
  await book('mrc_1', 25);
  await book('mrc_2', 2);
  expect(await minutesOf('mrc_1')).toEqual([
    [10, 10, 10],
    [5, 10, 10],
    [20, 20, 20],
    [19, 20, 20],
    [30, 30, 30],
    [25, 30, 30],
  ]);
  expect(await minutesOf('mrc_2')).toEqual([
    [1, 1, 1],
    [2, 2, 2],
  ]);
  expect(await verifyLedger(db, LEDGER_CHECKS)).toEqual([]);
  const changed = rows(db, `UPDATE ledger_entry SET at = now()`);
  await expect(changed).rejects.toMatchObject({ code: 'MK002' });
});
