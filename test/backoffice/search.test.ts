import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildPendingPayment, buildSession, PAID } from '../support/build.ts';
import { linkAccount, requestSettlement, withdraw } from '../support/settlements.ts';
import { buildFreeMerchant } from '../support/withdrawals.ts';
import { runCli, startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;
let found: { orderNo: string; deliveryId: string; eventId: string; transactionId: string; attemptId: string };
const host = 'shop.example.et';
const subscriptionId = newId('whs');

const sql = (text: string, values: Record<string, unknown> = {}) => rows(backOffice.database.db, text, values);
const look = async (path: string) => (await backOffice.send('GET', path, { key: backOffice.people.viewer.key })).body;
const hits = async (q: string): Promise<Record<string, string>[]> =>
  (await look(`/api/ops/search?q=${encodeURIComponent(q)}`)).data;
const kindsOf = async (q: string): Promise<string[]> => (await hits(q)).map(({ kind }) => String(kind)).toSorted();

beforeAll(async () => {
  backOffice = await startBackOffice();
  scope = await buildFreeMerchant(backOffice.fixture);
  await sql(`UPDATE merchant SET name = 'Abyssinia Coffee' WHERE id = :merchantId`, scope);
  await sql(
    `INSERT INTO webhook_subscription (id, merchant_id, environment, url, event_types, secret, secret_hint)
     VALUES (:subscriptionId, :merchantId, :environment, :url, '{payment.succeeded}', '\\x00', 'hint')`,
    { ...scope, subscriptionId, url: `https://${host}/hooks` },
  );
  const payment = await buildPendingPayment(backOffice.fixture, scope);
  backOffice.fixture.provider.returns(PAID);
  await backOffice.fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
  await sql(`UPDATE transaction SET customer_phone = '251911223344' WHERE id = :transactionId`, payment);
  const [row] = await rows<{ deliveryId: string; eventId: string; orderNo: string }>(
    backOffice.database.db,
    `SELECT d.id AS delivery_id, d.event_id, t.checkout_order_no AS order_no FROM webhook_delivery d
     JOIN webhook_event e ON e.id = d.event_id JOIN transaction t ON t.id = e.resource_id`,
  );
  found = { ...payment, ...row! };
});
afterAll(() => backOffice.close());

describe('the search of operators', () => {
  test('groups the thousands of an amount', async () => {
    await buildSession(backOffice.fixture, scope, { amountSantim: 12_345_678n, checkoutOrderNo: 'ORDER-OF-THOUSANDS' });
    const [hit] = await hits('ORDER-OF-THOUSANDS');
    expect(hit?.['title']).toMatch(/^ORDER-OF-THOUSANDS: 123,456[.]78 ETB/);
  });

  test('finds a transaction and its deliveries by the order number, with their resources and workflows', async () => {
    const byOrder = await hits(found.orderNo);
    expect(byOrder).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...scope,
          kind: 'transaction',
          id: found.transactionId,
          merchantName: 'Abyssinia Coffee',
          status: 'SUCCESS',
          title: `${found.orderNo}: 100.50 ETB, ********3344`,
          url: `/api/ops/transactions/${found.transactionId}`,
          temporalUrl: `https://temporal.example/namespaces/default/workflows/payment-${found.attemptId}`,
        }),
        expect.objectContaining({
          kind: 'delivery',
          id: found.deliveryId,
          title: `payment.succeeded · ${found.orderNo} → ${host}`,
          temporalUrl: `https://temporal.example/namespaces/default/workflows/delivery-${found.eventId}-${subscriptionId}`,
        }),
      ]),
    );
    expect(byOrder).toHaveLength(2);
  });

  test('finds by every id, phone, host, reference and name, and what it finds can be read', async () => {
    const [attempt] = await rows<{ sessionId: string; phone: string; reference: string }>(
      backOffice.database.db,
      `SELECT session_id, phone, provider_reference AS reference FROM payment_attempt WHERE id = :attemptId`,
      found,
    );
    const { transactionId, deliveryId, eventId, attemptId } = found;
    expect(await kindsOf(transactionId)).toEqual(['delivery', 'transaction']);
    expect(await kindsOf(eventId)).toEqual(['delivery', 'transaction']);
    for (const id of [attemptId, attempt!.sessionId, attempt!.reference]) {
      expect(await kindsOf(id)).toEqual(['transaction']);
    }
    for (const id of [deliveryId, `wha_${deliveryId.slice(4)}01`]) expect(await kindsOf(id)).toEqual(['delivery']);
    expect(await kindsOf(subscriptionId)).toContain('receiver');
    expect(await kindsOf(host.toUpperCase())).toEqual(['receiver']);
    for (const phone of ['0911223344', '+251 911 22 33 44', attempt!.phone]) {
      expect(await kindsOf(phone)).toEqual(['transaction']);
    }
    for (const name of [scope.merchantId, 'sinia cof']) expect(await kindsOf(name)).toEqual(['merchant']);
    await linkAccount(backOffice.fixture, scope);
    const settlement = await requestSettlement(backOffice.fixture, scope, { amount: 5_000n });
    for (const id of [settlement.id, settlement.requestId]) expect(await kindsOf(id)).toContain('settlement');
    const withdrawal = await withdraw(backOffice.fixture, scope);
    expect(await kindsOf(withdrawal.reference)).toEqual(['withdrawal']);
    for (const q of [transactionId, deliveryId, host, 'Abyssinia', settlement.id]) {
      for (const { url } of await hits(q)) expect((await backOffice.send('GET', url!)).status).toBe(200);
    }
  });

  test('finds nothing by an unknown id, and rejects a single letter', async () => {
    for (const q of [newId('txn'), newId('rpt'), 'NO-SUCH-ORDER', '0911999999', '%']) {
      const { data, error } = await look(`/api/ops/search?q=${encodeURIComponent(q)}`);
      expect(q === '%' ? error.code : data).toEqual(q === '%' ? 'VALIDATION_ERROR' : []);
    }
  });

  test('is a command', async () => {
    const { exitCode, text } = await runCli(backOffice, ['search', found.orderNo]);
    expect({ exitCode, text }).toEqual({ exitCode: 0, text: expect.stringContaining(found.deliveryId) });
  });
});

describe('the overview', () => {
  test('counts the queue, dead letters and open circuits, and has the latest compared day of each channel', async () => {
    await sql(
      `INSERT INTO webhook_dead_letter (id, merchant_id, environment, delivery_id, reason, opened_at)
       VALUES ('whl_1', :merchantId, :environment, :deliveryId, 'exhausted', now())`,
      { ...scope, ...found },
    );
    await sql(
      `UPDATE webhook_delivery SET status = 'FAILED', next_attempt_at = NULL, dead_lettered_at = now() WHERE id = :deliveryId`,
      found,
    );
    await sql(`UPDATE channel SET live_unavailable_until = now() + interval '1 hour' WHERE id = 'AWASH'`);
    for (const day of ['2026-03-01', '2026-03-02']) {
      await sql(
        `INSERT INTO reconciliation (id, environment, channel, day, is_running, requested_at)
         VALUES (:id, 'sandbox', 'TELEBIRR', :day, false, now())`,
        { id: `sandbox-TELEBIRR-${day}`, day },
      );
    }
    const { data } = await look('/api/ops/overview');
    expect(data).toMatchObject({
      queue: expect.arrayContaining([
        expect.objectContaining({ kind: 'DEAD_LETTER', environment: 'sandbox', count: 1 }),
      ]),
      deliveries: { deadLetters: 1, pastDueSeconds: 0 },
      channels: [
        { channel: 'TELEBIRR', unavailableUntil: null },
        { channel: 'CBE_BIRR' },
        { channel: 'AWASH', state: 'AVAILABLE', unavailableUntil: expect.any(String) },
        { channel: 'MPESA' },
      ],
      reconciliation: [{ channel: 'TELEBIRR', day: '2026-03-02', status: 'INCOMPLETE' }],
    });
    const item = (await look(`/api/ops/queue?kind=DEAD_LETTER`)).data.items[0];
    expect(item).toMatchObject({
      id: found.deliveryId,
      what: expect.stringMatching(new RegExp(`^payment[.]succeeded of \\S+ to ${host} was not delivered`)),
      temporalUrl: `https://temporal.example/namespaces/default/workflows/delivery-${found.eventId}-${subscriptionId}`,
      links: { resend: `/api/ops/webhooks/deliveries/${found.deliveryId}/resend` },
    });
    const resent = await backOffice.send('POST', item.links.resend, { body: { reason: 'The receiver is back' } });
    expect(resent.status).toBe(202);
  });
});
