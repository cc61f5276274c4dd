import type { Clock } from '../../lib/clock.ts';
import { rows, type Trx } from '../../lib/db.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { isInFlight } from './in-flight.ts';
import { resendProblem, type DeliveryStatus, type ResendFacts } from './states.ts';
import { COLUMNS_TO_START, signalDelivery, type DeliveryToStart } from './workflow.ts';

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

type LockedDelivery = ResendFacts & Omit<DeliveryToStart, 'lastOutcome' | 'nextAttemptAt'>;

/** The deliveries that will be resent, and the others with the reason. */
type ResendResult = {
  requested: string[];
  rejected: { deliveryId: string; status: DeliveryStatus; problem: string }[];
};

/**
 * Requests one more attempt of deliveries, now and outside the retry schedule, by the rules of states.ts; event id and bytes
 * stay the same. Signals the workflow of each through the outbox.
 * Throws NOT_FOUND, and INVALID_STATE when none of them may be resent now.
 * @returns the ids of the deliveries that will be resent.
 */
export async function requestResend(deps: { clock: Clock }, tx: UnitOfWork, request: ResendRequest): Promise<string[]> {
  const { requested, rejected } = await resendEligible(deps, tx, request);
  if (requested.length === 0) throw nothingToResend(rejected);
  return requested;
}

/** The same for a batch; does not throw for deliveries that are not eligible. */
export async function resendEligible(
  deps: { clock: Clock },
  tx: UnitOfWork,
  request: ResendRequest,
): Promise<ResendResult> {
  const eligible: LockedDelivery[] = [];
  const rejected: ResendResult['rejected'] = [];
  for (const delivery of await lockDeliveries(tx.trx, request)) {
    const problem = problemOf(delivery, request);
    if (problem === null) eligible.push(delivery);
    else rejected.push({ deliveryId: delivery.deliveryId, status: delivery.status, problem });
  }
  const requested = eligible.map(({ deliveryId }) => deliveryId);
  if (requested.length === 0) return { requested, rejected };
  // A delivery that waits for a retry keeps its status and due time; all others become PENDING.
  await rows(
    tx.trx,
    `UPDATE webhook_delivery
     SET status_before_resend = status, status = CASE WHEN status = 'RETRYING' THEN status ELSE 'PENDING' END,
         next_attempt_at = CASE WHEN status = 'RETRYING' THEN next_attempt_at ELSE :now END
     WHERE id = ANY (:requested)`,
    { requested, now: deps.clock() },
  );
  if (request.signal !== false) await tx.enqueue(eligible.map((delivery) => signalDelivery(delivery, 'retry')));
  return { requested, rejected };
}

/** A resend of a whole event includes failed and skipped deliveries, but none that will be retried. */
function problemOf(delivery: LockedDelivery, request: ResendRequest): string | null {
  const problem = resendProblem(delivery, request.force === true);
  const isOfWholeEvent = 'eventId' in request && request.subscriptionId === undefined;
  if (problem !== null || !isOfWholeEvent || delivery.status !== 'RETRYING') return problem;
  return 'it will be retried by the schedule: pass its subscriptionId to retry it now';
}

async function lockDeliveries(trx: Trx, request: ResendRequest): Promise<LockedDelivery[]> {
  const { scope, signal: _signal, force: _force, ...target } = request;
  const found = await rows<LockedDelivery>(
    trx,
    `SELECT ${COLUMNS_TO_START}, d.status, ${isInFlight('d')} AS in_flight,
            CASE WHEN s.deleted_at IS NOT NULL THEN 'deleted' WHEN s.active THEN 'active' ELSE 'inactive' END AS subscription
     FROM webhook_delivery d
     JOIN webhook_subscription s ON s.id = d.subscription_id
     JOIN webhook_event e ON e.id = d.event_id
     WHERE ${'deliveryIds' in target ? 'd.id = ANY(:deliveryIds)' : 'd.event_id = :eventId'}
       ${'eventId' in target && target.subscriptionId !== undefined ? 'AND d.subscription_id = :subscriptionId' : ''}
       ${scope ? 'AND d.merchant_id = :merchantId AND d.environment = :environment' : ''}
     ORDER BY d.id FOR UPDATE OF d`,
    { ...target, ...scope },
  );
  if (found.length === 0 && 'eventId' in target) await ensureKnown(trx, target, scope);
  return found;
}

/** Throws NOT_FOUND for an unknown event, and for a subscription that has no delivery of it. */
async function ensureKnown(
  trx: Trx,
  { eventId: id, subscriptionId }: { eventId: string; subscriptionId?: string | undefined },
  scope: MerchantScope | null,
): Promise<void> {
  const event = await trx('webhookEvent')
    .where({ id, ...(scope && scopeOf(scope)) })
    .first('id');
  if (!event) throw notFound('event');
  if (subscriptionId !== undefined) throw notFound('subscription of this event');
}

function nothingToResend(rejected: ResendResult['rejected']): AppError {
  const [first, ...others] = rejected;
  if (!first) return new AppError('INVALID_STATE', 'There is nothing to resend: no subscription matched this event.');
  if (others.length === 0) {
    return new AppError('INVALID_STATE', `The delivery is ${first.status} and cannot be resent: ${first.problem}.`);
  }
  const details = rejected.map((one) => ({ field: one.deliveryId, issue: `is ${one.status}: ${one.problem}` }));
  return new AppError('INVALID_STATE', `None of the ${rejected.length} deliveries can be resent now.`, { details });
}
