import type { IncomingHttpHeaders } from 'node:http';

import { verifyWebhook, WebhookVerificationError, type WebhookEvent } from '../../sdk/index.ts';

/** The shop's response to deliveries: 200, 500, or none at all. */
export type Behaviour = 'ok' | 'fail' | 'hang';

/** One POST to the webhook address, as the shop displays it. */
export type Delivery = {
  at: Date;
  /** The event's name; `?` when it did not verify. */
  event: string;
  orderNo: string;
  /** Which delivery of this event it is, counting from 1. */
  number: number;
  /** The `webhook-timestamp` header: when this attempt was signed. */
  signedAt: string;
  verdict: string;
  /** The response's status; null without a response. */
  status: number | null;
};

export type OrderState = { status: string; version: number };

export type Inbox = ReturnType<typeof createInbox>;

const DELIVERIES_MAX = 30;
const REMEMBERED_MAX = 10_000;

/**
 * What every merchant's integration needs: verify the raw bytes, process each event once, store the newest snapshot,
 * respond quickly.
 */
export function createInbox(webhookSecret: string) {
  let behaviour: Behaviour = 'ok';
  const deliveries: Delivery[] = [];
  const timesSeen = new Map<string, number>();
  const processed = new Map<string, true>();
  const orders = new Map<string, OrderState>();

  const process = (event: WebhookEvent): string => {
    if (processed.has(event.event_id)) return 'verified, a duplicate';
    remember(processed, event.event_id, true);
    if (event.data.object !== 'transaction') return 'verified, new';
    const { checkoutOrderNo, status, version } = event.data;
    // Events may come in any order: the highest version is the newest.
    if (version < (orders.get(checkoutOrderNo)?.version ?? 0))
      return 'verified, new, but older than the stored version';
    remember(orders, checkoutOrderNo, { status, version });
    return 'verified, new';
  };

  const handle = (rawBody: Buffer, headers: IncomingHttpHeaders): Omit<Delivery, 'at' | 'signedAt'> => {
    let event: WebhookEvent;
    try {
      event = verifyWebhook(rawBody, headers, webhookSecret);
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      const verdict = `REJECTED (${error.reason}): ${error.message}`;
      return { event: '?', orderNo: '', number: 1, verdict, status: 400 };
    }
    const number = (timesSeen.get(event.event_id) ?? 0) + 1;
    remember(timesSeen, event.event_id, number);
    const orderNo = event.data.object === 'transaction' ? event.data.checkoutOrderNo : '';
    const summary = { event: event.event, orderNo, number };
    if (behaviour === 'fail') return { ...summary, verdict: 'verified, but set to fail', status: 500 };
    if (behaviour === 'hang') return { ...summary, verdict: 'verified, but set to hang', status: null };
    return { ...summary, verdict: process(event), status: 200 };
  };

  return {
    receive: (rawBody: Buffer, headers: IncomingHttpHeaders): Delivery => {
      const seconds = headers['webhook-timestamp'];
      const isTime = typeof seconds === 'string' && /^\d{1,12}$/.test(seconds);
      const signedAt = isTime ? new Date(Number(seconds) * 1_000).toISOString() : 'unknown';
      const delivery = { at: new Date(), signedAt, ...handle(rawBody, headers) };
      deliveries.unshift(delivery);
      deliveries.length = Math.min(deliveries.length, DELIVERIES_MAX);
      return delivery;
    },
    behave: (next: Behaviour): void => void (behaviour = next),
    behaviour: (): Behaviour => behaviour,
    /** The last ones, newest first. */
    deliveries: (): readonly Delivery[] => deliveries,
    /** The order's state by the webhooks so far; undefined without any. */
    orderState: (orderNo: string): OrderState | undefined => orders.get(orderNo),
  };
}

/** Whether it was called with this id before; forgets the oldest ids. */
export function createMemory(): (id: string) => boolean {
  const seen = new Map<string, true>();
  return (id) => {
    const isRepeated = seen.has(id);
    remember(seen, id, true);
    return isRepeated;
  };
}

/** Sets an entry and deletes the oldest one beyond the limit. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED_MAX && oldest !== undefined) map.delete(oldest);
}
