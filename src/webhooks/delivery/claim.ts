import { createBatch } from '../../lib/batch.ts';
import { rows, type Knex } from '../../lib/db.ts';
import type { Environment } from '../../lib/owner.ts';
import type { Failure } from '../failure.ts';
import type { DeliveryStatus } from '../states.ts';

/** A send takes at most 3 s and reading its response 1 s: the process behind an older mark has died, or cannot reach the database. */
export const IN_FLIGHT_LEASE_MS = 6_000;

/** In SQL: an attempt of this delivery is on its way to the receiver. */
export const isInFlight = (delivery: string): string =>
  `coalesce(${delivery}.sending_since > clock_timestamp() - interval '${IN_FLIGHT_LEASE_MS} milliseconds', false)`;

/**
 * Whether marks that ran out are taken for those of dead processes: not soon after the database was away, when those who
 * hold outcomes save them first. One for all claims of a process.
 */
export function createReclaim() {
  let failedAtMs = -Infinity;
  let reclaimedAtMs = -Infinity;
  const isAllowed = (): boolean => performance.now() - failedAtMs >= IN_FLIGHT_LEASE_MS;
  return {
    isAllowed,
    /** The same for whoever claims all the time: once a second, so that none such is under way when the database stands still. */
    isDue: (): boolean => {
      const now = performance.now();
      if (now - reclaimedAtMs < RECLAIM_EVERY_MS || !isAllowed()) return false;
      reclaimedAtMs = now;
      return true;
    },
    /** The database did not answer. */
    postpone: (): void => {
      failedAtMs = performance.now();
    },
  };
}

export type Reclaim = ReturnType<typeof createReclaim>;

/** In SQL: what a delivery becomes whose subscription is inactive or deleted; a resend goes back to the end it came from. */
export const statusWhenSkipped = (delivery: string): string =>
  `CASE WHEN ${delivery}.resend_from IN ('FAILED', 'DELIVERED') THEN ${delivery}.resend_from ELSE 'SKIPPED' END`;

const RECLAIM_EVERY_MS = 1_000;
/** Clocks of several machines differ: a retry that comes this much before its time is on time. */
const EARLY_MS = 500;
/** Under load claims of single deliveries are gathered this long: a fraction of what their sending takes. */
const CLAIM_EVERY_MS = 5;

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
  rungsUsed: number;
  /** A resend, beside the schedule. */
  manual: boolean;
  /** By the database's clock. */
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

/** A delivery that was not claimed, as it is now: final, not due yet, or in flight. */
export type Unclaimed = {
  status: DeliveryStatus;
  inFlight: boolean;
  rungsUsed: number;
  nextAttemptAt: Date | null;
  httpStatus: number | null;
  failure: Failure | null;
};

/** What the delivery and its subscription hold for an attempt; `d` is a webhook_delivery, `s` its webhook_subscription. */
const COLUMNS = `
  d.id, d.event_id, d.event, d.merchant_id, d.environment, d.subscription_id, d.attempts, d.rungs_used, d.resend_from,
  d.sending_attempt_id, d.sending_since, s.url, s.signature_encoding, s.headers, s.secret, s.secret_hint,
  CASE WHEN s.previous_secret_expires_at > now() THEN s.previous_secret END AS previous_secret,
  s.active AND s.deleted_at IS NULL AS active, coalesce(s.slow_until > now(), false) AS throttled`;

/** In SQL: the id of a delivery's next attempt, its own and a number. */
const attemptId = (delivery: string): string =>
  `'wha_' || substr(${delivery}.id, 5) || two_digits(${delivery}.attempts + 1)`;

/**
 * Marks what `taken` has locked as in flight, in the same statement: writes the attempt that a dead process left behind
 * as `interrupted`, skips what belongs to inactive subscriptions, and returns what sending needs.
 */
const markTaken = (taken: string): string => `
  ${taken}, interrupted AS (
    INSERT INTO webhook_attempt (id, delivery_id, sequence, delivery_number, retry_number, trigger, url, secret_hint,
                                 started_at, ended_at, failure)
    SELECT sending_attempt_id, id, attempts,
           CASE WHEN resend_from IS NULL THEN rungs_used + 1 END, CASE WHEN resend_from IS NULL THEN rungs_used END,
           CASE WHEN resend_from IS NULL THEN 'auto' ELSE 'manual' END, url, secret_hint, sending_since, clock_timestamp(),
           '{"code": "interrupted", "message": "Our process ended while sending; the receiver may have got it."}'
    FROM taken WHERE sending_attempt_id IS NOT NULL
    ON CONFLICT (delivery_id, sequence) DO NOTHING
  ), skipped AS (
    UPDATE webhook_delivery d
    SET status = ${statusWhenSkipped('d')}, resend_from = NULL, sending_attempt_id = NULL, sending_since = NULL,
        next_attempt_at = NULL
    WHERE d.id = ANY (ARRAY(SELECT id FROM taken WHERE NOT active))
  ), marked AS (
    UPDATE webhook_delivery d
    SET sending_attempt_id = ${attemptId('d')}, sending_since = clock_timestamp(), attempts = d.attempts + 1
    WHERE d.id = ANY (ARRAY(SELECT id FROM taken WHERE active))
  )
  SELECT ${attemptId('t')} AS attempt_id, t.id AS delivery_id, t.event_id, t.event, t.merchant_id, t.environment,
         t.subscription_id, t.attempts + 1 AS sequence, t.rungs_used, t.resend_from IS NOT NULL AS manual,
         now() AS started_at, (SELECT e.payload FROM webhook_event e WHERE e.id = t.event_id) AS payload,
         t.url, t.signature_encoding, t.headers, t.secret, t.previous_secret, t.secret_hint, t.active, t.throttled
  FROM taken t`;

/** First attempts that wait: the predicate of the index webhook_delivery_queue, in its order by subscription and age. */
const queued = (delivery: string): string => `${delivery}.status = 'PENDING' AND ${delivery}.resend_from IS NULL`;

/** Values in sub-selects are unknown to the planner, so that it keeps one plan in place of a new one for each claim. */
const CLAIM_DUE = markTaken(`
  WITH RECURSIVE waiting (subscription_id) AS (
    (SELECT d.subscription_id FROM webhook_delivery d
     WHERE ${queued('d')} AND d.subscription_id > (SELECT CAST(:after AS text)) ORDER BY d.subscription_id, d.id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_id FROM webhook_delivery d
            WHERE ${queued('d')} AND d.subscription_id > w.subscription_id ORDER BY d.subscription_id, d.id LIMIT 1)
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
      WHERE ${queued('d')} AND d.subscription_id = w.subscription_id
        AND (d.sending_since IS NULL OR (SELECT CAST(:reclaim AS boolean)) AND NOT ${isInFlight('d')}) AND d.id <> ALL (ARRAY(SELECT unnest(CAST(:held AS text[]))))
      ORDER BY d.id
      LIMIT CASE WHEN coalesce(s.slow_until <= now(), true) THEN greatest(:perSubscription - s.in_flight, 0)
                 WHEN (SELECT CAST(:throttledToo AS boolean)) THEN greatest(:perThrottled - s.in_flight, 0) ELSE 0 END
      FOR UPDATE SKIP LOCKED
    ) d
    LIMIT (SELECT CAST(:limit AS integer))
  )`);

export type DueRequest = {
  limit: number;
  /** Begins with the subscriptions whose id is greater. */
  after: string;
  /** Sends that this process has in flight, by subscription: they count against its share. */
  inFlight: Record<string, number>;
  /** In flight at most, of one subscription, and of one that hung or failed lately. */
  perSubscription: number;
  perThrottled: number;
  /** Whether subscriptions that hung or failed lately are served at all. */
  throttledToo: boolean;
  /** Deliveries whose outcome this process still has to save. */
  held: string[];
  /** Whether marks that have run out are taken for those of dead processes. */
  reclaim: boolean;
};

/**
 * Claims first attempts that wait, fairly between subscriptions: finds the subscriptions by a loose scan of the queue's
 * index, and of each the oldest deliveries that its share leaves room for. A backlog costs one look each.
 * `looked` is the number of rows taken, those that were skipped included.
 */
export async function claimDue(
  db: Knex,
  request: DueRequest,
): Promise<{ attempts: ClaimedAttempt[]; looked: number; last: string }> {
  const taken = await rows<ClaimedAttempt & { active: boolean }>(db, CLAIM_DUE, {
    ...request,
    inFlight: JSON.stringify(request.inFlight),
  });
  return {
    attempts: taken.filter((attempt) => attempt.active),
    looked: taken.length,
    last: taken.at(-1)?.subscriptionId ?? '',
  };
}

const CLAIM_THESE = markTaken(`
  WITH taken AS (
    SELECT ${COLUMNS}
    FROM unnest(CAST(:ids AS text[]), CAST(:startedAt AS timestamptz[])) AS asked (id, started_at)
    CROSS JOIN LATERAL (
      SELECT d.* FROM webhook_delivery d
      WHERE d.id = asked.id AND d.status IN ('PENDING', 'RETRYING')
        AND (d.sending_since IS NULL OR CAST(:reclaim AS boolean) AND NOT ${isInFlight('d')})
        AND (d.resend_from IS NOT NULL OR d.next_attempt_at <= asked.started_at + interval '${EARLY_MS} milliseconds')
      FOR UPDATE
    ) d
    CROSS JOIN LATERAL (SELECT s.* FROM webhook_subscription s WHERE s.id = d.subscription_id OFFSET 0) s
  )`);

type Request = { deliveryId: string; startedAt: Date };

/** Claims single deliveries for a retry or a resend, in one statement for as many as ask at the same moment. */
export function createClaim(
  db: Knex,
  reclaim = createReclaim(),
): (request: Request) => Promise<ClaimedAttempt | Unclaimed> {
  const claim = async (requests: Request[]): Promise<(ClaimedAttempt | Unclaimed)[]> =>
    claimThese(db, requests, reclaim.isAllowed()).catch((error: unknown) => {
      reclaim.postpone();
      throw error;
    });
  return createBatch(claim, { sizeMax: 100, everyMs: CLAIM_EVERY_MS });
}

async function claimThese(db: Knex, requests: Request[], reclaim: boolean): Promise<(ClaimedAttempt | Unclaimed)[]> {
  // Two that lock the same deliveries do so in one order.
  const ordered = requests.toSorted((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
  const taken = await rows<ClaimedAttempt & { active: boolean }>(db, CLAIM_THESE, {
    ids: ordered.map((request) => request.deliveryId),
    startedAt: ordered.map((request) => request.startedAt.toISOString()),
    reclaim,
  });
  const claimed = new Map(taken.filter((one) => one.active).map((attempt) => [attempt.deliveryId, attempt]));
  const others = requests.map((request) => request.deliveryId).filter((id) => !claimed.has(id));
  const unclaimed = others.length === 0 ? new Map<string, Unclaimed>() : await readUnclaimed(db, others, reclaim);
  const handedOut = new Set<string>();
  return requests.map(({ deliveryId, startedAt }) => {
    const attempt = claimed.get(deliveryId);
    if (!attempt) return unclaimed.get(deliveryId) ?? GONE;
    // Of two requests for one delivery the second finds it in flight.
    if (handedOut.has(deliveryId)) return { ...GONE, status: 'PENDING', inFlight: true };
    handedOut.add(deliveryId);
    // A retry's time is its workflow's.
    return { ...attempt, startedAt };
  });
}

const GONE: Unclaimed = {
  status: 'SKIPPED',
  inFlight: false,
  rungsUsed: 0,
  nextAttemptAt: null,
  httpStatus: null,
  failure: null,
};

async function readUnclaimed(db: Knex, ids: string[], reclaim: boolean): Promise<Map<string, Unclaimed>> {
  const found = await rows<Unclaimed & { id: string }>(
    db,
    `SELECT d.id, d.status, ${isInFlight('d')} OR NOT CAST(:reclaim AS boolean) AND d.sending_since IS NOT NULL AS in_flight, d.rungs_used, d.next_attempt_at,
            d.last_http_status AS http_status, d.last_failure AS failure
     FROM webhook_delivery d WHERE d.id = ANY (:ids)`,
    { ids, reclaim },
  );
  return new Map(found.map((row) => [row.id, row]));
}
