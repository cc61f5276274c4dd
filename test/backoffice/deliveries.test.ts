import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { requestResend } from '../../src/webhooks/delivery/resend.ts';
import { buildPendingPayment, PAID } from '../support/build.ts';
import { failDelivery } from '../support/failed-delivery.ts';
import { buildFreeMerchant } from '../support/withdrawals.ts';
import { startBackOffice, runCli, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;
let host: string;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  scope = await buildFreeMerchant(backOffice.fixture);
  host = `shop-${scope.merchantId.slice(-8).toLowerCase()}.example.et`;
  await sql(
    `INSERT INTO webhook_subscription (id, merchant_id, environment, url, event_types, secret, secret_hint)
     VALUES (:id, :merchantId, :environment, :url, '{payment.succeeded}', '\\x00', 'hint')`,
    { ...scope, id: newId('whs'), url: `https://${host.toUpperCase()}:8443/hooks?token=1` },
  );
});
afterAll(() => backOffice.close());

const PATH = '/api/ops/webhooks/deliveries';
const sql = (text: string, values: Record<string, unknown> = {}) =>
  rows<Record<string, unknown>>(backOffice.database.db, text, values);
const send = async (method: string, path: string, body?: object) =>
  backOffice.send(method, path, { key: backOffice.people.support.key, ...(body && { body }) });
const look = async (path: string) => backOffice.send('GET', path, { key: backOffice.people.viewer.key });
const idsOf = async (query: string): Promise<string[]> => {
  const { body } = await send('GET', `${PATH}?${query}`);
  return body.data.map(({ deliveryId }: { deliveryId: string }) => deliveryId);
};

/** A paid transaction, and the delivery of its event. */
async function paid() {
  const payment = await buildPendingPayment(backOffice.fixture, scope);
  backOffice.fixture.provider.returns(PAID);
  await backOffice.fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
  const [found] = await sql(
    `SELECT d.id AS delivery_id, t.checkout_order_no AS order_no
     FROM webhook_delivery d JOIN webhook_event e ON e.id = d.event_id JOIN transaction t ON t.id = e.resource_id
     WHERE t.id = :transactionId`,
    payment,
  );
  return { ...payment, deliveryId: String(found!['deliveryId']), orderNo: String(found!['orderNo']) };
}

const fail = async (deliveryId: string, options?: { isLast?: boolean }): Promise<void> =>
  failDelivery(backOffice.database.db, deliveryId, options);

const outboxOf = async (deliveryId: string) =>
  sql(
    `SELECT b.kind, b.signal FROM outbox b JOIN webhook_delivery d
       ON b.workflow_id = 'delivery-' || d.event_id || '-' || d.subscription_id WHERE d.id = :deliveryId`,
    { deliveryId },
  );

test("operators find a delivery by its order number, receiver's host, merchant, event and state", async () => {
  const [one, other] = [await paid(), await paid()];
  await fail(one.deliveryId);
  expect(await idsOf(`checkoutOrderNo=${one.orderNo}`)).toEqual([one.deliveryId]);
  expect(await idsOf(`receiverHost=${host.toUpperCase()}`)).toEqual([other.deliveryId, one.deliveryId]);
  expect(await idsOf(`merchantId=${scope.merchantId}&event=payment.succeeded`)).toHaveLength(2);
  expect(await idsOf(`receiverHost=${host}&status=FAILED`)).toEqual([one.deliveryId]);
  expect(await idsOf(`receiverHost=${host}&status=DEAD_LETTER,PENDING`)).toHaveLength(2);
  expect(await idsOf(`receiverHost=${host}&status=DELIVERED`)).toEqual([]);
  expect(await idsOf(`receiverHost=${host}&environment=live`)).toEqual([]);
  expect(await idsOf(`receiverHost=${host}&startDate=2020-01-01&endDate=2020-01-02`)).toEqual([]);
  expect(await idsOf(`checkoutOrderNo=NONE-${one.orderNo}`)).toEqual([]);
});

test('a delivery has its receiver, its attempts with the first part of the response, and its workflow', async () => {
  const { deliveryId, orderNo, transactionId } = await paid();
  await fail(deliveryId);
  const { body } = await look(`${PATH}/${deliveryId}`);
  const { eventId, subscriptionId } = body.data;
  expect(body.data).toMatchObject({
    ...scope,
    checkoutOrderNo: orderNo,
    receiverHost: host,
    status: 'FAILED',
    attempts: 1,
    nextAttemptAt: null,
    resourceId: transactionId,
    subscription: { state: 'active', consecutiveFailures: 1 },
    workflowId: `delivery-${eventId}-${subscriptionId}`,
    temporalUrl: `https://temporal.example/namespaces/default/workflows/delivery-${eventId}-${subscriptionId}`,
    links: { resend: `${PATH}/${deliveryId}/resend` },
    attemptLog: [
      { sequence: 1, httpStatus: 503, failure: { code: 'http_status' }, responseExcerpt: 'x'.repeat(1_000) },
    ],
  });
  expect((await send('GET', `${PATH}/${newId('whd')}`)).status).toBe(404);
});

test('a resend keeps its reason with the attempt and in the audit log, and signals the workflow', async () => {
  const { deliveryId } = await paid();
  await fail(deliveryId);
  const reason = 'Their server is back';
  const { status, body } = await send('POST', `${PATH}/${deliveryId}/resend`, { reason });
  expect({ status, now: body.data.status }).toEqual({ status: 202, now: 'PENDING' });
  expect(await outboxOf(deliveryId)).toEqual([{ kind: 'signalWithStart', signal: 'deliveryChanged' }]);
  await fail(deliveryId);
  const { attemptLog, status: after } = (await send('GET', `${PATH}/${deliveryId}`)).body.data;
  expect(after).toBe('FAILED');
  expect(attemptLog[1]).toMatchObject({ sequence: 2, trigger: 'operator', reason, deliveryNumber: null });
  const audit = await send('GET', `/api/ops/audit?resourceId=${deliveryId}`);
  expect(audit.body.data).toMatchObject([
    { action: 'delivery.resend', reason, ...scope, before: { status: 'FAILED' }, after: { status: 'PENDING' } },
  ]);
  const [{ resendReason } = {}] = await sql('SELECT resend_reason FROM webhook_delivery WHERE id = :deliveryId', {
    deliveryId,
  });
  expect(resendReason).toBeNull();
});

test("a merchant's resend while an operator's is pending keeps the operator's reason", async () => {
  const { deliveryId } = await paid();
  await fail(deliveryId, { isLast: false });
  await send('POST', `${PATH}/${deliveryId}/resend`, { reason: 'Asked by phone' });
  await backOffice.fixture.runInTransaction(async (tx) =>
    requestResend(backOffice, tx, { scope, deliveryIds: [deliveryId] }),
  );
  await fail(deliveryId);
  const { attemptLog, status } = (await send('GET', `${PATH}/${deliveryId}`)).body.data;
  expect(status).toBe('RETRYING');
  expect(attemptLog[1]).toMatchObject({ trigger: 'operator', reason: 'Asked by phone' });
});

test('a delivered one is resent only with force, and without a reason none is', async () => {
  const { deliveryId } = await paid();
  await sql(
    `UPDATE webhook_delivery SET status = 'DELIVERED', next_attempt_at = NULL, delivered_at = now() WHERE id = :deliveryId`,
    { deliveryId },
  );
  expect((await send('POST', `${PATH}/${deliveryId}/resend`, {})).status).toBe(400);
  const refused = await send('POST', `${PATH}/${deliveryId}/resend`, { reason: 'Lost by them' });
  expect(refused.body.error.code).toBe('INVALID_STATE');
  const forced = await send('POST', `${PATH}/${deliveryId}/resend`, { reason: 'Lost by them', force: true });
  expect(forced.status).toBe(202);
});

test('cancelling gives up a delivery that is still being tried, and no other', async () => {
  const { deliveryId } = await paid();
  await fail(deliveryId, { isLast: false });
  const { body } = await send('POST', `${PATH}/${deliveryId}/cancel`, { reason: 'The shop has closed' });
  expect(body.data).toMatchObject({ status: 'FAILED', nextAttemptAt: null, links: { resend: expect.anything() } });
  expect(await idsOf(`receiverHost=${host}&status=DEAD_LETTER`)).toEqual([deliveryId]);
  expect(await outboxOf(deliveryId)).toEqual([{ kind: 'signalWithStart', signal: 'deliveryChanged' }]);
  const again = await send('POST', `${PATH}/${deliveryId}/cancel`, { reason: 'The shop has closed' });
  expect(again.body.error).toMatchObject({ code: 'INVALID_STATE' });
  const audit = await send('GET', `/api/ops/audit?resourceId=${deliveryId}`);
  expect(audit.body.data).toMatchObject([{ action: 'delivery.cancel', reason: 'The shop has closed' }]);
});

test('a dismissed dead letter leaves the queue and its list, stays FAILED, and can be resent', async () => {
  const { deliveryId } = await paid();
  const dismiss = () => send('POST', `${PATH}/${deliveryId}/dismiss`, { reason: 'They have booked it by hand' });
  expect((await dismiss()).body.error).toMatchObject({ code: 'INVALID_STATE' });
  await fail(deliveryId);
  const queued = async () => (await look(`/api/ops/queue?kind=DEAD_LETTER&merchantId=${scope.merchantId}`)).body.data;
  expect((await queued()).items).toMatchObject([
    { id: deliveryId, links: { dismiss: `${PATH}/${deliveryId}/dismiss` } },
  ]);
  expect((await send('POST', `${PATH}/${deliveryId}/dismiss`, {})).status).toBe(400);

  const dismissed = await dismiss();
  expect(dismissed.status).toBe(200);
  expect(dismissed.body.data).toMatchObject({ status: 'FAILED', dismissedAt: expect.any(String) });
  expect(Object.keys(dismissed.body.data.links)).toEqual(['resend']);
  expect((await queued()).items).toEqual([]);
  expect(await idsOf(`receiverHost=${host}&status=DEAD_LETTER`)).toEqual([]);
  for (const status of ['DISMISSED', 'FAILED', 'DEAD_LETTER,DISMISSED']) {
    expect(await idsOf(`receiverHost=${host}&status=${status}`)).toEqual([deliveryId]);
  }
  const { decisions } = (await look(`${PATH}/${deliveryId}`)).body.data;
  expect(decisions).toMatchObject([
    { action: 'delivery.dismiss', operatorName: expect.any(String), reason: 'They have booked it by hand' },
  ]);
  expect((await dismiss()).body.error).toMatchObject({ code: 'INVALID_STATE' });

  expect((await send('POST', `${PATH}/${deliveryId}/resend`, { reason: 'After all' })).status).toBe(202);
  await fail(deliveryId);
  expect((await queued()).items).toEqual([]);
  expect(await idsOf(`receiverHost=${host}&status=DISMISSED`)).toEqual([deliveryId]);
});

test('operators list the transactions of all merchants, with masked phones and the workflow of the latest attempt', async () => {
  const { orderNo, transactionId, attemptId } = await paid();
  await sql(`UPDATE transaction SET customer_phone = '251911223344' WHERE id = :transactionId`, { transactionId });
  const list = async (query: string) => (await look(`/api/ops/transactions?${query}`)).body.data;
  const [found] = await list(`checkoutOrderNo=${orderNo}`);
  expect(found).toMatchObject({
    ...scope,
    transactionId,
    status: 'SUCCESS',
    customerPhone: '********3344',
    merchantName: expect.any(String),
    temporalUrl: `https://temporal.example/namespaces/default/workflows/payment-${attemptId}`,
  });
  const mine = `merchantId=${scope.merchantId}`;
  expect(await list(`${mine}&status=SUCCESS,PENDING&channel=TELEBIRR&environment=sandbox`)).toHaveLength(1);
  for (const none of ['status=FAILED', 'channel=AWASH', 'environment=live', 'held=true', 'late=true']) {
    expect(await list(`${mine}&${none}`)).toEqual([]);
  }
  await sql(`UPDATE transaction SET confirmed_late = true, hold_reason = 'WRONG_AMOUNT' WHERE id = :transactionId`, {
    transactionId,
  });
  expect(await list(`${mine}&held=true&late=true`)).toHaveLength(1);
});

test('a failed delivery is found by its order number and resent with two commands', async () => {
  const { deliveryId, orderNo } = await paid();
  await fail(deliveryId);
  const listed = await runCli(backOffice, ['deliveries', 'list', '--checkout-order-no', orderNo]);
  expect(listed.text).toContain(deliveryId);
  const resent = await runCli(backOffice, ['deliveries', 'resend', deliveryId, '--reason', 'Server is back', '--yes']);
  expect({ code: resent.exitCode, notes: resent.notes }).toEqual({
    code: 0,
    notes: expect.stringContaining('Resend accepted'),
  });
});
