import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import pg from 'pg';

import { ledgerChecks } from '../../src/ledger-checks.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { openDatabase, rows, type Knex } from '../../src/lib/db.ts';
import { migrate } from '../../src/lib/migrate.ts';
import { createRunChange } from '../../src/lib/outbox.ts';
import { makeDatabaseOnce } from '../../src/local/postgres.ts';
import { BANK_MONEY_WAITING } from '../../src/reconciliation/attention.ts';
import { recordArrival } from '../../src/reconciliation/bank-money.ts';
import { settleBankMoney } from '../../src/reconciliation/settle-bank-money.ts';
import { testStack } from '../support/stack-facts.ts';

const MIGRATIONS = resolve(import.meta.dirname, '../../migrations');
const THIS = '0029-bank-money.sql';
const AT = new Date('2026-03-02T09:00:00.000Z');

const name = `bridge_${randomBytes(4).toString('hex')}`;
const { ownerUrl } = testStack();
const url = ownerUrl.replace(/\/postgres$/, `/${name}`);
let directory: string;
let db: Knex;

/** A database in which one trace id was booked as three things, as it could be before this migration. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'meskot-bridge-'));
  await makeDatabaseOnce(ownerUrl, name);
  const others = (await readdir(MIGRATIONS)).filter((file) => file !== THIS);
  await copy(others.filter((file) => file < THIS));
  await migrate({ url, directory });
  db = openDatabase({ url, poolMax: 2, applicationName: 'test' });
  await bookAsBefore('PROVIDER_TRANSFER', { key: 'transfer:live:TELEBIRR:FT-SAME', channel: 'TELEBIRR' });
  await bookAsBefore('PROVIDER_TRANSFER', { key: 'transfer:live:AWASH:FT-SAME', channel: 'AWASH' });
  await bookAsBefore('UNMATCHED_MONEY', { key: 'unmatched:live:FT-SAME', channel: null });
  await bookAsBefore('UNMATCHED_MONEY', { key: 'unmatched:live:FT-2', channel: null });
  await copy([THIS, ...others.filter((file) => file > THIS)]);
  await migrate({ url, directory });
});
afterAll(async () => {
  await db.destroy();
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  await client.query(`DROP DATABASE ${name} WITH (FORCE)`).finally(() => client.end());
  await rm(directory, { recursive: true });
});

async function copy(files: readonly string[]): Promise<void> {
  for (const file of files) await copyFile(join(MIGRATIONS, file), join(directory, file));
}

async function bookAsBefore(kind: string, { key, channel }: { key: string; channel: string | null }): Promise<void> {
  const account = channel === null ? 'SUSPENSE' : 'CHANNEL_CLEARING';
  await rows(
    db,
    `SELECT ledger_post(:id, :key, :kind, NULL, 'live', 'ETB', 'providerTransfer', :reference, :at,
                        ARRAY['BANK', CAST(:account AS text)], ARRAY[NULL, CAST(:channel AS text)], ARRAY[-100000, 100000])`,
    { id: `jrn_${key}`, key, kind, reference: key.split(':').at(-1) ?? '', at: AT, account, channel },
  );
}

test('what was booked before stands under its trace id, and what was booked twice waits to be corrected', async () => {
  const runChange = createRunChange(db, () => {});
  const broken = () => verifyLedger(db, ledgerChecks);
  const waiting = async () =>
    rows<{ id: string }>(db, `SELECT * FROM (${BANK_MONEY_WAITING.sql}) each WHERE kind = 'TRACE_ID_TWICE'`);
  const arrive = (channel: 'AWASH' | 'CBE_BIRR') => {
    const money = { environment: 'live', amountSantim: 1_000_00n, bankReference: 'FT-SAME', channel, at: AT } as const;
    return runChange((change) => recordArrival(change, money));
  };
  const check = 'what happened outside under one reference is booked once';
  expect(await broken()).toMatchObject([
    { check, count: 1, about: expect.stringContaining('FT-SAME (live) is booked 3') },
  ]);
  expect((await arrive('AWASH')).isNew).toBe(false);
  await expect(arrive('CBE_BIRR')).rejects.toMatchObject({ code: 'DUPLICATE_REFERENCE' });

  const twins = await waiting();
  expect(twins).toHaveLength(2);
  for (const { id } of twins) {
    await runChange((change) => settleBankMoney(change, id, { word: { as: 'CORRECTED' }, at: AT }));
  }
  expect([await waiting(), await broken()]).toEqual([[], []]);
  await expect(arrive('CBE_BIRR')).rejects.toMatchObject({ code: 'DUPLICATE_REFERENCE' });
});
