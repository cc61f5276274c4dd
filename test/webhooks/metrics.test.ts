import { createRegistry } from '../../src/http/metrics.ts';
import { openDatabase, rows } from '../../src/lib/db.ts';
import { OUTBOX_PRIORITIES } from '../../src/outbox/record.ts';
import { countOutcomes, measureDeliveries } from '../../src/webhooks/delivery/metrics.ts';
import { createTestDatabase } from '../support/database.ts';

const GAUGES = [
  'meskot_webhook_oldest_overdue_seconds',
  'meskot_webhook_deliveries_pending',
  'meskot_webhook_dead_letters_pending',
  'meskot_outbox_pending',
  'meskot_outbox_oldest_age_seconds',
  'meskot_webhook_workflow_starts_pending',
  'meskot_webhook_workflow_starts_oldest_age_seconds',
];

test('attempts are counted by the state of the delivery after them, and other states are 0', async () => {
  const registry = createRegistry('worker');
  const count = countOutcomes(registry);
  const recorded = { retryCount: 1, nextAttemptAt: null, lastAttemptAt: null, httpStatus: null, failure: null };
  count({ ...recorded, status: 'DELIVERED' }, { ok: true });
  count({ ...recorded, status: 'RETRYING' }, { ok: false });
  count({ ...recorded, status: 'FAILED' }, { ok: false });
  const text = await registry.metrics();
  for (const [outcome, times] of Object.entries({ delivered: 1, retrying: 1, failed: 1 })) {
    expect(text).toContain(`meskot_webhook_deliveries_total{outcome="${outcome}",role="worker"} ${times}\n`);
  }
});

describe('the gauges of deliveries', () => {
  test('are 0 in an empty database', async () => {
    const database = await createTestDatabase();
    const registry = createRegistry('worker');
    measureDeliveries(registry, database.db);
    const text = await registry.metrics().finally(database.drop);
    for (const name of GAUGES) expect(text).toContain(`${name}{role="worker"} 0\n`);
  });

  test('have the oldest message to Temporal, and apart from it workflows of delivered events that wait', async () => {
    const { db, drop } = await createTestDatabase();
    const insert = `INSERT INTO outbox (id, kind, workflow_type, workflow_id, priority, created_at)
      VALUES (:id, 'start', 'payment', :id, CAST(:priority AS integer), now() - CAST(:age AS integer) * interval '1 second')`;
    await rows(db, insert, { id: 'obx_2', priority: OUTBOX_PRIORITIES.money, age: 50 });
    await rows(
      db,
      `INSERT INTO webhook_workflow_start (delivery_id, input, created_at)
       SELECT 'whd_' || i, '{}', now() - i * interval '100 seconds' FROM generate_series(1, 3) i`,
    );
    const registry = createRegistry('worker');
    measureDeliveries(registry, db);
    const text = await registry.metrics().finally(drop);
    expect(text).toMatch(/meskot_outbox_oldest_age_seconds\{role="worker"\} 5\d/);
    expect(text).toContain('meskot_webhook_workflow_starts_pending{role="worker"} 3\n');
    expect(text).toMatch(/meskot_webhook_workflow_starts_oldest_age_seconds\{role="worker"\} 10\d/);
  });

  test('are NaN while the database is unavailable, and the other metrics are served', async () => {
    const db = openDatabase({ url: 'postgresql://127.0.0.1:1/away', poolMax: 1, applicationName: 'test' });
    const registry = createRegistry('worker');
    measureDeliveries(registry, db);
    const text = await registry.metrics().finally(() => db.destroy());
    for (const name of GAUGES) expect(text).toMatch(new RegExp(`${name}\\{role="worker"\\} (NaN|Nan)\\n`));
    expect(text).toContain('process_cpu_seconds_total');
  });
});
