import { rows, type Knex, type Queryable } from '../../lib/db.ts';
import type { Environment } from '../../lib/scope.ts';
import { isInFlight, isQueued, type InFlight } from './in-flight.ts';

/** In SQL: what a delivery becomes whose subscription is inactive or deleted; a resend goes back to the end it came from. */
export const statusWhenSkipped = (delivery: string): string =>
  `CASE WHEN ${delivery}.status_before_resend IN ('FAILED', 'DELIVERED') THEN ${delivery}.status_before_resend ELSE 'SKIPPED' END`;

/** Clocks of several machines differ: a retry that comes this much before its time is on time. */
const EARLY_MS = 500;

/** A claimed attempt with all that sending and recording it needs. */
export type ClaimedAttempt = {
  attemptId: string;
  deliveryId: string;
  eventId: string;
  event: string;
  merchantId: string;
  environment: Environment;
  subscriptionId: string;
  sequence: number;
  /** Scheduled attempts that failed before this one. */
  retryCount: number;
  /** A resend, beside the schedule. */
  manual: boolean;
  /** By the database's clock, a retry's by its workflow's. */
  startedAt: Date;
  payload: Buffer;
  url: string;
  signatureEncoding: 'base64' | 'hex';
  headers: Buffer | null;
  secret: Buffer;
  previousSecret: Buffer | null;
  secretHint: string;
  /** Its subscription hung or failed lately. */
  throttled: boolean;
};

/** What the delivery and its subscription hold for an attempt; `d` is a webhook_delivery, `s` its webhook_subscription. */
const COLUMNS = `
  d.id, d.event_id, d.event, d.merchant_id, d.environment, d.subscription_id, d.attempts, d.retry_count, d.status_before_resend,
  d.in_flight_attempt_id, d.in_flight_since, s.url, s.signature_encoding, s.headers, s.secret, s.secret_hint,
  CASE WHEN s.previous_secret_expires_at > now() THEN s.previous_secret END AS previous_secret,
  s.active AND s.deleted_at IS NULL AS active, coalesce(s.throttled_until > now(), false) AS throttled`;

/** In SQL: the id of a delivery's next attempt, its own and a number. */
const attemptId = (delivery: string): string =>
  `'wha_' || substr(${delivery}.id, 5) || two_digits(${delivery}.attempts + 1)`;

/**
 * Marks what `taken` has locked as in flight, in the same statement: writes the attempt that a dead process left behind
 * as `interrupted`, skips what belongs to inactive subscriptions, and returns what sending needs.
 */
const markTaken = (taken: string): string => `
  ${taken}, interrupted AS (
    INSERT INTO webhook_attempt (id, delivery_id, sequence, delivery_number, retry_number, source, url, secret_hint,
                                 started_at, ended_at, failure)
    SELECT in_flight_attempt_id, id, attempts,
           CASE WHEN status_before_resend IS NULL THEN retry_count + 1 END, CASE WHEN status_before_resend IS NULL THEN retry_count END,
           CASE WHEN status_before_resend IS NULL THEN 'auto' ELSE 'manual' END, url, secret_hint, in_flight_since, clock_timestamp(),
           '{"code": "interrupted", "message": "Our process ended while sending; the receiver may have got it."}'
    FROM taken WHERE in_flight_attempt_id IS NOT NULL
    ON CONFLICT (delivery_id, sequence) DO NOTHING
  ), skipped AS (
    UPDATE webhook_delivery d
    SET status = ${statusWhenSkipped('d')}, status_before_resend = NULL, in_flight_attempt_id = NULL, in_flight_since = NULL,
        next_attempt_at = NULL
    WHERE d.id = ANY (ARRAY(SELECT id FROM taken WHERE NOT active))
  ), marked AS (
    UPDATE webhook_delivery d
    SET in_flight_attempt_id = ${attemptId('d')}, in_flight_since = clock_timestamp(), attempts = d.attempts + 1
    WHERE d.id = ANY (ARRAY(SELECT id FROM taken WHERE active))
  )
  SELECT ${attemptId('t')} AS attempt_id, t.id AS delivery_id, t.event_id, t.event, t.merchant_id, t.environment,
         t.subscription_id, t.attempts + 1 AS sequence, t.retry_count, t.status_before_resend IS NOT NULL AS manual,
         now() AS started_at, (SELECT e.payload FROM webhook_event e WHERE e.id = t.event_id) AS payload,
         t.url, t.signature_encoding, t.headers, t.secret, t.previous_secret, t.secret_hint, t.active, t.throttled
  FROM taken t`;

/** Values in sub-selects are unknown to the planner, so that it keeps one plan in place of a new one for each claim. */
const CLAIM_DUE = markTaken(`
  WITH RECURSIVE waiting (subscription_id) AS (
    (SELECT d.subscription_id FROM webhook_delivery d
     WHERE ${isQueued('d')} AND d.subscription_id > (SELECT CAST(:after AS text)) ORDER BY d.subscription_id, d.id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_id FROM webhook_delivery d
            WHERE ${isQueued('d')} AND d.subscription_id > w.subscription_id ORDER BY d.subscription_id, d.id LIMIT 1)
    FROM waiting w WHERE w.subscription_id IS NOT NULL
  ), taken AS (
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

/** `active`: false when its subscription is not, and it was skipped. */
type Taken = ClaimedAttempt & { active: boolean };

export type DueRequest = {
  limit: number;
  /** Begins with the subscriptions whose id is greater. */
  after: string;
  /** Sends that this process has in flight, by subscription: they count against its share. */
  inFlight: Record<string, number>;
  /** Subscriptions to be taken for throttled. */
  slow: string[];
  /** In flight at most, of one subscription, and of one that hung or failed lately. */
  perSubscription: number;
  perThrottled: number;
  /** Whether subscriptions that hung or failed lately are served at all. */
  throttledToo: boolean;
  /** Whether marks that have run out are taken for those of dead processes, and which are this process's own. */
  reclaim: boolean;
  held: string[];
};

/**
 * Claims first attempts that wait, fairly between subscriptions: finds the subscriptions by a loose scan of the queue's
 * index, and of each the oldest deliveries that its share leaves room for. A backlog costs one look each.
 */
export async function claimDue(
  db: Knex,
  request: DueRequest,
): Promise<{ attempts: ClaimedAttempt[]; skipped: number; last: string }> {
  const taken = await rows<Taken>(db, CLAIM_DUE, { ...request, inFlight: JSON.stringify(request.inFlight) });
  const attempts = taken.filter(({ active }) => active);
  return { attempts, skipped: taken.length - attempts.length, last: taken.at(-1)?.subscriptionId ?? '' };
}

const CLAIM_ONE = markTaken(`
  WITH taken AS (
    SELECT ${COLUMNS}
    FROM webhook_delivery d JOIN webhook_subscription s ON s.id = d.subscription_id
    WHERE d.id = :deliveryId AND d.status IN ('PENDING', 'RETRYING')
      AND (d.in_flight_since IS NULL OR CAST(:reclaim AS boolean) AND NOT ${isInFlight('d')})
      AND (d.status_before_resend IS NOT NULL OR d.next_attempt_at <= CAST(:startedAt AS timestamptz) + interval '${EARLY_MS} milliseconds')
    FOR UPDATE OF d
  )`);

type ClaimRequest = { deliveryId: string; startedAt: Date };

/** Claims one delivery for a retry or a resend; null when it is final, not due yet, or in flight. */
export async function claimOne(
  db: Queryable,
  { deliveryId, startedAt, reclaim }: ClaimRequest & { reclaim: boolean },
): Promise<ClaimedAttempt | null> {
  const [taken] = await rows<Taken>(db, CLAIM_ONE, { deliveryId, startedAt: startedAt.toISOString(), reclaim });
  return taken?.active ? { ...taken, startedAt } : null;
}

export type Claim = (request: ClaimRequest) => Promise<ClaimedAttempt | null>;

export const createClaim =
  (db: Knex, inFlight: Pick<InFlight, 'mayReclaim' | 'noteFailure'>): Claim =>
  async (request) => {
    try {
      return await claimOne(db, { ...request, reclaim: inFlight.mayReclaim() });
    } catch (error) {
      inFlight.noteFailure();
      throw error;
    }
  };
