import { measureWorkQueue } from '../../src/backoffice/monitoring.ts';
import { createRegistry } from '../../src/http/metrics.ts';
import { rows } from '../../src/lib/db.ts';
import { buildFixture } from '../support/build.ts';
import { createTestDatabase, runSql } from '../support/database.ts';
import { withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

test('the age of the oldest item of the work queue is measured by kind, without those of the sandbox', async () => {
  const { db, superuserUrl, drop } = await createTestDatabase();
  const figures = async (): Promise<Record<string, number>> => {
    const registry = createRegistry('worker');
    measureWorkQueue(registry, db);
    const text = await registry.metrics();
    const found = text.matchAll(/^meskot_work_queue_oldest_age_seconds\{kind="(\w+)",role="worker"\} (\S+)$/gm);
    return Object.fromEntries([...found].map(([, kind, seconds]) => [kind, Number(seconds)]));
  };
  try {
    const fixture = buildFixture(db);
    const scope = await buildFreeMerchant(fixture);
    await fund(fixture, scope, 100_00n);
    const { id } = await withdraw(fixture, scope, 20_00n);
    const sql = `UPDATE payout SET stage = 'UNDER_REVIEW', requested_at = now() - interval '2 hours' WHERE id = :id`;
    await rows(db, sql, { id });
    const ofSandbox = await figures();
    expect(Object.keys(ofSandbox).length).toBeGreaterThan(10);
    expect(new Set(Object.values(ofSandbox))).toEqual(new Set([0]));

    await runSql(superuserUrl, `SET session_replication_role = replica; UPDATE payout SET environment = 'live'`);
    const { WITHDRAWAL_REVIEW: review = 0, ...others } = await figures();
    expect(Math.round(review / 360) / 10).toBe(2);
    expect(new Set(Object.values(others))).toEqual(new Set([0]));
  } finally {
    await drop();
  }
});
