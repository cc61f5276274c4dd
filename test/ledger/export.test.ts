import { exportMovements, sumMovements } from '../../src/ledger/balance.ts';
import { DAY_MS } from '../../src/lib/dates.ts';
import { rows, type Queryable } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildMerchant } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.parse('2026-01-01T00:00:00.000Z');

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Payments of 1, 2, 3 … santim with these effective times, posted in this order, 1,000 in a statement. */
async function book(scope: MerchantScope, at: Date[], offset = 0): Promise<void> {
  if (at.length === 0) return;
  await rows(
    database.db,
    `SELECT ledger_post('jrn_' || key, key, 'PAYMENT', :merchantId, :environment, 'ETB', 'transaction', key, at,
              ARRAY['CHANNEL_CLEARING', 'AVAILABLE'], ARRAY['TELEBIRR', NULL], ARRAY[-number, number])
     FROM (SELECT at, number + :offset AS number, CAST(:merchantId AS text) || (number + :offset) AS key
           FROM unnest(CAST(:at AS timestamptz[])) WITH ORDINALITY AS t (at, number) ORDER BY number) AS payment`,
    { ...scope, at: at.slice(0, 1000), offset },
  );
  await book(scope, at.slice(1000), offset + 1000);
}

const periodFrom = (db: Queryable, scope: MerchantScope, fromMs: number) =>
  sumMovements(db, {
    ...scope,
    account: 'available',
    range: { startDate: '', endDate: '', from: new Date(fromMs), until: new Date(fromMs + DAY_MS) },
  });

test('a period opens with the balance before its first movement, in whatever order the effective times arrived', async () => {
  const scope = await buildMerchant(database.db);
  // Every third is posted up to 20 hours late, and some times are equal.
  const at = Array.from({ length: 400 }, (_, index) => {
    const lateHours = index % 3 === 0 ? (index * 5) % 21 : 0;
    return BEGIN_MS + (Math.floor(index / 2) - lateHours) * HOUR_MS;
  });
  await book(
    scope,
    at.map((ms) => new Date(ms)),
  );
  const bookedAt = at.map((_, index) => Math.max(...at.slice(0, index + 1)));
  const sumWhere = (isIn: (ms: number) => boolean): bigint =>
    bookedAt.reduce((sum, ms, index) => sum + (isIn(ms) ? BigInt(index + 1) : 0n), 0n);
  for (let hours = -30; hours < 230; hours += 1) {
    const fromMs = BEGIN_MS + hours * HOUR_MS;
    const openingSantim = sumWhere((ms) => ms < fromMs);
    const amountSantim = sumWhere((ms) => ms >= fromMs && ms < fromMs + DAY_MS);
    expect(await periodFrom(database.db, scope, fromMs)).toEqual({
      count: bookedAt.filter((ms) => ms >= fromMs && ms < fromMs + DAY_MS).length,
      openingSantim,
      amountSantim,
      closingSantim: openingSantim + amountSantim,
    });
  }
});

test('a period of a long history reads few rows for its balances, and lists its movements page by page', async () => {
  const scope = await buildMerchant(database.db);
  await book(
    scope,
    Array.from({ length: 4_000 }, (_, index) => new Date(BEGIN_MS + index * HOUR_MS)),
  );
  const fromMs = BEGIN_MS + 2_000 * HOUR_MS;
  const { count, read } = await database.db.transaction(async (trx) => {
    const readSoFar = async (): Promise<number> => {
      const [counted] = await rows<{ read: number }>(
        trx,
        `SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid))::int AS read FROM pg_index
         WHERE indrelid = 'ledger_entry'::regclass`,
      );
      return counted?.read ?? 0;
    };
    // The counters also contain earlier reads of the connection that it has not reported yet.
    const before = await readSoFar();
    const period = await periodFrom(trx, scope, fromMs);
    return { count: period.count, read: (await readSoFar()) - before };
  });
  expect(count).toBe(24);
  expect(read).toBeGreaterThanOrEqual(24);
  expect(read).toBeLessThan(120);

  const range = { startDate: '', endDate: '', from: new Date(fromMs), until: new Date(fromMs + DAY_MS) };
  const ask = async (after: bigint | null, limit: number) =>
    exportMovements(
      database.db,
      { ...scope, account: 'available', range },
      { after: after === null ? null : { at: String(after), id: '' }, limit },
    );
  const first = await ask(null, 20);
  const second = await ask(first.at(-1)?.sequence ?? 0n, 4);
  expect([...first, ...second].map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 24 }, (_, index) => BigInt(2_024 - index)),
  );
});

test('a merchant without movements opens and closes with zero', async () => {
  const scope = await buildMerchant(database.db);
  expect(await periodFrom(database.db, scope, BEGIN_MS)).toEqual({
    count: 0,
    openingSantim: 0n,
    amountSantim: 0n,
    closingSantim: 0n,
  });
});
