import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Pool } from 'undici';

import { inFixture, untilTrue, type Bench, type Fixture } from '../fixture.ts';
import { costsInTurns } from '../in-turns.ts';
import { measureEach, type Subject, type TemporalGateway } from '../measure.ts';
import { nowMs } from '../numbers.ts';
import { startReceiver } from '../receiver.ts';
import { headersOf, release, subjectOfBaseline, subscribe } from '../subjects.ts';

const CUSTOMERS_AT_ONCE = 16;
const PHONE = '0911000001';
const ARRIVED_WITHIN_MS = 180_000;
/** The time after its start until it is idle. */
const SETTLE_MS = 10_000;
/** One percent of a second. */
const PERCENT_MS = 10;

/** Where customers pay, and where their payments arrive. */
type Shop = Pick<Subject, 'db' | 'receiver' | 'isQuiet'> & {
  origin: string;
  path: string;
  headers: Record<string, string>;
};

/**
 * The complete payment, session to webhook, in mode "failed": its cost, also in the minute afterwards, and the cost of
 * idling, compared with a bare program that does the same and a bare INSERT.
 */
export async function payments(bench: Bench): Promise<void> {
  const count = bench.size(1_000, 50);
  const row = bench.sheet.table(`${count} payments, session to webhook, mode "failed": CPU ms each`);
  const { insertMs, paid } = await inFixture(bench, (fixture) => measureBaseline(bench, fixture, count));
  row({ when: 'bare baseline', ...paid });
  await inFixture(bench, async (fixture) => {
    const ours = await measureOurs(bench, fixture, count);
    row({ when: 'until the last webhook', ...ours.paid });
    row({ when: 'in the time of the idle stack afterwards', ...ours.afterwards });
    bench.sheet.table('The idle stack: % of a core')({ ...ours.idle, 'ms of a bare INSERT': insertMs });
    bench.sheet.measured('paymentCpu', ours.paid['in all'] / paid['in all']);
    bench.sheet.measured('payments', ours.paid['payments/s'] / paid['payments/s']);
    bench.sheet.measured('idle', (ours.idle['in all'] * PERCENT_MS) / insertMs);
  });
}

async function measureBaseline(bench: Bench, fixture: Fixture, count: number) {
  const simulator = await fixture.startSimulator();
  const baseline = await fixture.startBaseline();
  const subject = await subjectOfBaseline(fixture, { baseline, count: 1 });
  const headers = { 'content-type': 'application/json' };
  const shop = { ...subject, origin: baseline.origin, path: '/sessions', headers };
  try {
    const body = JSON.stringify({ checkoutOrderNo: 'ORDER-1', amount: 100.5 });
    const request = () => ({ method: 'POST', path: shop.path, headers, body }) as const;
    const side = { who: 'bare INSERT', server: baseline, status: 201, request };
    const [{ total: insertMs }] = await costsInTurns(bench, [side], bench.size(1_000, 200));
    const roles = { baseline, PostgreSQL: bench.stack.postgres.child, simulator };
    return { insertMs, paid: await measurePayments(bench, { shop, roles, count }) };
  } finally {
    await release(subject);
  }
}

async function measureOurs(bench: Bench, fixture: Fixture, count: number) {
  const { postgres, temporal } = bench.stack;
  const simulator = await fixture.startSimulator();
  const [api, worker] = [await fixture.startApi(), await fixture.startWorker()];
  const roles = { api, worker, PostgreSQL: postgres.child, Temporal: temporal.child, simulator };
  const receiver = await startReceiver();
  const to = { count: 1, url: receiver.url, eventType: 'payment.succeeded' };
  const [subscription] = await subscribe({ ...fixture, ...api }, to);
  const headers = headersOf(subscription?.key ?? '');
  const path = '/api/checkout/sessions';
  const shop = { db: fixture.db, receiver, isQuiet: NOTHING_PENDING, origin: api.origin, path, headers };
  const seconds = bench.size(60, 10);
  const rest = () => measureEach(roles, () => sleep(seconds * 1_000));
  try {
    bench.say(`the stack idles for ${seconds} s`);
    await sleep(SETTLE_MS);
    const idle = shares(await rest(), seconds * PERCENT_MS);
    const paid = await measurePayments(bench, { shop, roles, count });
    bench.say(`${seconds} s afterwards`);
    return { idle, paid, afterwards: shares(await rest(), count) };
  } finally {
    await receiver.close();
  }
}

const NOTHING_PENDING = `NOT EXISTS (SELECT 1 FROM webhook_delivery WHERE status = 'PENDING' AND status_before_resend IS NULL)`;

type Paying = { shop: Shop; roles: TemporalGateway; count: number };

/** The processor time of a payment by process, and how many are paid and notified in a second. */
async function measurePayments({ say, size }: Bench, { shop, roles, count }: Paying) {
  const { receiver, db, isQuiet } = shop;
  const pay = async (number: number): Promise<void> => {
    receiver.forget();
    await payMany(shop, number);
    await receiver.untilArrived(number, ARRIVED_WITHIN_MS);
    await untilTrue(db, isQuiet, ARRIVED_WITHIN_MS);
  };
  say(`${count} payments at ${shop.origin}`);
  await pay(size(400, 20));
  // Remaining work of the warm-up is excluded.
  await sleep(size(30, 5) * 1_000);
  const startMs = nowMs();
  const spent = await measureEach(roles, () => pay(count));
  const perSecond = (1_000 * count) / (Math.max(...receiver.arrivals.values()) - startMs);
  return { ...shares(spent, count), 'payments/s': perSecond };
}

/** Each part of the processor time, and all but that of the simulator, which stands for the providers. */
function shares(spent: Readonly<Record<string, number>>, parts: number) {
  const each = Object.entries(spent).map(([role, ms]) => [role, ms / parts] as const);
  const own = each.filter(([role]) => role !== 'simulator').map(([, ms]) => ms);
  return { 'in all': own.reduce((sum, ms) => sum + ms, 0), ...Object.fromEntries(each) };
}

async function payMany({ origin, path, headers }: Shop, count: number): Promise<void> {
  const pool = new Pool(origin, { connections: CUSTOMERS_AT_ONCE });
  const post = async (to: string, body: object): Promise<{ sessionId: string }> => {
    const { statusCode, body: reply } = await pool.request({
      method: 'POST',
      path: to,
      headers,
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    // As clients do, on a machine that is busy.
    if (statusCode === 503) return post(to, body);
    if (statusCode >= 300) throw new Error(`${to} responded with ${statusCode}: ${text}`);
    return (JSON.parse(text) as { data: { sessionId: string } }).data;
  };
  let left = count;
  const customer = async (): Promise<void> => {
    while (left-- > 0) {
      const order = { checkoutOrderNo: randomUUID(), amount: 100.5, currency: 'ETB' };
      const { sessionId } = await post(path, order);
      await post(`${path}/${sessionId}/pay`, { channel: 'TELEBIRR', phone: PHONE });
    }
  };
  await Promise.all(Array.from({ length: CUSTOMERS_AT_ONCE }, customer));
  await pool.close();
}
