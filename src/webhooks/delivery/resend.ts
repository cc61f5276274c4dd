import type { Clock } from '../../lib/clock.ts';
import { rows, type Knex } from '../../lib/db.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { scopeOf, type Environment, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { isInFlight } from './in-flight.ts';
import { decideResend, type DeliveryStatus, type ResendDecision, type ResendFacts } from './states.ts';
import { CHECKOUT_ORDER_NO, deliveryWorkflow } from './workflow-input.ts';

/** Either these deliveries, or those of an event: to one subscription, or all FAILED and SKIPPED ones. */
export type ResendTarget = { deliveryIds: string[] } | { eventId: string; subscriptionId?: string | undefined };

export type ResendRequest = ResendTarget & {
  /** The tenant they must belong to; null where the caller is the delivery's own workflow, or an authorised job. */
  scope: MerchantScope | null;
  /** Includes delivered ones. */
  force?: boolean | undefined;
  /** false when the requester is the delivery's workflow itself, which needs no signal. */
  signal?: boolean;
};

export type ResendDeps = { clock: Clock };

type LockedDelivery = ResendFacts & {
  id: string;
  eventId: string;
  eventType: string;
  subscriptionId: string;
  merchantId: string;
  environment: Environment;
  checkoutOrderNo: string | null;
  url: string;
  retryCount: number;
};

/** The deliveries that will be resent, and the others with the reason. */
export type ResendResult = {
  requested: string[];
  rejected: { deliveryId: string; status: DeliveryStatus; because: string }[];
};

/**
 * Requests one more attempt of deliveries, now and outside the retry schedule, by the rules of states.ts; event id and bytes
 * stay the same. Signals the workflow of each through the outbox.
 * Throws NOT_FOUND, and INVALID_STATE when none of them may be resent now.
 * @returns the ids of the deliveries that will be resent.
 */
export async function requestResend(deps: ResendDeps, tx: UnitOfWork, request: ResendRequest): Promise<string[]> {
  const { requested, rejected } = await resendEligible(deps, tx, request);
  if (requested.length === 0) throw nothingToResend(request, rejected);
  return requested;
}

/** The same for a batch; does not throw for deliveries that are not eligible. */
export async function resendEligible(deps: ResendDeps, tx: UnitOfWork, request: ResendRequest): Promise<ResendResult> {
  const found = await lockDeliveries(tx.trx, request);
  const wholeEvent = 'eventId' in request && request.subscriptionId === undefined;
  const decided = found.map((delivery) => ({
    delivery,
    decision: wholeEvent ? decideInEvent(delivery, request) : decideResend(delivery, request.force === true),
  }));
  const eligible = decided.filter(({ decision }) => decision.allowed).map(({ delivery }) => delivery);
  if (eligible.length > 0) await markForResend(deps, tx, { request, deliveries: eligible });
  return {
    requested: eligible.map(({ id }) => id),
    rejected: decided.flatMap(({ delivery, decision }) =>
      decision.allowed ? [] : { deliveryId: delivery.id, status: delivery.status, because: decision.because },
    ),
  };
}

/** A resend of a whole event includes failed and skipped deliveries, but none that will be retried. */
function decideInEvent(delivery: LockedDelivery, request: ResendRequest): ResendDecision {
  const decision = decideResend(delivery, request.force === true);
  if (!decision.allowed || delivery.status !== 'RETRYING') return decision;
  return { allowed: false, because: 'it will be retried by the schedule: pass its subscriptionId to retry it now' };
}

async function lockDeliveries(trx: Knex.Transaction, request: ResendRequest): Promise<LockedDelivery[]> {
  const bindings = {
    ids: 'deliveryIds' in request ? request.deliveryIds : null,
    eventId: 'eventId' in request ? request.eventId : null,
    subscriptionId: ('eventId' in request && request.subscriptionId) || null,
    merchantId: request.scope?.merchantId ?? null,
    environment: request.scope?.environment ?? null,
  };
  const found = await rows<LockedDelivery>(
    trx,
    `SELECT d.id, d.event_id, d.event AS event_type, d.subscription_id, d.merchant_id, d.environment, d.status,
            d.retry_count, ${isInFlight('d')} AS in_flight, s.url, ${CHECKOUT_ORDER_NO} AS checkout_order_no,
            CASE WHEN s.deleted_at IS NOT NULL THEN 'deleted' WHEN s.active THEN 'active' ELSE 'inactive' END AS subscription
     FROM webhook_delivery d
     JOIN webhook_subscription s ON s.id = d.subscription_id
     JOIN webhook_event e ON e.id = d.event_id
     WHERE ${'deliveryIds' in request ? 'd.id = ANY(:ids)' : 'd.event_id = :eventId'}
       ${bindings.subscriptionId === null ? '' : 'AND d.subscription_id = :subscriptionId'}
       ${request.scope ? 'AND d.merchant_id = :merchantId AND d.environment = :environment' : ''}
     ORDER BY d.id FOR UPDATE OF d`,
    bindings,
  );
  if (found.length === 0) await rejectUnknown(trx, request);
  return found;
}

/** No delivery was found. Throws NOT_FOUND unless the event exists without deliveries. */
async function rejectUnknown(trx: Knex.Transaction, request: ResendRequest): Promise<void> {
  if (!('eventId' in request)) return;
  const { eventId, scope } = request;
  const known = await trx('webhookEvent')
    .where({ id: eventId, ...(scope && scopeOf(scope)) })
    .first('id');
  if (!known) throw notFound('event');
  if (request.subscriptionId !== undefined) throw notFound('subscription of this event');
}

type Eligible = { request: ResendRequest; deliveries: LockedDelivery[] };

/** A delivery that waits for a retry keeps its status and due time; all others become PENDING. */
async function markForResend(deps: ResendDeps, tx: UnitOfWork, { request, deliveries }: Eligible): Promise<void> {
  await rows(
    tx.trx,
    `UPDATE webhook_delivery
     SET status_before_resend = status, status = CASE WHEN status = 'RETRYING' THEN status ELSE 'PENDING' END,
         next_attempt_at = CASE WHEN status = 'RETRYING' THEN next_attempt_at ELSE :now END
     WHERE id = ANY (:ids)`,
    { ids: deliveries.map(({ id }) => id), now: deps.clock() },
  );
  if (request.signal === false) return;
  await tx.enqueue(
    deliveries.map((delivery) => ({
      kind: 'signalWithStart',
      priority: 'retry',
      signal: 'deliveryChanged',
      ...deliveryWorkflow({
        ...delivery,
        deliveryId: delivery.id,
        attemptsMade: delivery.retryCount,
        lastOutcome: null,
        nextAttemptAt: null,
      }),
    })),
  );
}

function nothingToResend(request: ResendRequest, rejected: ResendResult['rejected']): AppError {
  const [first] = rejected;
  if (!first) return new AppError('INVALID_STATE', 'There is nothing to resend: no subscription matched this event.');
  if (rejected.length === 1) {
    return new AppError('INVALID_STATE', `The delivery is ${first.status} and cannot be resent: ${first.because}.`);
  }
  const details = rejected.map((one) => ({ field: one.deliveryId, issue: `is ${one.status}: ${one.because}` }));
  const what = 'eventId' in request ? 'of this event ' : '';
  return new AppError('INVALID_STATE', `None of the ${rejected.length} deliveries ${what}can be resent now.`, {
    details,
  });
}
