import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Pool } from 'undici';

import { inFixture, untilTrue, type Bench, type Fixture } from '../fixture.ts';
import { measureEach } from '../measure.ts';
import { nowMs } from '../numbers.ts';
import { startReceiver } from '../receiver.ts';
import { headersOf, subscribe } from '../subjects.ts';

const CUSTOMERS_AT_ONCE = 16;
const PHONE = '0911000001';
const ARRIVED_WITHIN_MS = 180_000;
/** The time after its start until it is idle. */
const SETTLE_MS = 10_000;

/**
 * The complete payment, session to webhook, in mode "failed": its cost, also in the minute afterwards, and the cost of
 * idling.
 */
export async function payments(bench: Bench): Promise<void> {
  await inFixture(bench, (fixture) => measureAll(bench, fixture));
}

async function measureAll(bench: Bench, fixture: Fixture): Promise<void> {
  const { stack, sheet, size } = bench;
  const simulator = await fixture.startSimulator();
  const [api, worker] = [await fixture.startApi(), await fixture.startWorker()];
  const receiver = await startReceiver();
  const [subscription] = await subscribe(
    { ...fixture, ...api },
    { count: 1, url: receiver.url, eventType: 'payment.succeeded' },
  );
  const key = subscription?.key ?? '';
  const { postgres, temporal } = stack;
  const roles = { api, worker, PostgreSQL: postgres.child, Temporal: temporal.child, simulator };
  const pay = async (count: number): Promise<void> => {
    receiver.forget();
    await payMany(api.origin, { key, count });
    await receiver.untilArrived(count, ARRIVED_WITHIN_MS);
    await untilTrue(
      fixture.db,
      `NOT EXISTS (SELECT 1 FROM webhook_delivery WHERE status = 'PENDING' AND status_before_resend IS NULL)`,
      ARRIVED_WITHIN_MS,
    );
  };
  try {
    const seconds = size(60, 10);
    bench.say('the stack idles');
    await sleep(SETTLE_MS);
    const idle = await measureEach(roles, () => sleep(seconds * 1_000));
    const share = (ms: number): number => ms / seconds / 10;
    sheet.table(`The idle stack over ${seconds} s: % of a core`)(shares(idle, share));
    sheet.measured('idle', share(totalOf(idle)));

    const count = size(1_000, 50);
    const row = sheet.table(`${count} payments, session to webhook, mode "failed": CPU ms each`);
    bench.say(`${count} payments`);
    await pay(size(400, 20));
    // Remaining work of the warm-up is excluded.
    await sleep(size(30, 5) * 1_000);
    const startMs = nowMs();
    const paying = await measureEach(roles, () => pay(count));
    const perSecond = (1_000 * count) / (Math.max(...receiver.arrivals.values()) - startMs);
    const each = (ms: number): number => ms / count;
    row({ when: 'until the last webhook', ...shares(paying, each), 'payments/s': perSecond });
    sheet.measured('paymentCpu', each(totalOf(paying)));
    sheet.measured('payments', perSecond);
    bench.say(`${seconds} s afterwards`);
    const after = await measureEach(roles, () => sleep(seconds * 1_000));
    row({ when: `in ${seconds} s afterwards`, ...shares(after, each) });
  } finally {
    await receiver.close();
  }
}

type Spent = Record<'api' | 'worker' | 'PostgreSQL' | 'Temporal' | 'simulator', number>;

/** The simulator replaces the providers: its cost is excluded. */
const totalOf = ({ api, worker, PostgreSQL, Temporal }: Spent): number => api + worker + PostgreSQL + Temporal;

function shares(all: Spent, shareOf: (ms: number) => number): Record<string, number> {
  const each = Object.fromEntries(Object.entries(all).map(([role, ms]) => [role, shareOf(ms)]));
  return { 'in all': shareOf(totalOf(all)), ...each };
}

async function payMany(origin: string, { key, count }: { key: string; count: number }): Promise<void> {
  const pool = new Pool(origin, { connections: CUSTOMERS_AT_ONCE });
  const post = async (path: string, body: object): Promise<{ sessionId: string }> => {
    const response = await pool.request({ method: 'POST', path, headers: headersOf(key), body: JSON.stringify(body) });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${path} responded with ${response.statusCode}: ${text}`);
    return (JSON.parse(text) as { data: { sessionId: string } }).data;
  };
  let left = count;
  const customer = async (): Promise<void> => {
    while (left-- > 0) {
      const order = { checkoutOrderNo: randomUUID(), amount: 100.5, currency: 'ETB' };
      const { sessionId } = await post('/api/checkout/sessions', order);
      await post(`/api/checkout/sessions/${sessionId}/pay`, { channel: 'TELEBIRR', phone: PHONE });
    }
  };
  await Promise.all(Array.from({ length: CUSTOMERS_AT_ONCE }, customer));
  await pool.close();
}
