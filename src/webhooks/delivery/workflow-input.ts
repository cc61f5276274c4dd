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

/** In SQL: the order number in an event's payload, if any; `e` is a webhook_event. */
export const CHECKOUT_ORDER_NO = `CAST(convert_from(e.payload, 'UTF8') AS json) #>> '{data,checkoutOrderNo}'`;

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
