import { DAY_MS } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { clearReconciliationFlag } from '../../src/payments/close-session.ts';
import { acceptHeldPayment, returnHeldPayment } from '../../src/payments/holds.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { TIMELINE } from '../../src/payments/timeline.ts';
import { transactionRoutes } from '../../src/payments/transaction-routes.ts';
import {
  ACCEPTED,
  buildAttempt,
  buildMerchant,
  buildPendingPayment,
  buildFixture,
  declined,
  PAID,
  UNKNOWN,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';

const WRONG = { ...PAID, amountSantim: 1n };

type Entry = { kind: string; detail: Record<string, unknown> };

describe('one transaction', () => {
  let database: TestDatabase;
  let fixture: Fixture;
  let scope: MerchantScope;
  let server: TestServer;

  beforeAll(async () => {
    database = await createTestDatabase();
    fixture = buildFixture(database.db);
    scope = await buildMerchant(database.db);
    await rows(
      database.db,
      `INSERT INTO webhook_subscription (id, merchant_id, environment, url, event_types, active, secret, secret_hint)
       VALUES ('${newId('whs')}', :merchantId, :environment, 'https://hooks.example.com', '{*}', true, '', '')`,
      scope,
    );
    const routes = [...checkoutRoutes(fixture), ...transactionRoutes(fixture)];
    server = await startTestServer(
      testServerDeps(database.db, { routes, clock: fixture.clock }),
      stubKey(scope.merchantId),
    );
  });
  afterAll(async () => {
    await server.close();
    await database.drop();
  });

  const check = (attemptId: string) => fixture.checkAttempt(attemptId, { notifyWorkflow: true });
  const read = (transactionId: string) => server.send('GET', `/api/checkout/txns/${transactionId}`);
  const claim = (kind: string, sessionId: string, body: object) =>
    server.send('POST', `/api/checkout/hooks/${kind}/${sessionId}`, { body });

  /** A declined try, a second one that is paid, and then money on the first after all. */
  async function paidTwice(late: typeof PAID) {
    const first = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(declined(true), ACCEPTED, PAID);
    await check(first.attemptId);
    fixture.pass(1_000);
    const second = await buildAttempt(fixture, { ...scope, sessionId: first.sessionId });
    await check(second);
    await check(second);
    fixture.provider.returns(late);
    await check(first.attemptId);
    return first;
  }

  test('lists every kind of timeline entry with its whole detail', async () => {
    const words = { claimedStatus: 'PAID', reason: 'the customer says so', providerReference: 'X-1' };
    const held = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(WRONG);
    await check(held.attemptId);
    await claim('error', held.sessionId, {});
    await claim('success', held.sessionId, words);
    const cancelled = await buildPendingPayment(fixture, scope);
    await claim('cancel', cancelled.sessionId, { reason: 'changed my mind' });
    const withdrawn = await buildPendingPayment(fixture, scope);
    await fixture.closeUnpaid(withdrawn.sessionId, 'OPEN');
    const expired = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(UNKNOWN);
    fixture.pass(2 * DAY_MS);
    await fixture.expireAttempt(expired.attemptId, fixture.clock());
    const [twice, twiceWrong] = [await paidTwice(PAID), await paidTwice(WRONG)];
    const at = fixture.clock();
    await fixture.runInTransaction((tx) => acceptHeldPayment(tx, { ...twice, at }));
    await fixture.runInTransaction((tx) => returnHeldPayment(tx, { ...twiceWrong, at, reason: 'x', reference: 'R-1' }));
    await fixture.runInTransaction((tx) =>
      clearReconciliationFlag(tx, { transactionIds: [expired.transactionId], at }),
    );
    const all = [held, cancelled, withdrawn, expired, twice, twiceWrong];

    const kinds = new Set<string>();
    for (const { transactionId } of all) {
      const { body, status } = await read(transactionId);
      expect([status, body.message]).toEqual([200, 'Transaction retrieved']);
      const written = await rows<Entry>(
        database.db,
        'SELECT kind, detail FROM timeline WHERE resource_id = :transactionId ORDER BY id',
        { transactionId },
      );
      expect(body.data.timeline.map(({ kind, detail }: Entry) => ({ kind, detail }))).toEqual(written);
      for (const { kind } of written) kinds.add(kind);
    }
    // Those of refunds: test/payouts/refunds/doubt.test.ts.
    const own = Object.keys(TIMELINE).filter((kind) => !kind.startsWith('refund.'));
    expect([...kinds].toSorted()).toEqual(own.toSorted());
  });

  test('lists the deliveries of its events with all their fields', async () => {
    const { transactionId } = await buildPendingPayment(fixture, scope);
    expect((await read(transactionId)).body.data.deliveries).toEqual([
      {
        eventId: expect.stringMatching(/^evt_/),
        event: 'payment.created',
        createdAt: fixture.clock().toISOString(),
        deliveryId: expect.stringMatching(/^whd_/),
        subscriptionId: expect.stringMatching(/^whs_/),
        url: 'https://hooks.example.com',
        status: 'PENDING',
        attempts: 0,
        lastAttemptAt: null,
        lastHttpStatus: null,
        lastFailure: null,
        nextAttemptAt: expect.stringMatching(/^2026-03-0/),
        deadLetteredAt: null,
        deliveredAt: null,
      },
    ]);
  });

  test('lists every attempt with the codes of its provider, and what the payment has moved in the balance', async () => {
    const { transactionId, attemptId } = await paidTwice(PAID);
    const { attempts, movements, netAmount } = (await read(transactionId)).body.data;
    expect(attempts).toMatchObject([
      { attemptId, channel: 'TELEBIRR', status: 'DUPLICATE', providerCode: 'PAY_SUCCESS', received: 100.5 },
      { channel: 'TELEBIRR', status: 'SUCCEEDED', phone: '251911000001', expected: 100.5, lastOutcome: 'succeeded' },
    ]);
    expect(Object.keys(attempts[0])).not.toContain('links');
    expect(JSON.stringify(attempts)).not.toMatch(/secret/i);
    expect(movements).toEqual([
      {
        entryId: expect.stringMatching(/^jrn_.*-\d$/),
        journalId: expect.stringMatching(/^jrn_/),
        account: 'available',
        type: 'PAYMENT',
        amount: netAmount,
        createdAt: expect.stringMatching(/^2026-03-0/),
      },
    ]);
  });

  test('fails when a timeline entry contradicts its documented schema', async () => {
    const { transactionId } = await buildPendingPayment(fixture, scope);
    await rows(
      database.db,
      `INSERT INTO timeline (resource_id, occurred_at, kind, detail) VALUES (:transactionId, now(), 'payment.held', '{}')`,
      { transactionId },
    );
    expect((await read(transactionId)).status).toBe(500);
  });

  test('is documented with every kind of timeline entry and its detail', async () => {
    const { schemas } = (await server.send('GET', '/openapi.json')).body.components;
    const { timeline, deliveries } = schemas.TransactionDetail.properties;
    const details = timeline.items.oneOf.map(
      (one: { properties: Record<string, { const?: string; properties?: object }> }) => [
        one.properties['kind']?.const,
        Object.keys(one.properties['detail']?.properties ?? {}),
      ],
    );
    expect(Object.fromEntries(details)).toMatchObject({
      'attempt.started': ['attemptId', 'channel'],
      'payment.held': ['attemptId', 'reason', 'expectedSantim', 'receivedSantim', 'currency'],
    });
    expect(details).toHaveLength(Object.keys(TIMELINE).length);
    expect(Object.keys(deliveries.items.properties)).toEqual(
      expect.arrayContaining(['eventId', 'deliveryId', 'status']),
    );
  });
});
