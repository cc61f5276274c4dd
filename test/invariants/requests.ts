import { rows } from '../../src/lib/db.ts';
import { toSantim } from '../../src/lib/money.ts';
import { normalisePhone } from '../../src/lib/phone.ts';
import type { MerchantRequest } from '../support/merchant-client.ts';
import type { Evidence } from './evidence.ts';

/** I1: a 2xx response has its row with the sent values; a rejection leaves no row; there is no partial row. */
export async function answeredIsThere(evidence: Evidence): Promise<string[]> {
  const problems: string[] = [];
  for (const { scope, requests } of evidence.clients) {
    const effects = await readEffects(evidence, scope.merchantId);
    for (const request of requests) problems.push(...judge(request, effects));
  }
  return [...problems, ...(await inPart(evidence))];
}

/** I2: one key has one effect and one response. */
export async function oneKeyOneEffect(evidence: Evidence): Promise<string[]> {
  const problems: string[] = [];
  for (const { scope, requests } of evidence.clients) {
    const effects = await readEffects(evidence, scope.merchantId);
    for (const request of requests) {
      const made = request.responses.filter(({ status }) => isSuccess(status));
      const different = new Set(made.map(({ data }) => String(idOf(data))));
      if (different.size > 1)
        problems.push(`one key of POST ${request.path} had the responses ${[...different].join(', ')}`);
    }
    const counts = new Map<string, number>();
    for (const { path } of requests) counts.set(path, (counts.get(path) ?? 0) + 1);
    for (const [path, keys] of counts) {
      const made = effectsOf(path, effects);
      if (made > keys) problems.push(`${keys} keys of POST ${path} made ${made} effects`);
    }
  }
  return problems;
}

type Effects = {
  transactions: Map<string, { sessionId: string; transactionId: string; amountSantim: bigint; currency: string }>;
  attempts: Map<string, { sessionId: string; channel: string; phone: string }>;
  testEvents: Map<string, { event: string; resourceId: string }>;
};

async function readEffects({ db }: Evidence, merchantId: string): Promise<Effects> {
  const ids = { merchantId };
  const transactions = await rows<{
    checkoutOrderNo: string;
    sessionId: string;
    transactionId: string;
    amountSantim: bigint;
    currency: string;
  }>(
    db,
    `SELECT checkout_order_no, session_id, id AS transaction_id, amount_santim, currency
     FROM transaction WHERE merchant_id = :merchantId`,
    ids,
  );
  const attempts = await rows<{ id: string; sessionId: string; channel: string; phone: string }>(
    db,
    'SELECT id, session_id, channel, phone FROM payment_attempt WHERE merchant_id = :merchantId',
    ids,
  );
  const testEvents = await rows<{ id: string; event: string; resourceId: string }>(
    db,
    `SELECT id, event, resource_id FROM webhook_event WHERE merchant_id = :merchantId AND resource_type = 'subscription'`,
    ids,
  );
  return {
    transactions: new Map(transactions.map((row) => [row.checkoutOrderNo, row])),
    attempts: new Map(attempts.map((row) => [row.id, row])),
    testEvents: new Map(testEvents.map((row) => [row.id, row])),
  };
}

const PAY = /^sessions\/([^/]+)\/pay$/;
const TEST = /^webhooks\/subscriptions\/([^/]+)\/test$/;

function judge(request: MerchantRequest, effects: Effects): string[] {
  const { path, body } = request;
  const last = request.responses.at(-1);
  if (!last) return [];
  const orderNo = String(body['checkoutOrderNo']);
  const what = path === 'sessions' ? `POST sessions ${orderNo}` : `POST ${path}`;
  if (!isSuccess(last.status)) {
    const left = path === 'sessions' && last.status !== 409 && effects.transactions.has(orderNo);
    return left ? [`${what} was rejected with ${last.status} but left a transaction`] : [];
  }
  const expected = `${what} had the response ${last.status} (${String(idOf(last.data))})`;
  if (path === 'sessions') {
    const row = effects.transactions.get(orderNo);
    if (!row || row.sessionId !== last.data['sessionId']) return [`${expected} but does not exist`];
    const same = row.amountSantim === toSantim(Number(body['amount'])) && row.currency === body['currency'];
    return same ? [] : [`${expected} but has ${row.amountSantim} santim ${row.currency}, not what was sent`];
  }
  if (PAY.test(path)) {
    const row = effects.attempts.get(String(last.data['attemptId']));
    if (!row || row.sessionId !== PAY.exec(path)?.[1]) return [`${expected} but there is no such attempt`];
    const same = row.channel === body['channel'] && row.phone === normalisePhone(String(body['phone']));
    return same ? [] : [`${expected} but the attempt has another channel or phone than was sent`];
  }
  if (TEST.test(path)) {
    const row = effects.testEvents.get(String(last.data['eventId']));
    if (!row || row.resourceId !== TEST.exec(path)?.[1]) return [`${expected} but there is no such event`];
    return row.event === (body['event'] ?? 'webhook.test') ? [] : [`${expected} but the event is a ${row.event}`];
  }
  return [];
}

function effectsOf(path: string, effects: Effects): number {
  const of = (TEST.exec(path) ?? PAY.exec(path))?.[1];
  if (PAY.test(path)) return [...effects.attempts.values()].filter(({ sessionId }) => sessionId === of).length;
  if (TEST.test(path)) return [...effects.testEvents.values()].filter(({ resourceId }) => resourceId === of).length;
  return 0;
}

async function inPart({ db }: Evidence): Promise<string[]> {
  const found = await rows<{ violation: string }>(
    db,
    `SELECT 'transaction ' || t.id || ' is there without its session' AS violation
     FROM transaction t LEFT JOIN checkout_session s ON s.id = t.session_id AND s.transaction_id = t.id
     WHERE s.id IS NULL
     UNION ALL
     SELECT 'session ' || s.id || ' counts ' || s.attempts_count || ' attempts and has ' || count(a.id)
     FROM checkout_session s LEFT JOIN payment_attempt a ON a.session_id = s.id
     GROUP BY s.id HAVING count(a.id) <> s.attempts_count`,
  );
  return found.map(({ violation }) => violation);
}

function idOf(data: Record<string, unknown>): unknown {
  return data['attemptId'] ?? data['eventId'] ?? data['sessionId'];
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
