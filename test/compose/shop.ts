import { setTimeout as sleep } from 'node:timers/promises';

import type { Installation } from './installation.ts';
import { API } from './merchant.ts';
import type { Purchase } from './traffic.ts';

type Order = { orderNo: string; phone: string; expiresInMinutes?: number };

const PAID_WITHIN_MS = 120_000;

export type Shop = ReturnType<typeof createShop>;

/** What a merchant's server asks for with its key. A reply that is no success is an error. */
export function createShop(installation: Installation, key: string) {
  const ok = async <Data>(method: string, path: string, body?: unknown): Promise<Data> => {
    const { status, body: answer } = await installation.send<Data>(method, `${API}${path}`, { key, body });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${answer.message}`);
    return answer.data;
  };

  async function buy({ orderNo: checkoutOrderNo, phone, ...rest }: Order): Promise<string> {
    const order = { checkoutOrderNo, amount: 100.5, currency: 'ETB', ...rest };
    const { sessionId } = await ok<{ sessionId: string }>('POST', '/api/checkout/sessions', order);
    await ok('POST', `/api/checkout/sessions/${sessionId}/pay`, { channel: 'TELEBIRR', phone });
    return sessionId;
  }

  const statusOf = async (sessionId: string | null) =>
    (await ok<{ status: string }>('GET', `/api/checkout/hooks/status/${sessionId}`)).status;
  async function eventsThatAre(status: string, type?: string): Promise<number> {
    const filter = type === undefined ? '' : `&event=${type}`;
    const { body } = await installation.send('GET', `${API}/api/checkout/webhooks/events?status=${status}${filter}`, {
      key,
    });
    if (!body.pagination) throw new Error(`events that are ${status}: ${body.message}`);
    return body.pagination.total;
  }

  /** Asks for one after the other: a key may ask 25 times a second. */
  async function allPaid(purchases: readonly Purchase[]): Promise<void> {
    const deadlineMs = Date.now() + PAID_WITHIN_MS;
    for (const { sessionId } of purchases) {
      while ((await statusOf(sessionId)) !== 'SUCCESS') {
        if (Date.now() > deadlineMs) throw new Error(`${sessionId} is ${await statusOf(sessionId)}`);
        await sleep(500);
      }
      await sleep(50);
    }
  }

  return { key, ok, buy, statusOf, eventsThatAre, allPaid };
}
