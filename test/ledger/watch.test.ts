import { createRegistry } from '../../src/http/metrics.ts';
import { createLedgerWatch } from '../../src/ledger/watch.ts';
import { createTestDatabase } from '../support/database.ts';

const HOUR_MS = 3_600_000;

test('the ledger is looked at once in a while, and what is broken is logged and counted', async () => {
  const database = await createTestDatabase();
  const registry = createRegistry('test');
  const errors: object[] = [];
  let now = Date.parse('2026-03-02T09:00:00.000Z');
  let sql = `SELECT NULL AS journal, 'one' AS about UNION ALL SELECT 'jrn_2', 'two' ORDER BY about`;
  const checks = [
    { says: 'nothing is wrong', sql: `SELECT NULL AS journal, 'x' AS about WHERE false` },
    {
      says: 'something is right',
      get sql() {
        return sql;
      },
    },
  ];
  const log = { error: (about: object) => void errors.push(about) };
  const clock = () => new Date(now);
  const watch = createLedgerWatch({ databaseUrl: database.url, checks, clock, log: log as never, registry }, HOUR_MS);
  const broken = async () => (await registry.getSingleMetric('meskot_ledger_checks_broken')?.get())?.values[0]?.value;
  try {
    await watch();
    expect(await broken()).toBeNaN();
    now += HOUR_MS;
    await watch();
    expect(await broken()).toBe(1);
    expect(errors).toEqual([{ check: 'something is right', about: 'one', journalId: null, count: 2 }]);
    sql = `SELECT NULL AS journal, 'x' AS about WHERE false`;
    now += HOUR_MS / 2;
    await watch();
    expect(await broken()).toBe(1);
    now += HOUR_MS / 2;
    await watch();
    expect([await broken(), errors.length]).toEqual([0, 1]);
  } finally {
    await database.drop();
  }
});
