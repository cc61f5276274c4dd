import type { OutboxMessage } from '../lib/outbox.ts';
import type { Environment } from '../lib/owner.ts';

/** What `workflows/webhook-delivery.ts` is started with: ids and numbers, nothing secret, no URL, no body. */
export type DeliveryInput = {
  deliveryId: string;
  merchantId: string;
  environment: Environment;
  eventType: string;
  subscriptionId: string;
  /** The contract's schedule, frozen at the start. Added by whoever starts the workflow. */
  retryDelaysSeconds: number[];
  /** Automatic attempts that failed so far: 0 … 6. */
  attemptsMade: number;
  /** When the next attempt is due, in ms since 1970; null = at once. */
  nextAttemptAtMs: number | null;
  /** fast: the first attempt is a local activity. slow: recent attempts there hung or failed, it gets the slow lane. */
  lane: 'fast' | 'slow';
};

/** The columns a delivery's workflow is started from. */
export type DeliveryToStart = {
  deliveryId: string;
  eventId: string;
  eventType: string;
  subscriptionId: string;
  merchantId: string;
  environment: Environment;
  attemptsMade: number;
  nextAttemptAt: Date | null;
  lane: 'fast' | 'slow';
};

/** One id for life: retries, parking and every resend of a delivery happen under this workflow id. */
export function deliveryWorkflowId(eventId: string, subscriptionId: string): string {
  return `delivery-${eventId}-${subscriptionId}`;
}

/** Workflow type, id and input of a delivery, as every outbox message about it needs them. */
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
      attemptsMade: delivery.attemptsMade,
      nextAttemptAtMs: delivery.nextAttemptAt?.getTime() ?? null,
      lane: delivery.lane,
    },
  };
}
