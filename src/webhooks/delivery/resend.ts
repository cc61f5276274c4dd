import type { Clock } from '../../lib/clock.ts';
import { first, rows, type Trx } from '../../lib/db.ts';
import { AppError, found, invalidState, notFound } from '../../lib/errors.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { RESEND_FACTS } from './queries.ts';
import { abandonDelivery } from './record-attempt.ts';
import { resendProblem, type ResendFacts } from './states.ts';
import { COLUMNS_TO_START, signalDelivery, type DeliveryToStart } from './workflow.ts';

/** Either these deliveries, or those of an event: to one subscription, or all FAILED and SKIPPED ones. */
export type ResendTarget = { deliveryIds: string[] } | { eventId: string; subscriptionId?: string | undefined };

export type ResendRequest = ResendTarget & {
  /** The tenant they must belong to; null where the caller is the delivery's own workflow, or an authorised job. */
  scope: MerchantScope | null;
  /** Includes delivered ones. */
  force?: boolean | undefined;
  /** Of the operator who requests it, '' without one; null or undefined when no operator does. */
  reason?: string | null | undefined;
  /** false when the requester is the delivery's workflow itself, which needs no signal. */
  signal?: boolean;
};

type LockedDelivery = ResendFacts & DeliveryToStart;

/** A delivery that will not be resent, and the reason. */
type Rejected = LockedDelivery & { problem: string };

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
export async function resendEligible(deps: { clock: Clock }, tx: UnitOfWork, request: ResendRequest) {
  const locked = await lockDeliveries(tx.trx, request);
  const checked = locked.map((delivery) => ({ ...delivery, problem: problemOf(delivery, request) }));
  const rejected = checked.filter((delivery): delivery is Rejected => delivery.problem !== null);
  const eligible = checked.filter(({ problem }) => problem === null);
  const requested = eligible.map(({ deliveryId }) => deliveryId);
  if (requested.length === 0) return { requested, rejected };
  // A delivery that waits for a retry keeps its status and due time; all others become PENDING.
  const sql = `
    UPDATE webhook_delivery
    SET status_before_resend = status, status = CASE WHEN status = 'RETRYING' THEN status ELSE 'PENDING' END,
        next_attempt_at = CASE WHEN status = 'RETRYING' THEN next_attempt_at ELSE :now END,
        resend_reason = coalesce(CAST(:reason AS text), resend_reason)
    WHERE id = ANY (:requested)`;
  await rows(tx.trx, sql, { requested, reason: request.reason ?? null, now: deps.clock() });
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

/** Throws NOT_FOUND for an unknown event, and for a subscription that has no delivery of it. */
async function lockDeliveries(trx: Trx, { scope, ...target }: ResendRequest): Promise<LockedDelivery[]> {
  const isOfOne = 'eventId' in target && target.subscriptionId !== undefined;
  const inScope = (table: string): string =>
    scope ? `AND ${table}.merchant_id = :merchantId AND ${table}.environment = :environment` : '';
  const values = { ...target, ...scope };
  const sql = `
    SELECT ${COLUMNS_TO_START}, ${RESEND_FACTS}
    FROM webhook_delivery d
    JOIN webhook_subscription s ON s.id = d.subscription_id
    JOIN webhook_event e ON e.id = d.event_id
    WHERE ${'deliveryIds' in target ? 'd.id = ANY(:deliveryIds)' : 'd.event_id = :eventId'}
      ${isOfOne ? 'AND d.subscription_id = :subscriptionId' : ''} ${inScope('d')}
    ORDER BY d.id FOR UPDATE OF d`;
  const deliveries = await rows<LockedDelivery>(trx, sql, values);
  if (deliveries.length > 0 || 'deliveryIds' in target) return deliveries;
  const event = await first(trx, `SELECT e.id FROM webhook_event e WHERE e.id = :eventId ${inScope('e')}`, values);
  if (!event) throw notFound('event');
  if (isOfOne) throw notFound('subscription of this event');
  return [];
}

function nothingToResend(rejected: Rejected[]): AppError {
  const [one, ...others] = rejected;
  if (!one) return invalidState('There is nothing to resend: no subscription matched this event.');
  if (others.length === 0) {
    return invalidState(`The delivery is ${one.status} and cannot be resent: ${one.problem}.`);
  }
  const details = rejected.map(({ deliveryId, status, problem }) => ({
    field: deliveryId,
    issue: `is ${status}: ${problem}`,
  }));
  return new AppError('INVALID_STATE', `None of the ${rejected.length} deliveries can be resent now.`, { details });
}

/**
 * Gives up a delivery that is still being tried: it is FAILED, with a dead letter, and its workflow is signalled. Throws
 * NOT_FOUND, and INVALID_STATE for a final one.
 */
export async function cancelDelivery(tx: UnitOfWork, request: { deliveryId: string; at: Date }): Promise<void> {
  const [delivery] = await lockDeliveries(tx.trx, { scope: null, deliveryIds: [request.deliveryId] });
  const waiting = found(delivery, 'delivery');
  const { status } = waiting;
  if (status !== 'PENDING' && status !== 'RETRYING') {
    throw invalidState(`The delivery is ${status}: only a PENDING or RETRYING one can be given up.`);
  }
  await abandonDelivery(tx.trx, request);
  await tx.enqueue([signalDelivery(waiting, 'normal')]);
}

/**
 * Ends operators' work on a dead letter without a resend: the delivery stays FAILED and can be resent. Throws NOT_FOUND, and
 * INVALID_STATE without a dead letter, or with one that was dismissed before.
 */
export async function dismissDeadLetter({ trx }: UnitOfWork, request: { deliveryId: string; at: Date }): Promise<void> {
  const [delivery] = await lockDeliveries(trx, { scope: null, deliveryIds: [request.deliveryId] });
  const { status } = found(delivery, 'delivery');
  if (status !== 'FAILED')
    throw invalidState(`The delivery is ${status}: only a FAILED one has a dead letter to dismiss.`);
  const sql = `
    UPDATE webhook_dead_letter SET dismissed_at = :at
    WHERE delivery_id = :deliveryId AND closed_at IS NULL AND dismissed_at IS NULL RETURNING id`;
  if (!(await first(trx, sql, request))) throw invalidState('The dead letter of this delivery was dismissed before.');
}
