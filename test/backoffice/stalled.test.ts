import { addisDay, DAY_MS, HOUR_MS, startOfAddisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { payOtherAmount } from '../payments/held-money.ts';
import { buildPendingPayment } from '../support/build.ts';
import { runSql } from '../support/database.ts';
import { requestSettlement, linkAccount, withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  scope = await buildFreeMerchant(backOffice.fixture);
});
afterAll(() => backOffice.close());

type Item = { kind: string; id: string };
const get = async (path: string) => (await backOffice.send('GET', path)).body;
const stalled = (query = '') => get(`/api/ops/stalled?merchantId=${scope.merchantId}${query}`);
const stalledDays = async () =>
  (await get('/api/ops/stalled?kind=RECONCILIATION_MISSING,RECONCILIATION_PENDING')).data.items;
const tx = (sql: string, values: Record<string, unknown>) => rows(backOffice.database.db, sql, values);
const ago = (ms: number) => new Date(Date.now() - ms);

/** 20.14: the one amount that waits for an operator in the sandbox too. */
async function withdrawal(): Promise<string> {
  await fund(backOffice.fixture, scope, 10_000n);
  return (await withdraw(backOffice.fixture, scope, 20_14n)).id;
}

describe('stalled work', () => {
  test('is empty while all work is on time', async () => {
    await payOtherAmount(backOffice.fixture, scope);
    await withdrawal();
    expect((await stalled()).data.items).toEqual([]);
  });

  test('contains a delivery past due, with its workflow', async () => {
    const [eventId, subscriptionId] = [newId('evt'), newId('whs')];
    const values = { ...scope, eventId, subscriptionId, deliveryId: newId('whd'), due: ago(5 * 60_000) };
    await tx(
      `WITH event AS (
         INSERT INTO webhook_event (id, merchant_id, environment, event, api_version, resource_type, resource_id, payload)
         VALUES (:eventId, :merchantId, :environment, 'payment.succeeded', '1', 'transaction', 'txn_1', '')
       ), subscription AS (
         INSERT INTO webhook_subscription (id, merchant_id, environment, url, event_types, secret, secret_hint)
         VALUES (:subscriptionId, :merchantId, :environment, 'https://hooks.example.com', '{*}', '', '')
       )
       INSERT INTO webhook_delivery (id, event_id, subscription_id, merchant_id, environment, event, status, next_attempt_at)
       VALUES (:deliveryId, :eventId, :subscriptionId, :merchantId, :environment, 'payment.succeeded', 'RETRYING', :due)`,
      values,
    );
    const { data } = await stalled('&kind=DELIVERY_PAST_DUE');
    expect(data.items).toEqual([
      expect.objectContaining({
        kind: 'DELIVERY_PAST_DUE',
        id: values.deliveryId,
        temporalUrl: `https://temporal.example/namespaces/default/workflows/delivery-${eventId}-${subscriptionId}`,
      }),
    ]);
    expect(data.items[0].waitingSeconds).toBeGreaterThanOrEqual(300);
  });

  test('contains an attempt past its time and a withdrawal that was not sent', async () => {
    const { attemptId, sessionId } = await buildPendingPayment(backOffice.fixture, scope);
    const expire = 'UPDATE checkout_session SET expires_at = :at WHERE id = :sessionId';
    await tx(expire, { sessionId, at: ago(HOUR_MS) });
    const withdrawalId = await withdrawal();
    await tx(`UPDATE payout SET stage = 'CREATED', requested_at = :at WHERE id = :id`, {
      id: withdrawalId,
      at: ago(HOUR_MS / 2),
    });
    const { data } = await stalled();
    expect(data.items.map((one: Item) => [one.kind, one.id])).toEqual([
      ['PAYMENT_PENDING', attemptId],
      ['WITHDRAWAL_PENDING', withdrawalId],
    ]);
    await tx(`UPDATE payment_attempt SET last_outcome = 'unknown' WHERE id = :attemptId`, { attemptId });
    expect((await stalled('&kind=PAYMENT_PENDING')).data.items).toEqual([]);
  });

  const sent = 'Sent, and not paid yet';
  test.each([
    ['CREATED', 4, null],
    ['CREATED', 6, 'Not sent yet'],
    ['SUBMITTED', 59, null],
    ['SUBMITTED', 61, sent],
    ['UNKNOWN', 59, null],
    ['UNKNOWN', 61, sent],
    ['SUBMITTED', 23 * 60, sent],
    ['SUBMITTED', 25 * 60, 'Sent over a day ago, and not paid yet: operators may resolve it'],
    ['UNDER_REVIEW', 25 * 60, null],
    ['AWAITING_CONFIRMATION', (7 * 24 + 1) * 60, null],
    ['AWAITING_CONFIRMATION', (7 * 24 + 3) * 60, 'Not confirmed in time, and not ended yet'],
  ])('of a withdrawal that has been %s for %i minutes: %s', async (stage, minutes, what) => {
    const id = await withdrawal();
    const values = { id, stage, at: ago(minutes * 60_000), submitted: stage === 'SUBMITTED' || stage === 'UNKNOWN' };
    const state = `UPDATE payout SET stage = :stage, requested_at = :at,
      submitted_at = CASE WHEN CAST(:submitted AS boolean) THEN CAST(:at AS timestamptz) END WHERE id = :id`;
    await tx(state, values);
    const { items } = (await stalled('&kind=WITHDRAWAL_PENDING')).data;
    expect(items.map((one: Item & { what: string }) => one.what)).toEqual(what === null ? [] : [what]);
  });

  test('contains a settlement that the sandbox has not decided, or that is past its last day and not marked overdue', async () => {
    await fund(backOffice.fixture, scope, 50_000n);
    await linkAccount(backOffice.fixture, scope);
    const undecided = await requestSettlement(backOffice.fixture, scope, { amount: 5_000n });
    const waiting = await requestSettlement(backOffice.fixture, scope, { amount: 5_014n });
    const late = await requestSettlement(backOffice.fixture, scope, { amount: 5_000n });
    expect((await stalled()).data.items).toEqual([]);
    const asked = 'UPDATE settlement SET requested_at = :at WHERE id = ANY (:ids)';
    await tx(asked, { at: ago(HOUR_MS), ids: [undecided.id, waiting.id] });
    const over = `UPDATE settlement SET status = 'PROCESSING', expected_until = :day WHERE id = :id`;
    await tx(over, { id: late.id, day: '2026-03-06' });
    const { data } = await stalled();
    expect(data.items).toEqual([
      expect.objectContaining({ kind: 'SETTLEMENT_PENDING', id: late.id, since: '2026-03-06T21:00:00.000Z' }),
      expect.objectContaining({ id: undecided.id, what: 'Not decided by the sandbox' }),
    ]);
    await tx('UPDATE settlement SET overdue_at = :at WHERE id = :id', { id: late.id, at: ago(HOUR_MS) });
    expect((await stalled()).data.items).toMatchObject([{ id: undecided.id }]);
  });

  test('contains a day without a comparison: not requested, not started, or not completed', async () => {
    await runSql(backOffice.database.ownerUrl, 'DELETE FROM reconciliation');
    const insert = `INSERT INTO reconciliation (id, environment, channel, day, is_running, requests, requests_at_start, requested_at, import_started_at)
      VALUES (:channel, 'sandbox', :channel, :day, :open, :asks, 1, :asked, :begun)`;
    const yesterday = addisDay(ago(DAY_MS));
    const night = { open: true, day: yesterday, asks: 1, asked: ago(HOUR_MS), begun: ago(HOUR_MS) };
    await tx(insert, { ...night, channel: 'TELEBIRR' });
    expect((await stalledDays()).map(({ kind, id }: Item) => [kind, id])).toEqual([]);
    await tx(insert, { ...night, channel: 'AWASH', asks: 2, asked: ago(3 * HOUR_MS) });
    await tx(insert, { ...night, channel: 'CBE_BIRR', asked: ago(26 * HOUR_MS), begun: ago(26 * HOUR_MS) });
    const day = addisDay(ago(5 * DAY_MS));
    await tx(insert, { ...night, channel: 'MPESA', open: false, day });
    const missing = addisDay(ago(4 * DAY_MS));
    const found = await stalledDays();
    expect(found.map(({ kind, id }: Item) => [kind, id])).toEqual([
      ['RECONCILIATION_MISSING', `sandbox-MPESA-${missing}`],
      ['RECONCILIATION_PENDING', 'CBE_BIRR'],
      ['RECONCILIATION_PENDING', 'AWASH'],
    ]);
    expect(found[0]).toMatchObject({
      since: new Date(startOfAddisDay(addisDay(ago(3 * DAY_MS))).getTime() + 4 * HOUR_MS).toISOString(),
      detail: { channel: 'MPESA', day: missing },
      links: { run: '/api/ops/reconciliation/run' },
    });
  });

  test('contains an outbox message that was not delivered to Temporal', async () => {
    const id = newId('obx');
    await tx(
      `INSERT INTO outbox (id, kind, workflow_type, workflow_id, signal, lease_until, available_at)
       VALUES (:id, 'signal', 'payment', 'payment-1', 'settled', :at, :at)`,
      { id, at: ago(60_000) },
    );
    const { data } = await get('/api/ops/stalled?kind=OUTBOX_STALLED&limit=100');
    expect(data.items).toContainEqual(
      expect.objectContaining({
        id,
        merchantId: null,
        temporalUrl: 'https://temporal.example/namespaces/default/workflows/payment-1',
      }),
    );
  });
});
