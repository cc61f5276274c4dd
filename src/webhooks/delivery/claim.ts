import { first, rows, type Queryable } from '../../lib/db.ts';
import type { Environment } from '../../lib/scope.ts';
import { isInFlight, isQueued, type InFlightLimits } from './in-flight.ts';

/** In SQL: skips deliveries d of an inactive or deleted subscription; a resend returns to the final status before it. */
export const SKIP = `
  UPDATE webhook_delivery d
  SET status = CASE WHEN d.status_before_resend IN ('FAILED', 'DELIVERED') THEN d.status_before_resend ELSE 'SKIPPED' END,
      status_before_resend = NULL, resend_reason = NULL, in_flight_attempt_id = NULL, in_flight_since = NULL,
      next_attempt_at = NULL`;

/** A retry may be this early, because clocks of machines differ. */
const EARLY_MS = 500;

/** A claimed attempt with everything needed to send and record it. */
export type ClaimedAttempt = {
  attemptId: string;
  deliveryId: string;
  eventId: string;
  event: string;
  merchantId: string;
  merchantName: string;
  environment: Environment;
  subscriptionId: string;
  sequence: number;
  /** Scheduled attempts that failed before this one. */
  retryCount: number;
  /** A resend, outside the schedule. */
  manual: boolean;
  /** Of the operator who requested the resend, '' without a reason; null when no operator did. */
  reason: string | null;
  /** By the database's clock; of a retry by its workflow's. */
  startedAt: Date;
  payload: Buffer;
  url: string;
  signatureEncoding: 'base64' | 'hex';
  headers: Buffer | null;
  secret: Buffer;
  previousSecret: Buffer | null;
  secretHint: string;
  /** It goes to the built-in receiver of the sandbox, and nowhere else. */
  toSandboxReceiver: boolean;
  /** Its subscription hung or failed recently. */
  throttled: boolean;
  /** The step of a trace that the attempt follows; null: none is known. */
  traceparent: string | null;
};

/** The columns that an attempt needs; `d` is a webhook_delivery, `s` its webhook_subscription. */
const COLUMNS = `
  d.id, d.event_id, d.event, d.merchant_id, d.environment, d.subscription_id, d.attempts, d.retry_count, d.status_before_resend, d.resend_reason,
  d.in_flight_attempt_id, d.in_flight_since, d.traceparent, s.url, s.signature_encoding, s.headers, s.secret, s.secret_hint,
  s.sandbox_receiver IS NOT NULL AS to_sandbox_receiver,
  CASE WHEN s.previous_secret_expires_at > now() THEN s.previous_secret END AS previous_secret,
  s.active AND s.deleted_at IS NULL AS active, coalesce(s.throttled_until > now(), false) AS throttled`;

/** In SQL: the id of a delivery's next attempt, made of the delivery's id and a number. */
const attemptId = (delivery: string): string =>
  `'wha_' || substr(${delivery}.id, 5) || two_digits(${delivery}.attempts + 1)`;

/**
 * In the statement that locks the deliveries as `locked`: marks them as in flight, writes the attempt that a dead process
 * left behind as `interrupted`, skips the deliveries of inactive subscriptions, and returns what sending needs.
 */
const claimLocked = (locked: string): string => `
  ${locked}, interrupted_attempt AS (
    INSERT INTO webhook_attempt (id, delivery_id, sequence, delivery_number, retry_number, source, reason, url, secret_hint,
                                 started_at, ended_at, failure)
    SELECT in_flight_attempt_id, id, attempts,
           CASE WHEN status_before_resend IS NULL THEN retry_count + 1 END, CASE WHEN status_before_resend IS NULL THEN retry_count END,
           CASE WHEN status_before_resend IS NULL THEN 'auto' WHEN resend_reason IS NULL THEN 'manual' ELSE 'operator' END,
           nullif(resend_reason, ''), url, secret_hint, in_flight_since, clock_timestamp(),
           '{"code": "interrupted", "message": "The sending process ended; the receiver may have received the event."}'
    FROM locked WHERE in_flight_attempt_id IS NOT NULL
    ON CONFLICT (delivery_id, sequence) DO NOTHING
  ), skipped AS (
    ${SKIP} WHERE d.id = ANY (ARRAY(SELECT id FROM locked WHERE NOT active))
  ), claimed AS (
    UPDATE webhook_delivery d
    SET in_flight_attempt_id = ${attemptId('d')}, in_flight_since = clock_timestamp(), attempts = d.attempts + 1
    WHERE d.id = ANY (ARRAY(SELECT id FROM locked WHERE active))
  )
  SELECT ${attemptId('l')} AS attempt_id, l.id AS delivery_id, l.event_id, l.event, l.merchant_id, l.environment,
         l.subscription_id, l.attempts + 1 AS sequence, l.retry_count, l.status_before_resend IS NOT NULL AS manual,
         l.resend_reason AS reason, (SELECT m.name FROM merchant m WHERE m.id = l.merchant_id) AS merchant_name,
         now() AS started_at, (SELECT e.payload FROM webhook_event e WHERE e.id = l.event_id) AS payload,
         l.url, l.signature_encoding, l.headers, l.secret, l.previous_secret, l.secret_hint, l.active, l.to_sandbox_receiver,
         l.throttled, l.traceparent
  FROM locked l`;

/** Values in sub-selects are unknown to the planner, so that it keeps one plan instead of one per claim. */
const CLAIM_DUE = claimLocked(`
  WITH RECURSIVE waiting (subscription_id) AS (
    (SELECT d.subscription_id FROM webhook_delivery d
     WHERE ${isQueued('d')} AND d.subscription_id > (SELECT CAST(:after AS text)) ORDER BY d.subscription_id, d.id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_id FROM webhook_delivery d
            WHERE ${isQueued('d')} AND d.subscription_id > w.subscription_id ORDER BY d.subscription_id, d.id LIMIT 1)
    FROM waiting w WHERE w.subscription_id IS NOT NULL
  ), locked AS (
    SELECT ${COLUMNS}
    FROM waiting w
    CROSS JOIN LATERAL (
      SELECT s.*,
             coalesce(CAST((SELECT CAST(:inFlight AS jsonb)) ->> s.id AS integer), 0) AS in_flight
      FROM webhook_subscription s WHERE s.id = w.subscription_id OFFSET 0
    ) s
    CROSS JOIN LATERAL (
      SELECT d.* FROM webhook_delivery d
      WHERE ${isQueued('d')} AND d.subscription_id = w.subscription_id
        AND (d.in_flight_since IS NULL OR (SELECT CAST(:reclaim AS boolean)) AND NOT ${isInFlight('d')}
                                        AND d.id <> ALL (ARRAY(SELECT unnest(CAST(:held AS text[])))))
      ORDER BY d.id
      LIMIT CASE WHEN coalesce(s.throttled_until <= now(), true) AND s.id <> ALL (ARRAY(SELECT unnest(CAST(:slow AS text[])))) THEN greatest(:perSubscription - s.in_flight, 0)
                 WHEN (SELECT CAST(:throttledToo AS boolean)) THEN greatest(:perThrottled - s.in_flight, 0) ELSE 0 END
      FOR UPDATE SKIP LOCKED
    ) d
    LIMIT (SELECT CAST(:limit AS integer))
  )`);

/** `active`: false when its subscription is inactive, and the delivery was skipped. */
type ClaimedRow = ClaimedAttempt & { active: boolean };

type DueRequest = InFlightLimits & {
  limit: number;
  /** Starts after the subscription with this id. */
  after: string;
  /** Sends that this process has in flight, by subscription: they count against its share. */
  inFlight: Record<string, number>;
  /** Subscriptions to treat as throttled. */
  slow: string[];
  /** Whether subscriptions that hung or failed recently are claimed at all. */
  throttledToo: boolean;
  /** Whether to claim deliveries whose mark has expired, and the deliveries whose mark is this process's own. */
  reclaim: boolean;
  held: string[];
};

/**
 * Claims queued first attempts, fairly between subscriptions: finds the subscriptions by a loose scan of the queue's index,
 * and of each the oldest deliveries within its share. A backlog costs one index lookup per subscription. `found` counts
 * skipped deliveries too.
 */
export async function claimDue(db: Queryable, request: DueRequest) {
  const claimed = await rows<ClaimedRow>(db, CLAIM_DUE, { ...request, inFlight: JSON.stringify(request.inFlight) });
  const attempts: ClaimedAttempt[] = claimed.filter(({ active }) => active);
  return { attempts, found: claimed.length, last: claimed.at(-1)?.subscriptionId ?? '' };
}

const CLAIM_ONE = claimLocked(`
  WITH locked AS (
    SELECT ${COLUMNS}
    FROM webhook_delivery d JOIN webhook_subscription s ON s.id = d.subscription_id
    WHERE d.id = :deliveryId AND d.status IN ('PENDING', 'RETRYING')
      AND (d.in_flight_since IS NULL OR CAST(:reclaim AS boolean) AND NOT ${isInFlight('d')})
      AND (d.status_before_resend IS NOT NULL OR d.next_attempt_at <= CAST(:startedAt AS timestamptz) + interval '${EARLY_MS} milliseconds')
    FOR UPDATE OF d
  )`);

/** Claims one delivery for a retry or a resend; null when it is final, not due yet, or in flight. */
export async function claimOne(
  db: Queryable,
  { deliveryId, startedAt, reclaim }: { deliveryId: string; startedAt: Date; reclaim: boolean },
): Promise<ClaimedAttempt | null> {
  const claimed = await first<ClaimedRow>(db, CLAIM_ONE, { deliveryId, startedAt: startedAt.toISOString(), reclaim });
  return claimed?.active ? { ...claimed, startedAt } : null;
}
