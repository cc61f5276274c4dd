import type { Environment } from '../../lib/scope.ts';
import type { OutboxMessage } from '../../outbox/record.ts';

/** The outcome of the attempt before the workflow's start. */
export type LastOutcome = { ok: boolean; httpStatus: number | null; code: string | null };

/** The input of `workflows/webhook-delivery.ts`: ids and numbers, no secret, no URL, no body. */
export type DeliveryInput = {
  deliveryId: string;
  merchantId: string;
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
};

/** The delivery's fields that its workflow's input is made of. */
export type DeliveryToStart = Omit<
  DeliveryInput,
  'receiverHost' | 'retryDelaysSeconds' | 'nextAttemptAtMs' | 'parkedSinceMs'
> & {
  eventId: string;
  url: string;
  nextAttemptAt: Date | null;
};

/** In SQL: those fields, without the times; `d` is a webhook_delivery, `s` its subscription, `e` its event. */
export const COLUMNS_TO_START = `
  d.id AS delivery_id, d.event_id, d.event AS event_type, d.subscription_id, d.merchant_id, d.environment,
  d.retry_count AS attempts_made, s.url, CAST(convert_from(e.payload, 'UTF8') AS json) #>> '{data,checkoutOrderNo}' AS checkout_order_no`;

/** Retries, parking and all resends of a delivery happen under this one workflow id. */
export function deliveryWorkflowId(eventId: string, subscriptionId: string): string {
  return `delivery-${eventId}-${subscriptionId}`;
}

/** Workflow type, id and input for outbox messages about a delivery. */
export function deliveryWorkflow(
  delivery: DeliveryToStart,
): Pick<OutboxMessage, 'workflowType' | 'workflowId'> & { input: Omit<DeliveryInput, 'retryDelaysSeconds'> } {
  return {
    workflowType: 'webhookDelivery',
    workflowId: deliveryWorkflowId(delivery.eventId, delivery.subscriptionId),
    input: {
      deliveryId: delivery.deliveryId,
      merchantId: delivery.merchantId,
      environment: delivery.environment,
      eventType: delivery.eventType,
      subscriptionId: delivery.subscriptionId,
      checkoutOrderNo: delivery.checkoutOrderNo,
      receiverHost: new URL(delivery.url).hostname,
      attemptsMade: delivery.attemptsMade,
      lastOutcome: delivery.lastOutcome,
      nextAttemptAtMs: delivery.nextAttemptAt?.getTime() ?? null,
    },
  };
}

/** The message that makes a delivery's workflow read its row again, and starts it where none runs. */
export function signalDelivery(
  delivery: Omit<DeliveryToStart, 'lastOutcome' | 'nextAttemptAt'> & { nextAttemptAt?: Date | null },
  priority: 'retry' | 'normal',
): OutboxMessage {
  const start = deliveryWorkflow({ nextAttemptAt: null, ...delivery, lastOutcome: null });
  return { kind: 'signalWithStart', signal: 'deliveryChanged', priority, ...start };
}
