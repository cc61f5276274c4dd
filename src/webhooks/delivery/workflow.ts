import type { Environment } from '../../lib/scope.ts';
import type { OutboxMessage } from '../../outbox/record.ts';
import { findRecoverable } from '../../outbox/recover-workflows.ts';
import type { WorkItemSource } from '../../outbox/work-items.ts';
import { isQueued, isScheduled, subscriptionsWith } from './in-flight.ts';

/** The outcome of the attempt before the workflow's start. */
export type LastOutcome = {
  ok: boolean;
  httpStatus: number | null;
  code: string | null;
  /** When it started, in ms since 1970, and the first characters of the response: for the Temporal UI. */
  atMs?: number;
  answer?: string;
};

/** An attempt as the details of the workflow list it. */
export type ListedAttempt = Pick<LastOutcome, 'httpStatus' | 'code' | 'atMs' | 'answer'>;

/** The input of `workflows/webhook-delivery.ts`: ids, numbers, names of merchant and host; no secret, no URL, no body. */
export type DeliveryInput = {
  deliveryId: string;
  eventId: string;
  merchantId: string;
  merchantName: string;
  environment: Environment;
  eventType: string;
  subscriptionId: string;
  /** The merchant's order number, where the event has one. */
  checkoutOrderNo: string | null;
  /** The host name of the subscription's URL. */
  receiverHost: string;
  /** The contract's schedule at the time of the start. Added by the Temporal gateway. */
  retryDelaysSeconds: number[];
  /** Scheduled attempts that failed so far: 0 … 6. */
  attemptsMade: number;
  /** Null when the workflow is started to make an attempt: a resend, or a recovery. */
  lastOutcome: LastOutcome | null;
  /** When the next attempt is due, in ms since 1970; null: at once, or never after a final outcome. */
  nextAttemptAtMs: number | null;
  /** Since when it has been parked for a resend, in ms since 1970, where an earlier run was parked. */
  parkedSinceMs?: number;
  /** The last attempts of earlier runs. */
  lastAttempts?: ListedAttempt[];
};

/** What a workflow's input is made of, without the outcome where the workflow is to make an attempt. */
export type DeliveryToStart = Omit<
  DeliveryInput,
  'receiverHost' | 'retryDelaysSeconds' | 'nextAttemptAtMs' | 'parkedSinceMs' | 'lastOutcome' | 'lastAttempts'
> & { url: string; nextAttemptAt?: Date | null; lastOutcome?: LastOutcome };

/** In SQL: the order that an event is about, where it is about one; `e` is a webhook_event. */
const ORDER_NO = `CAST(convert_from(e.payload, 'UTF8') AS json) #>> '{data,checkoutOrderNo}'`;

/** In SQL: those fields, without the times; `d` is a webhook_delivery, `s` its subscription, `e` its event. */
export const COLUMNS_TO_START = `
  d.id AS delivery_id, d.event_id, d.event AS event_type, d.subscription_id, d.merchant_id, d.environment,
  (SELECT m.name FROM merchant m WHERE m.id = d.merchant_id) AS merchant_name, d.retry_count AS attempts_made, s.url, ${ORDER_NO} AS checkout_order_no`;

/** Retries, parking and all resends of a delivery happen under this one workflow id. */
export function deliveryWorkflowId(eventId: string, subscriptionId: string): string {
  return `delivery-${eventId}-${subscriptionId}`;
}

/** Workflow type, id and input for outbox messages about a delivery. */
export function deliveryWorkflow({ eventId, url, nextAttemptAt, ...delivery }: DeliveryToStart) {
  const { deliveryId, merchantId, merchantName, environment, eventType, subscriptionId } = delivery;
  const { checkoutOrderNo, attemptsMade } = delivery;
  const ids = { deliveryId, eventId, merchantId, subscriptionId };
  const facts = { ...ids, merchantName, environment, eventType, checkoutOrderNo, attemptsMade };
  const input: Omit<DeliveryInput, 'retryDelaysSeconds'> = {
    ...facts,
    receiverHost: new URL(url).hostname,
    lastOutcome: delivery.lastOutcome ?? null,
    nextAttemptAtMs: nextAttemptAt?.getTime() ?? null,
  };
  return { workflowType: 'webhookDelivery', workflowId: deliveryWorkflowId(eventId, subscriptionId), input };
}

/** The message that makes a delivery's workflow read its row again, and starts it where none runs. */
export function signalDelivery(delivery: DeliveryToStart, priority: 'retry' | 'normal'): OutboxMessage {
  return { kind: 'signalWithStart', signal: 'deliveryChanged', priority, ...deliveryWorkflow(delivery) };
}

/** For each subscription, so that many late deliveries of one hide none of another. */
const PAST_DUE_OF_EACH = 5;
const PAST_DUE_MAX = 1_000;

/** The longest overdue first. A loose scan over subscriptions, which does not read deliveries that are due later. */
const PAST_DUE = `
  WITH RECURSIVE ${subscriptionsWith('waiting', isScheduled('d'))}
  SELECT late.id FROM waiting w CROSS JOIN LATERAL (
    SELECT d.id, d.next_attempt_at FROM webhook_delivery d
    WHERE ${isScheduled('d')} AND d.subscription_id = w.subscription_id AND d.next_attempt_at < now() - interval '60 seconds'
    ORDER BY d.next_attempt_at LIMIT ${PAST_DUE_OF_EACH}) late
  ORDER BY late.next_attempt_at LIMIT ${PAST_DUE_MAX}`;

/** Those that wait for a retry or a resend; the dispatcher makes the first attempts. Overdue: a minute late. */
export const findRecoverableDeliveries = findRecoverable<DeliveryToStart>({
  columns: `${COLUMNS_TO_START}, d.next_attempt_at, d.next_attempt_at < now() - interval '60 seconds' AS overdue`,
  from: `webhook_delivery d
           JOIN webhook_subscription s ON s.id = d.subscription_id
           JOIN webhook_event e ON e.id = d.event_id`,
  id: 'd.id',
  isOpen: isScheduled('d'),
  changedAt: 'greatest(d.created_at, d.last_attempt_at)',
  isPastDue: `d.id = ANY (ARRAY(${PAST_DUE}))`,
  workflowId: "'delivery-' || d.event_id || '-' || d.subscription_id",
  message: (delivery) => signalDelivery(delivery, 'normal'),
});

/** Failed deliveries without a successful resend or a dismissal. Those of deleted subscriptions cannot be resent. */
export const DEAD_LETTER_ITEMS: WorkItemSource = {
  kinds: ['DEAD_LETTER'],
  sql: `SELECT 'DEAD_LETTER' AS kind, d.id, d.merchant_id, d.environment, NULL::bigint AS amount_santim, l.opened_at AS since,
               d.event || coalesce(' of ' || (${ORDER_NO}), '') || ' to ' || s.receiver_host || ' was not delivered; attempts: ' || d.attempts
                 || coalesce('. ' || CAST(d.last_failure ->> 'message' AS text), '') AS what,
               jsonb_build_object('event', d.event, 'eventId', d.event_id, 'subscriptionId', d.subscription_id,
                                  'checkoutOrderNo', ${ORDER_NO}, 'receiverHost', s.receiver_host, 'attempts', d.attempts,
                                  'lastHttpStatus', d.last_http_status, 'isActive', s.active) AS detail,
               'delivery-' || d.event_id || '-' || d.subscription_id AS workflow_id
        FROM webhook_dead_letter l
        JOIN webhook_delivery d ON d.id = l.delivery_id
        JOIN webhook_subscription s ON s.id = d.subscription_id
        JOIN webhook_event e ON e.id = d.event_id
        WHERE l.closed_at IS NULL AND l.dismissed_at IS NULL AND s.deleted_at IS NULL`,
};

/** Deliveries whose next attempt is more than a minute late. */
export const STALLED_DELIVERIES: WorkItemSource = {
  kinds: ['DELIVERY_PAST_DUE'],
  sql: `SELECT 'DELIVERY_PAST_DUE' AS kind, d.id, d.merchant_id, d.environment, NULL::bigint AS amount_santim,
               d.next_attempt_at AS since,
               'The next attempt is late; attempts so far: ' || d.attempts AS what,
               jsonb_build_object('event', d.event, 'eventId', d.event_id, 'subscriptionId', d.subscription_id,
                                  'attempts', d.attempts) AS detail,
               'delivery-' || d.event_id || '-' || d.subscription_id AS workflow_id
        FROM webhook_delivery d
        WHERE d.next_attempt_at < CAST(:at AS timestamptz) - interval '1 minute'
          AND (${isQueued('d')} OR ${isScheduled('d')})`,
};
