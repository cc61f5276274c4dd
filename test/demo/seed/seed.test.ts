import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { listKeys, revokeKey } from '../../../src/access/api-keys.ts';
import { createKeyAuthenticator } from '../../../src/access/authenticate.ts';
import { readConfig } from '../../../src/config.ts';
import { ABYSSINIA, NEW_SHOP } from '../../../src/demo/seed/demo.ts';
import { subscriptionDeps, type DemoSecrets } from '../../../src/demo/seed/merchants.ts';
import { seedDemo } from '../../../src/demo/seed/seed.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { DAY_MS } from '../../../src/lib/dates.ts';
import { rows } from '../../../src/lib/db.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createTransactionRunner, type OutboxRow } from '../../../src/outbox/record.ts';
import { transactionStatusOf, type SessionStatus } from '../../../src/payments/states.ts';
import { findRecoverableAttempts } from '../../../src/payments/workflow.ts';
import { WITHDRAWAL_STATUSES } from '../../../src/payouts/withdrawals/states.ts';
import { SETTLEMENT_STATUSES } from '../../../src/settlements/states.ts';
import { requestResend } from '../../../src/webhooks/delivery/resend.ts';
import { findRecoverableDeliveries } from '../../../src/webhooks/delivery/workflow.ts';
import { createSubscription, listSubscriptions } from '../../../src/webhooks/subscriptions/operations.ts';
import { runSql, createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { expectLedgerHolds } from '../../support/ledger.ts';
import { expectDaysLeadOn } from './days.ts';
import { findDeadLetters } from './dead-letters.ts';
import { PAYMENTS, seedAndKill } from './killed.ts';
import { LEGAL, undeclaredEntries } from './legal-timelines.ts';
import { expectSimulatorOwes } from './simulated.ts';

const WEBHOOK_URL = 'http://localhost:4003/webhooks';
const SEEDED_WITHIN_MS = 120_000;

describe('the demo data after a killed first run', () => {
  let database: TestDatabase;
  let credentials: DemoSecrets;
  let seededBeforeKill: number;
  let folder: string;

  const folders = () => ({ KYC_DOCUMENTS_DIR: folder, REPORTS_DIR: `${folder}-reports` });
  const config = () => readConfig({ DATABASE_URL: database.url, TEMPORAL_ADDRESS: 'nowhere:1', ...folders() });
  const seed = (previous: Partial<DemoSecrets>, webhookUrl = WEBHOOK_URL) =>
    seedDemo({ config: config(), previous, payments: PAYMENTS, webhookUrl, onProgress: () => {} });
  const count = async (table: string, where = 'true') =>
    (await rows<{ count: number }>(database.db, `SELECT count(*)::int FROM ${table} WHERE ${where}`))[0]?.count ?? 0;
  const ofAbyssinia = `merchant_id = '${ABYSSINIA.scope.merchantId}'`;

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'meskot-seed-'));
    await seedAndKill(database.url, folders());
    seededBeforeKill = await count('transaction');
    credentials = await seed({});
  }, SEEDED_WITHIN_MS);
  afterAll(async () => {
    await database.drop();
    for (const one of Object.values(folders())) await rm(one, { recursive: true });
  });

  test('is completed by the next run, without duplicates', async () => {
    expect(seededBeforeKill).toBeGreaterThan(0);
    expect(seededBeforeKill).toBeLessThan(PAYMENTS);
    expect(await count('transaction', ofAbyssinia)).toBe(PAYMENTS);
    expect(await count('merchant')).toBe(2);
  });

  test('has one merchant approved for live, and one whose application is submitted', async () => {
    const found = await rows(
      database.db,
      `SELECT m.name, m.kyc_status, a.status, a.tier, has_sandbox_payment(m.id) AS has_paid
       FROM merchant m JOIN kyc_application a ON a.merchant_id = m.id AND a.environment = 'live' ORDER BY m.name`,
    );
    expect(found).toEqual([
      { name: ABYSSINIA.name, kycStatus: 'APPROVED', status: 'APPROVED', tier: 2, hasPaid: true },
      { name: NEW_SHOP.name, kycStatus: 'SUBMITTED', status: 'SUBMITTED', tier: 0, hasPaid: true },
    ]);
    expect(await readdir(folder)).toHaveLength(6);
  });

  test('has every status as often as it should', async () => {
    const expected = { SUCCESS: 86, FAILED: 6, EXPIRED: 4, CANCELLED: 3, PENDING: 1 };
    for (const [status, percent] of Object.entries(expected)) {
      const found = (await count('transaction', `${ofAbyssinia} AND status = '${status}'`)) / (PAYMENTS / 100);
      expect(Math.abs(found - percent)).toBeLessThan(0.2);
    }
    expect(await count('transaction', 'confirmed_late')).toBeGreaterThan(0);
    expect(await count('checkout_session', "attempts_count = 3 AND status = 'FAILED'")).toBeGreaterThan(0);
  });

  test('has only legal timelines with declared entries, whose times never go back', async () => {
    expect(await undeclaredEntries(database.db)).toEqual([]);
    const found = await rows<{ session: SessionStatus; transaction: string; kinds: string; forward: boolean }>(
      database.db,
      `SELECT s.status AS session, t.status AS transaction, string_agg(l.kind, ' ' ORDER BY l.id) AS kinds,
              array_agg(l.occurred_at ORDER BY l.id) = array_agg(l.occurred_at ORDER BY l.occurred_at, l.id) AND min(l.occurred_at) = t.created_at AS forward
       FROM transaction t JOIN checkout_session s ON s.transaction_id = t.id
       JOIN timeline l ON l.resource_id = t.id GROUP BY s.id, t.id`,
    );
    expect(found).toHaveLength(PAYMENTS + NEW_SHOP.plan.count);
    for (const { session, transaction, kinds, forward } of found) {
      expect(transaction).toBe(transactionStatusOf(session));
      expect(forward).toBe(true);
      expect(kinds).toMatch(LEGAL[session]);
    }
    expect(await count('transaction', `created_at > now() OR created_at < now() - interval '91 days'`)).toBe(0);
  });

  test('has withdrawals and settlements in every status, and a consistent ledger', async () => {
    const each = async (one: string, table: string, where: object = {}) =>
      (await database.db.knex()(table).where(where).distinct({ one })).map((row) => String(row.one)).toSorted();
    expect(await each('status', 'payout', { kind: 'withdrawal' })).toEqual([...WITHDRAWAL_STATUSES].toSorted());
    expect(await each('status', 'settlement')).toEqual([...SETTLEMENT_STATUSES].toSorted());
    expect(await count('payout', "kind = 'withdrawal' AND stage IN ('UNDER_REVIEW', 'SUBMITTED')")).toBe(2);
    expect(await each('action', 'operator_audit')).toContain('settlement.failed');
    await expectLedgerHolds(database.db);
  });

  test('pays the payee of the withdrawal in README.md under no other name, so that it needs no review', async () => {
    const example = /"phone": "0(\d+)", "accountName": "([^"]+)"/.exec(await readFile('README.md', 'utf8'));
    const [, phone = '', name = ''] = example ?? [];
    const names = await rows(database.db, `SELECT DISTINCT account_name FROM payout WHERE phone = '251${phone}'`);
    expect(names).toEqual([{ accountName: name }]);
  });

  test('has a refund that was paid and one that failed, a held payment, and a receipt that nobody has allocated', async () => {
    const sql = `SELECT status, failure ->> 'code' AS code FROM payout WHERE kind = 'refund' ORDER BY 1`;
    expect(await rows(database.db, sql)).toEqual([
      { status: 'FAILED', code: 'DECLINED' },
      { status: 'SUCCESS', code: null },
    ]);
    expect(await count('transaction', 'hold_reason IS NOT NULL')).toBe(1);
    expect([await count('bank_receipt', "kind = 'UNALLOCATED'"), await count('reconciliation')]).toEqual([1, 3]);
  });

  test('has a closing balance of each day that its movements add up to and the next day opens with', async () => {
    for (const { scope } of [ABYSSINIA, NEW_SHOP]) await expectDaysLeadOn(database.db, scope);
  });

  test('has two finished reports of each merchant with their files', async () => {
    const where = "status = 'READY' AND total_rows > 5";
    expect(await count('report')).toBe(await count('report', where));
    expect(await count('report', ofAbyssinia)).toBe(2);
    expect(await readdir(folders().REPORTS_DIR)).toHaveLength(4);
  });

  test('is in the simulator, whose debts equal the ledger but for one unknown payment', async () => {
    await expectSimulatorOwes(database.db, join(folder, 'simulator.jsonl'));
  });

  test('has exactly one event for every ended transaction', async () => {
    const ends = {
      SUCCESS: 'checkout.completed',
      FAILED: 'checkout.failed',
      CANCELLED: 'checkout.canceled',
    };
    for (const [status, event] of Object.entries(ends)) {
      const enqueued = await count('webhook_event', `event = '${event}'`);
      expect(enqueued).toBe(await count('transaction', `status = '${status}'`));
    }
    expect(await count('webhook_event', `event = 'checkout.expired'`)).toBe(
      await count('transaction', `status = 'EXPIRED' OR confirmed_late`),
    );
  });

  test('leaves only two due last retries, the open payouts and the comparison of yesterday to Temporal', async () => {
    const waiting = await rows<{ type: string; attemptsMade: string | null }>(
      database.db,
      `SELECT workflow_type AS type, input ->> 'attemptsMade' AS attempts_made FROM outbox ORDER BY 1`,
    );
    const money = (type: string, count: number) => Array.from({ length: count }, () => ({ type, attemptsMade: null }));
    const lastRetry = { type: 'webhookDelivery', attemptsMade: '5' };
    expect(waiting).toEqual([
      ...money('reconciliation', 3),
      ...money('settlement', 3),
      lastRetry,
      lastRetry,
      ...money('withdrawal', 2),
    ]);
    expect(await findRecoverableAttempts(database.db, { after: '', limit: 10, onlyPastDue: false })).toEqual([]);
    expect(await findRecoverableDeliveries(database.db, { after: '', limit: 10, onlyPastDue: false })).toEqual([]);
    const flaky = `subscription_id IN (SELECT id FROM webhook_subscription WHERE url LIKE '%/flaky')`;
    const due = `status = 'RETRYING' AND attempts = 5 AND next_attempt_at < now()`;
    expect(await count('webhook_delivery', `${due} AND ${flaky}`)).toBe(2);
    expect(await count('webhook_delivery', 'in_flight_since IS NOT NULL')).toBe(0);
    // Open sessions are valid for hours, so that the sweeper expires none at once.
    const stale = `status = 'OPEN' AND expires_at < now() + interval '10 hours'`;
    expect(await count('checkout_session', stale)).toBe(0);
  });

  test('has five dead letters, each after six attempts over 14 h 36 min, that can be resent', async () => {
    const dead = await findDeadLetters(database.db);
    expect(dead).toHaveLength(5);
    for (const { url, attempts, hours } of dead) {
      expect({ url, attempts }).toEqual({ url: WEBHOOK_URL, attempts: 6 });
      expect(Number(hours)).toBeGreaterThan(14.6);
      expect(Number(hours)).toBeLessThan(14.7);
    }
    const enqueued: OutboxRow[] = [];
    const runInTransaction = createTransactionRunner(database.db, (messages) => void enqueued.push(...messages));
    const undone = runInTransaction(async (tx) => {
      const request = { eventId: dead[0]?.eventId ?? '', scope: ABYSSINIA.scope };
      expect(await requestResend({ clock: systemClock }, tx, request)).toHaveLength(1);
      throw new Error('as it was');
    });
    await expect(undone).rejects.toThrow('as it was');
  });

  test('has a healthy, a flaky and an inactive subscription', async () => {
    const subscriptions = await listSubscriptions(database.db, ABYSSINIA.scope);
    const facts = await Promise.all(
      subscriptions.map(async ({ id, active, consecutiveFailures, throttledUntil }) => ({
        active,
        troubled: consecutiveFailures > 0 || throttledUntil !== null,
        retried: await count('webhook_delivery', `subscription_id = '${id}' AND status = 'DELIVERED' AND attempts > 1`),
        delivered: await count('webhook_delivery', `subscription_id = '${id}' AND status = 'DELIVERED'`),
        skipped: await count('webhook_delivery', `subscription_id = '${id}' AND status = 'SKIPPED'`),
      })),
    );
    expect(facts.toSorted((a, b) => b.delivered - a.delivered)).toEqual([
      { active: true, troubled: false, retried: 0, delivered: expect.any(Number), skipped: 0 },
      { active: true, troubled: false, retried: expect.any(Number), delivered: expect.any(Number), skipped: 0 },
      { active: false, troubled: false, retried: 0, delivered: 0, skipped: expect.any(Number) },
    ]);
    expect(facts.filter((one) => one.retried > 0 && one.retried < one.delivered)).toHaveLength(1);
    expect(facts.filter((one) => one.skipped > 0)).toHaveLength(1);
  });

  test('has a new shop with a submitted application, one channel, 40 payments and no key', async () => {
    const id = `merchant_id = '${NEW_SHOP.scope.merchantId}'`;
    expect(await count('merchant', `id = '${NEW_SHOP.scope.merchantId}' AND kyc_status = 'SUBMITTED'`)).toBe(1);
    expect(await count('merchant_channel', `${id} AND enabled`)).toBe(1);
    expect(await count('transaction', `${id} AND created_at > now() - interval '${15 * DAY_MS} milliseconds'`)).toBe(
      40,
    );
    expect(await count('api_key', id)).toBe(0);
  });

  test('is unchanged by another run, which returns the stored credentials', async () => {
    const tables = ['transaction', 'webhook_event', 'api_key', 'webhook_subscription', 'timeline'];
    const before = await Promise.all(tables.map((table) => count(table)));
    expect(await seed(credentials)).toEqual(credentials);
    expect(await Promise.all(tables.map((table) => count(table)))).toEqual(before);
  });

  test('gets new subscription URLs when the demo shop changes its port', async () => {
    const moved = 'http://localhost:4711/webhooks';
    expect(await seed(credentials, moved)).toEqual(credentials);
    const urls = (await listSubscriptions(database.db, ABYSSINIA.scope)).map((one) => one.url).toSorted();
    expect(urls).toEqual(['http://localhost:4711/flaky', moved, 'https://old-shop.example.com/webhooks']);
    await seed(credentials);
  });

  test('keeps the URL of a subscription of the developer when the demo shop changes its port', async () => {
    const settings = config();
    const runInTransaction = createTransactionRunner(database.db, () => {});
    const own = await runInTransaction(async (tx) =>
      createSubscription(subscriptionDeps(settings, systemClock()), tx, {
        ...ABYSSINIA.scope,
        url: 'http://localhost:3000/webhooks',
        eventTypes: ['*'],
        active: true,
        description: 'Mine',
        signatureEncoding: 'base64',
        headers: {},
      }),
    );
    await seed(credentials, 'http://localhost:4711/webhooks');
    const found = await listSubscriptions(database.db, ABYSSINIA.scope);
    expect(found.find((one) => one.id === own.row.id)?.url).toBe('http://localhost:3000/webhooks');
    await seed(credentials);
    await runSql(database.ownerUrl, `DELETE FROM webhook_subscription WHERE id = '${own.row.id}'`);
  });

  test('gets new credentials when the old ones were lost or revoked', async () => {
    const renewed = await seed({});
    expect(renewed.sandboxKey).not.toBe(credentials.sandboxKey);
    expect(renewed.webhookSecret).not.toBe(credentials.webhookSecret);
    expect(await authenticates(renewed.sandboxKey)).toBe(ABYSSINIA.scope.merchantId);
    expect(await seed(credentials)).toMatchObject({ sandboxKey: credentials.sandboxKey });

    const [newest] = await listKeys(database.db, ABYSSINIA.scope);
    await database.db.transaction(async (trx) => revokeKey({ trx, clock: systemClock }, newest?.id ?? ''));
    const again = await seed(renewed);
    expect(again.sandboxKey).not.toBe(renewed.sandboxKey);
    expect(await authenticates(again.sandboxKey)).toBe(ABYSSINIA.scope.merchantId);
  });

  async function authenticates(key: string): Promise<string> {
    const log = createLogger('silent', 'test');
    const keys = createKeyAuthenticator({
      db: database.db,
      peppers: [config().API_KEY_PEPPER],
      clock: systemClock,
      log,
    });
    const caller = await keys.authenticateKey(key, '127.0.0.1');
    await keys.flush();
    return caller.kind === 'key' ? caller.merchantId : caller.operatorId;
  }
});
