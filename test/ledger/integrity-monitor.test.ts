import { setTimeout as sleep } from 'node:timers/promises';

import { createRegistry } from '../../src/http/metrics.ts';
import { createIntegrityMonitor } from '../../src/ledger/verify.ts';
import { rows } from '../../src/lib/db.ts';
import { createTestDatabase } from '../support/database.ts';

const HOUR_MS = 3_600_000;
const going = new AbortController().signal;

test('the monitor verifies the ledger periodically, and logs and counts the violations', async () => {
  const database = await createTestDatabase();
  const registry = createRegistry('test');
  const errors: object[] = [];
  let now = Date.parse('2026-03-02T09:00:00.000Z');
  let sql = `SELECT NULL AS journal, 'one' AS about UNION ALL SELECT 'jrn_2', 'two' ORDER BY about`;
  const checks = [
    { description: 'nothing is wrong', sql: `SELECT NULL AS journal, 'x' AS about WHERE false` },
    {
      description: 'something is right',
      get sql() {
        return sql;
      },
    },
  ];
  const log = { error: (about: object) => void errors.push(about) };
  const clock = () => new Date(now);
  const watch = createIntegrityMonitor(
    { ...database, databaseUrl: database.url, checks, clock, log: log as never, registry },
    HOUR_MS,
  );
  const broken = async () =>
    (await registry.getSingleMetric('meskot_ledger_invariant_violations')?.get())?.values[0]?.value;
  const verifiedAt = async () =>
    (await registry.getSingleMetric('meskot_ledger_last_verification_timestamp_seconds')?.get())?.values[0]?.value;
  try {
    await watch(going);
    expect([await broken(), await verifiedAt()]).toEqual([NaN, 0]);
    now += HOUR_MS;
    await watch(going);
    expect([await broken(), await verifiedAt()]).toEqual([1, now / 1_000]);
    expect(errors).toEqual([{ check: 'something is right', about: 'one', journalId: null, count: 2 }]);
    sql = `SELECT NULL AS journal, 'x' AS about WHERE false`;
    now += HOUR_MS / 2;
    await watch(going);
    expect(await broken()).toBe(1);
    now += HOUR_MS / 2;
    await watch(going);
    expect([await broken(), errors.length]).toEqual([0, 1]);
  } finally {
    await database.drop();
  }
});

test('one process verifies the ledger at a time, and stopping it ends the verification', async () => {
  const database = await createTestDatabase();
  const log = { error: () => {} };
  const checks = [{ description: 'it takes long', sql: `SELECT NULL AS journal, 'x' AS about FROM pg_sleep(60)` }];
  let now = Date.parse('2026-03-02T09:00:00.000Z');
  const deps = { ...database, databaseUrl: database.url, checks, clock: () => new Date(now), log };
  const [first, second] = [createIntegrityMonitor(deps, HOUR_MS), createIntegrityMonitor(deps, HOUR_MS)];
  const looking = async (): Promise<number> => {
    const found = await rows(
      database.db,
      `SELECT pid FROM pg_stat_activity
       WHERE application_name = 'meskot-ledger' AND datname = current_database() AND query LIKE '%pg_sleep%'`,
    );
    return found.length;
  };
  now += HOUR_MS / 6;
  const stopping = new AbortController();
  try {
    const run = first(stopping.signal);
    while ((await looking()) === 0) await sleep(20);
    await second(going);
    expect(await looking()).toBe(1);
    stopping.abort();
    await expect(run).resolves.toBeUndefined();
    expect(await looking()).toBe(0);
  } finally {
    stopping.abort();
    await database.drop();
  }
});
