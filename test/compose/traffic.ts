import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Installation, Reply } from './installation.ts';
import { API } from './merchant.ts';

const PAYER = { channel: 'TELEBIRR', phone: '0911000001' };
/** A request that gets no answer is repeated once, within the 10 s that a merchant's server would wait. */
const REPEAT_AFTER_MS = 3_000;

/** One purchase: its session, and whether its requests got their answers. */
export type Purchase = { orderNo: string; sessionId: string | null; lost: string | null };

type Traffic = { purchases: readonly Purchase[]; lost: string[]; repeats: number; times: readonly number[] };

/**
 * Purchases at a steady rate, each a session and its payment, as a merchant's server makes them: with an Idempotency-Key,
 * repeated once after no answer or one that asks for it.
 */
export function startTraffic(installation: Installation, { key, perSecond }: { key: string; perSecond: number }) {
  const purchases: Purchase[] = [];
  const running = new Set<Promise<void>>();
  /** Of each answered request, in ms. */
  const times: number[] = [];
  let repeats = 0;
  let isStopped = false;
  const prefix = randomUUID().slice(0, 8);

  async function post(path: string, body: object): Promise<Reply> {
    const request = { key, body, idempotencyKey: randomUUID() };
    const startedAt = performance.now();
    const first = await installation.send('POST', `${API}${path}`, request).catch(() => null);
    if (first) times.push(performance.now() - startedAt);
    if (first && first.status < 500 && first.status !== 429 && first.status !== 409) return first;
    repeats += 1;
    await sleep(REPEAT_AFTER_MS);
    return installation.send('POST', `${API}${path}`, request);
  }

  async function buy(purchase: Purchase): Promise<void> {
    const expected = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const { status, body: answer } = await post(path, body);
      if (status >= 300) throw new Error(`${path}: ${status} ${answer.message}`);
      return answer.data;
    };
    try {
      const order = { checkoutOrderNo: purchase.orderNo, amount: 100.5, currency: 'ETB' };
      purchase.sessionId = String((await expected('/api/checkout/sessions', order))['sessionId']);
      await expected(`/api/checkout/sessions/${purchase.sessionId}/pay`, PAYER);
    } catch (error) {
      purchase.lost = (error as Error).message;
    }
  }

  const loop = (async () => {
    for (let count = 1; !isStopped; count += 1) {
      const purchase: Purchase = { orderNo: `${prefix}-${count}`, sessionId: null, lost: null };
      purchases.push(purchase);
      const bought: Promise<void> = buy(purchase).finally(() => running.delete(bought));
      running.add(bought);
      await sleep(1_000 / perSecond);
    }
  })();

  return {
    /** Resolves once every purchase has its answers. */
    stop: async (): Promise<Traffic> => {
      isStopped = true;
      await loop;
      await Promise.all(running);
      return { purchases, lost: purchases.flatMap(({ lost }) => lost ?? []), repeats, times };
    },
  };
}
