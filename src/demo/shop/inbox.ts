import type { IncomingHttpHeaders } from 'node:http';

import { verifyWebhook, WebhookVerificationError, type WebhookEvent } from '../../sdk/index.ts';

/** The shop's response to deliveries: 200, 500, or none at all. */
export const BEHAVIOURS = ['ok', 'fail', 'hang'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

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
  const deliveries: Delivery[] = [];
  const events = new Map<string, { number: number; isProcessed: boolean }>();
  const orders = new Map<string, OrderState>();
  const inbox = {
    behaviour: 'ok' as Behaviour,
    /** The last ones, newest first. */
    deliveries,
    orders: orders as ReadonlyMap<string, OrderState>,
    receive: (rawBody: Buffer, headers: IncomingHttpHeaders): Delivery => {
      const seconds = Number(headers['webhook-timestamp']);
      const signedAt = Math.abs(seconds) < 1e12 ? new Date(seconds * 1_000).toISOString() : 'unknown';
      const delivery = { at: new Date(), signedAt, ...handle(rawBody, headers) };
      deliveries.unshift(delivery);
      deliveries.length = Math.min(deliveries.length, DELIVERIES_MAX);
      return delivery;
    },
  };

  const process = ({ data }: WebhookEvent): string => {
    if (data.object !== 'transaction') return 'verified, new';
    const { checkoutOrderNo, status, version } = data;
    // Events may come in any order: the highest version is the newest.
    const isOlder = version < (orders.get(checkoutOrderNo)?.version ?? 0);
    if (!isOlder) remember(orders, checkoutOrderNo, { status, version });
    return isOlder ? 'verified, new, but older than the stored version' : 'verified, new';
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
    const { number, isProcessed } = events.get(event.event_id) ?? { number: 0, isProcessed: false };
    remember(events, event.event_id, { number: number + 1, isProcessed: isProcessed || inbox.behaviour === 'ok' });
    const orderNo = event.data.object === 'transaction' ? event.data.checkoutOrderNo : '';
    const summary = { event: event.event, orderNo, number: number + 1 };
    if (inbox.behaviour === 'fail') return { ...summary, verdict: 'verified, but set to fail', status: 500 };
    if (inbox.behaviour === 'hang') return { ...summary, verdict: 'verified, but set to hang', status: null };
    return { ...summary, verdict: isProcessed ? 'verified, a duplicate' : process(event), status: 200 };
  };
  return inbox;
}

/** Sets an entry and deletes the oldest one beyond the limit. */
export function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED_MAX && oldest !== undefined) map.delete(oldest);
}
