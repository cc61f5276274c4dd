import type { IncomingHttpHeaders } from 'node:http';

import { verifyWebhook, WebhookVerificationError, type WebhookEvent } from '../../sdk/index.ts';

/** What the shop does with deliveries: acknowledge, answer 500, or take them and never answer. */
export type Behaviour = 'ok' | 'fail' | 'hang';

/** One POST to the webhook address, as the shop tells of it. */
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
  /** The status answered; null for none. */
  status: number | null;
};

export type OrderState = { status: string; version: number };

export type Inbox = {
  receive: (rawBody: Buffer, headers: IncomingHttpHeaders) => Delivery;
  behave: (behaviour: Behaviour) => void;
  behaviour: () => Behaviour;
  /** The last ones, newest first. */
  deliveries: () => readonly Delivery[];
  /** What webhooks have told about an order; undefined when nothing yet. */
  orderState: (orderNo: string) => OrderState | undefined;
};

const DELIVERIES_SHOWN_MAX = 30;
const REMEMBERED_MAX = 10_000;

/**
 * The part of a merchant that every integration needs: verify the raw bytes, take each event once, keep the newest
 * snapshot, answer quickly.
 */
export function createInbox(webhookSecret: string): Inbox {
  let behaviour: Behaviour = 'ok';
  const deliveries: Delivery[] = [];
  const timesSeen = new Map<string, number>();
  const taken = new Map<string, true>();
  const orders = new Map<string, OrderState>();

  const take = (event: WebhookEvent): string => {
    if (taken.has(event.event_id)) return 'verified, had it already';
    remember(taken, event.event_id, true);
    if (event.data.object !== 'transaction') return 'verified, new';
    const { checkoutOrderNo, status, version } = event.data;
    // Events may come in any order: the highest version is the newest.
    if (version < (orders.get(checkoutOrderNo)?.version ?? 0)) return 'verified, new, but older than what is known';
    remember(orders, checkoutOrderNo, { status, version });
    return 'verified, new';
  };

  const judge = (rawBody: Buffer, headers: IncomingHttpHeaders): Omit<Delivery, 'at' | 'signedAt'> => {
    let event: WebhookEvent;
    try {
      event = verifyWebhook(rawBody, headers, webhookSecret);
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      const verdict = `REFUSED (${error.reason}): ${error.message}`;
      return { event: '?', orderNo: '', number: 1, verdict, status: 400 };
    }
    const number = (timesSeen.get(event.event_id) ?? 0) + 1;
    remember(timesSeen, event.event_id, number);
    const orderNo = event.data.object === 'transaction' ? event.data.checkoutOrderNo : '';
    const summary = { event: event.event, orderNo, number };
    if (behaviour === 'fail') return { ...summary, verdict: 'verified, but told to fail', status: 500 };
    if (behaviour === 'hang') return { ...summary, verdict: 'verified, but told to hang', status: null };
    return { ...summary, verdict: take(event), status: 200 };
  };

  return {
    receive: (rawBody, headers) => {
      const seconds = headers['webhook-timestamp'];
      const isTime = typeof seconds === 'string' && /^\d{1,12}$/.test(seconds);
      const signedAt = isTime ? new Date(Number(seconds) * 1_000).toISOString() : 'unknown';
      const delivery = { at: new Date(), signedAt, ...judge(rawBody, headers) };
      deliveries.unshift(delivery);
      deliveries.length = Math.min(deliveries.length, DELIVERIES_SHOWN_MAX);
      return delivery;
    },
    behave: (next) => void (behaviour = next),
    behaviour: () => behaviour,
    deliveries: () => deliveries,
    orderState: (orderNo) => orders.get(orderNo),
  };
}

/** Whether it was asked about this id before; of those asked about long ago it no longer knows. */
export function createMemory(): (id: string) => boolean {
  const seen = new Map<string, true>();
  return (id) => {
    const isKnown = seen.has(id);
    remember(seen, id, true);
    return isKnown;
  };
}

/** Sets, and forgets the oldest beyond the limit. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED_MAX && oldest !== undefined) map.delete(oldest);
}
