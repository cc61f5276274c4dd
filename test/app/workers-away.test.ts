import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { buildFixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startProgram, type Program } from '../support/program.ts';
import { withdraw } from '../support/settlements.ts';
import { testStack } from '../support/stack-facts.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

let database: TestDatabase;
const programs: Program[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  for (const program of programs) await program.kill();
  await database.drop();
});

async function startApi(temporalAddress: string): Promise<Program> {
  const port = String(await anyFreePort());
  const settings = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: temporalAddress, API_PORT: port };
  const program = await startProgram('api', settings);
  programs.push(program);
  return program;
}

/** One value per name: NaN where a name is not shown. */
async function figuresOf({ metricsUrl }: Program, names: string[]): Promise<number[]> {
  const text = await (await fetch(metricsUrl)).text();
  return names.map((name) => Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1] ?? NaN));
}

const FIGURES = [
  'meskot_webhook_oldest_overdue_seconds',
  'meskot_outbox_oldest_age_seconds',
  'meskot_withdrawals_oldest_unsent_age_seconds',
  'meskot_temporal_reachable',
];

test('the API reports overdue work while no worker and no Temporal is running', async () => {
  const api = await startApi('127.0.0.1:1');
  await expect(figuresOf(api, FIGURES)).resolves.toEqual([0, 0, 0, 0]);

  const fixture = buildFixture(database.db);
  const scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 100_00n);
  const { id: sentLater } = await withdraw(fixture, scope, 20_00n);
  const { id: underReview } = await withdraw(fixture, scope, 20_00n);
  await rows(
    database.db,
    `UPDATE payout SET approvals_needed = 0, stage = 'CREATED', requested_at = now() - interval '3 hours' WHERE id = :id`,
    { id: sentLater },
  );
  await rows(
    database.db,
    `UPDATE payout SET stage = 'UNDER_REVIEW', requested_at = now() - interval '5 hours' WHERE id = :id`,
    { id: underReview },
  );
  const [eventId, subscriptionId, deliveryId] = [newId('evt'), newId('whs'), newId('whd')];
  await rows(
    database.db,
    `WITH event AS (
       INSERT INTO webhook_event (id, merchant_id, environment, event, api_version, resource_type, resource_id, payload)
       VALUES (:eventId, :merchantId, :environment, 'payment.succeeded', '1', 'transaction', 'txn_1', '')
     ), subscription AS (
       INSERT INTO webhook_subscription (id, merchant_id, environment, url, event_types, secret, secret_hint)
       VALUES (:subscriptionId, :merchantId, :environment, 'https://hooks.example.com', '{*}', '', '')
     )
     INSERT INTO webhook_delivery (id, event_id, subscription_id, merchant_id, environment, event, status, next_attempt_at)
     VALUES (:deliveryId, :eventId, :subscriptionId, :merchantId, :environment, 'payment.succeeded', 'RETRYING',
       now() - interval '1 hour')`,
    { ...scope, eventId, subscriptionId, deliveryId },
  );
  await rows(database.db, `UPDATE outbox SET created_at = now() - interval '2 hours'`);

  // Another process, which has kept no figures yet.
  const late = await figuresOf(await startApi(testStack().temporalAddress), FIGURES);
  const hours = late.map((seconds) => Math.round(seconds / 36) / 100);
  expect(hours.slice(0, 3)).toEqual([1, 2, 3]);
  expect(late[3]).toBe(1);
}, 30_000);

test('figures requested a moment ago are returned from the cache', async () => {
  const api = await startApi('127.0.0.1:1');
  const [before] = await figuresOf(api, ['meskot_outbox_oldest_age_seconds']);
  await rows(database.db, `UPDATE outbox SET created_at = now() - interval '9 hours'`);
  await expect(figuresOf(api, ['meskot_outbox_oldest_age_seconds'])).resolves.toEqual([before]);
}, 30_000);
