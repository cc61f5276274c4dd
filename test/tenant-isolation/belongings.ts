import { SCOPES, type Scope } from '../../src/http/route.ts';
import { until } from '../support/until.ts';
import type { TestService } from './service.ts';

/** A merchant with data and keys of every kind. */
export type Merchant = {
  merchantId: string;
  key: string;
  liveKey: string;
  /** By scope: a key with all other scopes. */
  without: Record<Scope, string>;
  /** Ids, references and addresses that no other merchant may see. */
  marks: string[];
  /** The merchant's ids by parameter name, as in paths, queries and bodies. */
  ids: Record<string, string[]>;
  /** The token of the open session. */
  clientToken: string;
};

/** Creates data of every kind over HTTP: paid and open sessions, delivered and failed events, a resend. */
export async function createMerchantWithEverything(service: TestService, name: string): Promise<Merchant> {
  const merchantId = await service.newMerchant(name);
  const key = await service.newKey(merchantId);
  const post = async (path: string, body: object = {}): Promise<Record<string, string>> => {
    const { status, body: response, text } = await service.send('POST', `/api/checkout/${path}`, { key, body });
    if (status >= 300) throw new Error(`${path} responded with ${status}: ${text}`);
    return response.data;
  };
  const subscribe = async (url: string) =>
    (await post('webhooks/subscriptions', { url: `${url}/${name}`, eventTypes: ['payment.succeeded'] }))[
      'subscriptionId'
    ] ?? '';
  const subscriptions = [await subscribe(service.healthy.url), await subscribe(service.failing.url)];

  const session = (order: string) =>
    post('sessions', { checkoutOrderNo: `${name}-${order}`, amount: 20, currency: 'ETB' });
  const paid = await session('PAID');
  await post(`sessions/${paid['sessionId']}/pay`, { channel: 'TELEBIRR', phone: '0911000001' });
  const open = await session('OPEN');

  const { db } = service.fixture;
  const eventId = await until('the event', async () => {
    const row: { id: string } | undefined = await db
      .knex()('webhookEvent')
      .where({ merchantId, event: 'payment.succeeded' })
      .first('id');
    return row?.id;
  });
  const ended = await until('the deliveries to end', async () => {
    const rows: { id: string }[] = await db
      .knex()('webhookDelivery')
      .where({ merchantId })
      .whereIn('status', ['DELIVERED', 'FAILED']);
    return rows.length === subscriptions.length && rows;
  });
  // This amount waits for an operator, so no state changes during the tests.
  const withdrawal = await post('withdrawal', {
    requestId: `${name}-OUT`,
    amount: 1.14,
    channel: 'TELEBIRR',
    destination: { phone: '0911000001', accountName: name },
  });
  const refund = await post(`txns/${paid['transactionId']}/refunds`, { reference: `${name}-BACK`, amount: 1.5 });
  await service.send('PUT', '/api/checkout/bank-account', {
    key,
    body: { bankCode: 'CBE', accountNumber: '1000123456789', accountName: name },
  });
  const settlement = await post('settlement', { requestId: `${name}-SETTLE`, amount: 10.14 });
  await service.send('PUT', '/api/checkout/kyc', { key, body: { legalName: `${name} PLC` } });
  const scan = new Blob([`%PDF-1.7 ${name}`], { type: 'application/pdf' });
  const document = await service.send('POST', '/api/checkout/kyc/documents?kind=OTHER', { key, body: scan });
  const today = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10);
  const report = await post('reports', { kind: 'payments', period: 'custom', startDate: today, endDate: today });
  const job = await post('webhooks/events/resend', { status: 'FAILED', startDate: today, endDate: today });
  await untilIdle(service);

  const attempts: { id: string }[] = await db.knex()('paymentAttempt').where({ merchantId });
  const ids = {
    merchantId: [merchantId],
    sessionId: [open['sessionId'] ?? '', paid['sessionId'] ?? ''],
    transactionId: [open['transactionId'] ?? '', paid['transactionId'] ?? ''],
    resourceId: [paid['transactionId'] ?? ''],
    subscriptionId: subscriptions,
    eventId: [eventId],
    deliveryId: ended.map(({ id }) => id),
    jobId: [job['jobId'] ?? ''],
    withdrawalId: [withdrawal['withdrawalRequestId'] ?? ''],
    refundId: [refund['refundId'] ?? '', `${name}-BACK`],
    reportId: [report['reportId'] ?? ''],
    settlementId: [settlement['settlementId'] ?? ''],
    withdrawal_requestID: [withdrawal['withdrawalRequestId'] ?? '', `${name}-OUT`],
  };
  const keys: { id: string }[] = await db.knex()('apiKey').where({ merchantId });
  const without = await Promise.all(
    SCOPES.map(async (scope) => [
      scope,
      await service.newKey(merchantId, { scopes: SCOPES.filter((other) => other !== scope) }),
    ]),
  );
  return {
    merchantId,
    key,
    liveKey: await service.newKey(merchantId, { environment: 'live' }),
    without: Object.fromEntries(without),
    marks: [
      name,
      document.body.data.documentId,
      ...Object.values(ids).flat(),
      ...[...ended, ...attempts, ...keys].map(({ id }) => id),
    ],
    ids,
    clientToken: open['clientToken'] ?? '',
  };
}

/** Waits until all started work has ended. */
export async function untilIdle({ fixture: { db } }: TestService): Promise<void> {
  await until('jobs, deliveries and the outbox to be idle', async () => {
    const jobs = await db.knex()('webhookResendJob').whereNull('endedAt');
    const deliveries = await db
      .knex()('webhookDelivery')
      .whereIn('status', ['PENDING', 'RETRYING'])
      .orWhereNotNull('statusBeforeResend');
    const starts = await db.knex()('webhookWorkflowStart');
    return jobs.length + deliveries.length + starts.length + (await db.knex()('outbox')).length === 0;
  });
}
