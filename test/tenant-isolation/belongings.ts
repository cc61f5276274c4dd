import { SCOPES, type Scope } from '../../src/http/route.ts';
import { until } from '../support/worker.ts';
import type { Walls } from './world.ts';

/** A merchant with data of every kind, and every key one may have. */
export type Merchant = {
  merchantId: string;
  key: string;
  liveKey: string;
  /** Keys with all scopes but this one. */
  without: Record<Scope, string>;
  /** What only this merchant may see: ids, references, addresses. */
  marks: string[];
  /** Its things by the name that paths, queries and bodies call them. */
  ids: Record<string, string[]>;
  /** The token of the session that is still open. */
  clientToken: string;
};

/** Pays, fails to pay, receives, fails to receive, resends: by requests, as merchants do. */
export async function createMerchantWithEverything(walls: Walls, name: string): Promise<Merchant> {
  const merchantId = await walls.newMerchant(name);
  const key = await walls.newKey(merchantId);
  const post = async (path: string, body: object = {}): Promise<Record<string, string>> => {
    const { status, body: answer, text } = await walls.send('POST', `/api/checkout/${path}`, { key, body });
    if (status >= 300) throw new Error(`${path} answered ${status}: ${text}`);
    return answer.data;
  };
  const subscribe = async (url: string) =>
    (await post('webhooks/subscriptions', { url: `${url}/${name}`, eventTypes: ['payment.succeeded'] }))[
      'subscriptionId'
    ] ?? '';
  const subscriptions = [await subscribe(walls.healthy.url), await subscribe(walls.failing.url)];

  const session = (order: string) =>
    post('sessions', { checkoutOrderNo: `${name}-${order}`, amount: 20, currency: 'ETB' });
  const paid = await session('PAID');
  await post(`sessions/${paid['sessionId']}/pay`, { channel: 'TELEBIRR', phone: '0911000001' });
  const open = await session('OPEN');

  const { db } = walls.world;
  const eventId = await until('an event', async () => {
    const row: { id: string } | undefined = await db('webhookEvent')
      .where({ merchantId, event: 'payment.succeeded' })
      .first('id');
    return row?.id;
  });
  const ended = await until('deliveries that have ended', async () => {
    const rows: { id: string }[] = await db('webhookDelivery')
      .where({ merchantId })
      .whereIn('status', ['DELIVERED', 'FAILED']);
    return rows.length === subscriptions.length && rows;
  });
  // It waits for an operator, so nothing moves while the walls are tried.
  const withdrawal = await post('withdrawal', {
    requestId: `${name}-OUT`,
    amount: 1.14,
    channel: 'TELEBIRR',
    destination: { phone: '0911000001', accountName: name },
  });
  await walls.send('PUT', '/api/checkout/bank-account', {
    key,
    body: { bankCode: 'CBE', accountNumber: '1000123456789', accountName: name },
  });
  const settlement = await post('settlement', { requestId: `${name}-SETTLE`, amount: 10.14 });
  await walls.send('PUT', '/api/checkout/kyc', { key, body: { legalName: `${name} PLC` } });
  const scan = new Blob([`%PDF-1.7 ${name}`], { type: 'application/pdf' });
  const document = await walls.send('POST', '/api/checkout/kyc/documents?kind=OTHER', { key, body: scan });
  const today = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10);
  const report = await post('reports', { kind: 'payments', period: 'custom', startDate: today, endDate: today });
  const job = await post('webhooks/events/resend', { status: 'FAILED', startDate: today, endDate: today });
  await settle(walls);

  const attempts: { id: string }[] = await db('paymentAttempt').where({ merchantId });
  const ids = {
    merchantId: [merchantId],
    sessionId: [open['sessionId'] ?? '', paid['sessionId'] ?? ''],
    transactionId: [open['transactionId'] ?? '', paid['transactionId'] ?? ''],
    resourceId: [paid['transactionId'] ?? ''],
    subscriptionId: subscriptions,
    eventId: [eventId],
    jobId: [job['jobId'] ?? ''],
    withdrawalId: [withdrawal['withdrawalRequestId'] ?? ''],
    reportId: [report['reportId'] ?? ''],
    settlementId: [settlement['settlementId'] ?? ''],
    withdrawal_requestID: [withdrawal['withdrawalRequestId'] ?? '', `${name}-OUT`],
  };
  const without = await Promise.all(
    SCOPES.map(async (scope) => [
      scope,
      await walls.newKey(merchantId, { scopes: SCOPES.filter((other) => other !== scope) }),
    ]),
  );
  return {
    merchantId,
    key,
    liveKey: await walls.newKey(merchantId, { environment: 'live' }),
    without: Object.fromEntries(without),
    marks: [
      name,
      document.body.data.documentId,
      ...Object.values(ids).flat(),
      ...[...ended, ...attempts].map(({ id }) => id),
    ],
    ids,
    clientToken: open['clientToken'] ?? '',
  };
}

/** Waits until everything that was set going has ended. */
export async function settle({ world: { db } }: Walls): Promise<void> {
  await until('jobs, deliveries and the outbox to come to rest', async () => {
    const jobs = await db('webhookResendJob').whereNull('endedAt');
    const deliveries = await db('webhookDelivery')
      .whereIn('status', ['PENDING', 'RETRYING'])
      .orWhereNotNull('statusBeforeResend');
    return jobs.length + deliveries.length + (await db('outbox')).length === 0;
  });
}
