import { createBatch } from '../lib/batch.ts';
import { rows, type Knex } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';
import type { Environment } from '../lib/owner.ts';
import type { DeliveryStatus } from './states.ts';

/**
 * A claim older than this belongs to a process that died, or that could not save what came of it for so long: a send
 * takes at most 3 s, reading its answer 1 s.
 */
const SENDING_LEASE_MS = 6_000;

/** In SQL: an attempt of this delivery is being sent, as far as anybody knows. */
export const isBeingSent = (delivery: string): string =>
  `coalesce(${delivery}.sending_since > clock_timestamp() - interval '${SENDING_LEASE_MS} milliseconds', false)`;

/** Clocks of several machines differ: an attempt this much before its time is on time. */
const EARLY_MS = 500;
const BUSY_MIN_MS = 100;
/** Under load claims are gathered this long: a fraction of what their sending takes. */
const CLAIM_EVERY_MS = 5;

export type Lane = 'workflow' | 'direct';

export type ClaimRequest = { deliveryId: string; startedAt: Date; lane: Lane };

/** A claimed attempt with all that sending needs. */
export type ClaimedAttempt = {
  attemptId: string;
  deliveryId: string;
  eventId: string;
  event: string;
  merchantId: string;
  environment: Environment;
  subscriptionId: string;
  /** Automatic attempts that failed before this one. */
  rungsUsed: number;
  /** Asked for by somebody, off the ladder. */
  manual: boolean;
  startedAt: Date;
  payload: Buffer;
  url: string;
  signatureEncoding: 'base64' | 'hex';
  headers: Buffer | null;
  secret: Buffer;
  previousSecret: Buffer | null;
};

/** Not claimed: nothing is asked of this delivery (any more), another attempt is being sent, or it is not yet due. */
export type Unclaimed = { over: DeliveryStatus } | { busyMs: number };

export type Claim = { attempt: ClaimedAttempt } | Unclaimed;

/**
 * Claims deliveries for sending: inserts the attempt row, not yet with an outcome, and reads all that sending needs, in
 * one statement for as many deliveries as ask at the same moment. A claim whose process died is marked
 * `interrupted` by the next one and uses up no rung. What is final, or being sent, is not claimed.
 */
export function createClaim(db: Knex): (request: ClaimRequest) => Promise<Claim> {
  return createBatch((requests) => claimAll(db, requests), { sizeMax: 100, everyMs: CLAIM_EVERY_MS });
}

async function claimAll(db: Knex, requests: ClaimRequest[]): Promise<Claim[]> {
  const asked = requests.map((request) => ({
    ...request,
    attemptId: newId('wha'),
    startedAt: request.startedAt.toISOString(),
  }));
  const claimed = await rows<ClaimedAttempt>(
    db,
    `WITH asked AS (
       SELECT * FROM jsonb_to_recordset(CAST(:asked AS jsonb))
         AS a ("deliveryId" text, "attemptId" text, "startedAt" timestamptz, lane text)
     ), claimed AS (
       UPDATE webhook_delivery d
       SET sending_attempt_id = a."attemptId", sending_since = clock_timestamp(),
           attempts = d.attempts + 1, last_attempt_at = a."startedAt"
       FROM asked a, webhook_subscription s
       WHERE d.id = a."deliveryId" AND s.id = d.subscription_id AND s.active AND s.deleted_at IS NULL
         AND d.status IN ('PENDING', 'RETRYING')
         -- A start that got through late, after its caller had given it up, comes before the ladder's time.
         AND d.next_attempt_at <= a."startedAt" + interval '${EARLY_MS} milliseconds'
         AND NOT ${isBeingSent('d')}
       RETURNING d.id, d.event_id, d.event, d.merchant_id, d.environment, d.subscription_id, d.attempts, d.rungs_used,
                 d.resend_from, a."attemptId" AS attempt_id, a."startedAt" AS started_at, a.lane,
                 s.url, s.signature_encoding, s.headers, s.secret, s.secret_hint,
                 CASE WHEN s.previous_secret_expires_at > now() THEN s.previous_secret END AS previous_secret
     ), interrupted AS (
       UPDATE webhook_attempt w
       SET ended_at = clock_timestamp(),
           failure = '{"code": "interrupted", "message": "our process ended while sending; the receiver may have got it"}'
       FROM claimed c WHERE w.delivery_id = c.id AND w.ended_at IS NULL AND c.attempts > 1
     ), inserted AS (
       INSERT INTO webhook_attempt (id, delivery_id, sequence, delivery_number, retry_number, trigger, lane, url, secret_hint, started_at)
       SELECT attempt_id, id, attempts,
              CASE WHEN resend_from IS NULL THEN rungs_used + 1 END, CASE WHEN resend_from IS NULL THEN rungs_used END,
              CASE WHEN resend_from IS NULL THEN 'auto' ELSE 'manual' END, lane, url, secret_hint, started_at
       FROM claimed
     )
     SELECT c.attempt_id, c.id AS delivery_id, c.event_id, c.event, c.merchant_id, c.environment, c.subscription_id,
            c.rungs_used, c.resend_from IS NOT NULL AS manual, c.started_at, e.payload,
            c.url, c.signature_encoding, c.headers, c.secret, c.previous_secret
     FROM claimed c JOIN webhook_event e ON e.id = c.event_id`,
    { asked: JSON.stringify(asked) },
  );
  const byAttempt = new Map(claimed.map((attempt) => [attempt.attemptId, attempt]));
  const refused = asked.filter((request) => !byAttempt.has(request.attemptId));
  const reasons = refused.length > 0 ? await whyNot(db, refused) : new Map<string, Unclaimed>();
  return asked.map((request) => {
    const attempt = byAttempt.get(request.attemptId);
    // A delivery that is gone altogether has nothing to send either.
    return attempt ? { attempt } : (reasons.get(request.deliveryId) ?? { over: 'SKIPPED' });
  });
}

/**
 * Why these could not be claimed. Those whose subscription is inactive or deleted become SKIPPED here; a resend of one
 * that was final before goes back to what it was.
 */
async function whyNot(db: Knex, refused: { deliveryId: string; startedAt: string }[]): Promise<Map<string, Unclaimed>> {
  const found = await rows<{ id: string; status: DeliveryStatus; busyMs: number | null; nextAttemptAt: Date | null }>(
    db,
    `WITH skipped AS (
       UPDATE webhook_delivery d
       SET status = coalesce(d.resend_from, 'SKIPPED'), next_attempt_at = NULL, resend_from = NULL, sending_attempt_id = NULL, sending_since = NULL
       FROM webhook_subscription s
       WHERE d.id = ANY(:deliveryIds) AND s.id = d.subscription_id AND (NOT s.active OR s.deleted_at IS NOT NULL)
         AND d.status IN ('PENDING', 'RETRYING')
         AND NOT ${isBeingSent('d')}
       RETURNING d.id, d.status
     ), told AS (
       -- Nothing is asked of these any more, or they are gone altogether, so nobody needs to start them.
       DELETE FROM outbox b
       WHERE b.delivery_id = ANY(:deliveryIds)
         AND NOT EXISTS (SELECT FROM webhook_delivery d
                         WHERE d.id = b.delivery_id AND d.status IN ('PENDING', 'RETRYING')
                           AND d.id NOT IN (SELECT id FROM skipped))
     )
     SELECT d.id, coalesce(s.status, d.status) AS status,
            CAST(ceil(extract(epoch FROM d.sending_since - clock_timestamp()) * 1000 + ${SENDING_LEASE_MS}) AS integer) AS busy_ms,
            d.next_attempt_at
     FROM webhook_delivery d LEFT JOIN skipped s ON s.id = d.id WHERE d.id = ANY(:deliveryIds)`,
    { deliveryIds: refused.map((request) => request.deliveryId) },
  );
  const askedAt = new Map(refused.map((request) => [request.deliveryId, Date.parse(request.startedAt)]));
  return new Map(
    found.map((row) => {
      const open = row.status === 'PENDING' || row.status === 'RETRYING';
      const earlyMs = (row.nextAttemptAt?.getTime() ?? 0) - (askedAt.get(row.id) ?? 0);
      return [row.id, open ? { busyMs: Math.max(row.busyMs ?? 0, earlyMs, BUSY_MIN_MS) } : { over: row.status }];
    }),
  );
}
