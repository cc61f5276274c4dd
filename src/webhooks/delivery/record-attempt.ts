import { createBatch } from '../../lib/batch.ts';
import { rows, type Knex } from '../../lib/db.ts';
import type { Logger } from '../../lib/log.ts';
import { OUTBOX_PRIORITIES, type OutboxRow } from '../../lib/outbox.ts';
import type { DeliveryStatus } from '../states.ts';
import type { AttemptOutcome } from './attempt.ts';

/** What a recorded attempt made of its delivery. */
export type RecordedDelivery = { status: DeliveryStatus; rungsUsed: number; nextAttemptAt: Date | null };

/** An outcome, and the workflow that starts with it where one is to follow. */
export type Recording = AttemptOutcome & { start?: Start };

/** Starts of failed deliveries are written always; those of delivered ones are for operators to look at. */
type Start = Pick<OutboxRow, 'id' | 'workflowType' | 'workflowId' | 'input'>;

/** Under load outcomes are gathered this long: nobody waits for them, and a process that dies meanwhile repeats little. */
const RECORD_EVERY_MS = 40;
/** After this many failures in a row a subscription is throttled, for as long as it keeps failing. */
const THROTTLED_AFTER_FAILURES = 3;
const THROTTLED_FOR = '10 minutes';
/** A retry's workflow may start at once, and must this long before the retry is due (relay.ts). */
const START_LEAD = '15 seconds';
const RETRY_MS = 200;
const RETRY_MAX_MS = 1_000;
/** A third of what is left of a mark after the longest send, and how often marks are renewed then. */
const HELD_AFTER_MS = 700;
const RENEW_EVERY_MS = 500;
const BATCH_MAX = 100;

/**
 * One statement; each part depends on what `delivery` really changed. `= ANY (ARRAY(…))` has the rows looked up by their
 * ids: without it the planner hashes whole tables that it takes for small ones.
 */
const RECORD = `
WITH o AS (
  SELECT * FROM jsonb_to_recordset(CAST(:outcomes AS jsonb))
    AS o ("attemptId" text, "deliveryId" text, sequence integer, "rungsUsed" smallint, manual boolean, url text,
          "secretHint" text, ok boolean, "httpStatus" smallint, failure jsonb, "startedAt" timestamptz,
          "endedAt" timestamptz, "durationMs" integer, timings jsonb, "responseHeaders" jsonb, "responseExcerpt" text,
          "nextAttemptAt" timestamptz, reason text, "deadLetterId" text, start jsonb)
), attempt AS (
  INSERT INTO webhook_attempt AS a (id, delivery_id, sequence, delivery_number, retry_number, trigger, reason, url,
    secret_hint, started_at, ended_at, duration_ms, timings, http_status, failure, response_headers, response_excerpt)
  SELECT o."attemptId", o."deliveryId", o.sequence, CASE WHEN NOT o.manual THEN o."rungsUsed" + 1 END,
         CASE WHEN NOT o.manual THEN o."rungsUsed" END,
         CASE WHEN NOT o.manual THEN 'auto' WHEN o.reason IS NULL THEN 'manual' ELSE 'operator' END,
         CASE WHEN o.manual THEN nullif(o.reason, '') END,
         o.url, o."secretHint", o."startedAt", o."endedAt", o."durationMs", o.timings, o."httpStatus", o.failure,
         o."responseHeaders", o."responseExcerpt"
  FROM o
  -- Its mark ran out, and the next claim took it for interrupted: the true outcome comes late.
  ON CONFLICT (delivery_id, sequence) DO UPDATE
  SET ended_at = excluded.ended_at, duration_ms = excluded.duration_ms, timings = excluded.timings,
      http_status = excluded.http_status, failure = excluded.failure, response_headers = excluded.response_headers,
      response_excerpt = excluded.response_excerpt
  WHERE a.failure ->> 'code' = 'interrupted'
  RETURNING a.id
), delivery AS (
  UPDATE webhook_delivery d
  SET status = CASE WHEN o.ok OR d.resend_from = 'DELIVERED' THEN 'DELIVERED'
                    WHEN d.resend_from = 'RETRYING' THEN 'RETRYING'
                    WHEN o."nextAttemptAt" IS NULL OR d.resend_from IS NOT NULL THEN 'FAILED'
                    ELSE 'RETRYING' END,
      rungs_used = d.rungs_used + CASE WHEN NOT o.ok AND d.resend_from IS NULL THEN 1 ELSE 0 END,
      next_attempt_at = CASE WHEN o.ok THEN NULL
                             WHEN d.resend_from = 'RETRYING' THEN d.next_attempt_at
                             WHEN d.resend_from IS NULL THEN o."nextAttemptAt" END,
      last_attempt_at = o."startedAt", last_http_status = o."httpStatus", last_failure = o.failure,
      delivered_at = CASE WHEN o.ok THEN coalesce(d.delivered_at, o."endedAt") ELSE d.delivered_at END,
      dead_lettered_at = CASE WHEN NOT o.ok AND (d.resend_from IN ('FAILED', 'SKIPPED')
                                                 OR d.resend_from IS NULL AND o."nextAttemptAt" IS NULL)
                              THEN coalesce(d.dead_lettered_at, o."endedAt") ELSE d.dead_lettered_at END,
      resend_from = NULL, sending_attempt_id = NULL, sending_since = NULL
  FROM o
  WHERE d.id = o."deliveryId" AND d.id = ANY (ARRAY(SELECT "deliveryId" FROM o))
    AND (d.sending_attempt_id = o."attemptId"
         -- A success that comes late still counts: the receiver has the event.
         OR o.ok AND d.status IN ('PENDING', 'RETRYING', 'FAILED') AND o."attemptId" IN (SELECT id FROM attempt))
  RETURNING d.id, d.subscription_id, d.merchant_id, d.environment, d.status, d.rungs_used, d.next_attempt_at,
            o.ok, o.manual, o."endedAt" AS ended_at, o."deadLetterId" AS dead_letter_id, o.start
), dead_letter AS (
  INSERT INTO webhook_dead_letter (id, delivery_id, merchant_id, environment, opened_at, reason)
  SELECT dead_letter_id, id, merchant_id, environment, ended_at, CASE WHEN manual THEN 'resend_failed' ELSE 'exhausted' END
  FROM delivery WHERE status = 'FAILED'
  ON CONFLICT (delivery_id) WHERE closed_at IS NULL DO NOTHING
), closed_dead_letter AS (
  UPDATE webhook_dead_letter l SET closed_at = d.ended_at
  FROM delivery d
  WHERE l.delivery_id = d.id AND l.delivery_id = ANY (ARRAY(SELECT id FROM delivery WHERE ok)) AND l.closed_at IS NULL AND d.ok
), health AS (
  UPDATE webhook_subscription s
  SET failures_in_a_row = CASE WHEN h.delivered_at IS NOT NULL THEN 0 ELSE s.failures_in_a_row + h.failed END,
      slow_until = CASE WHEN h.delivered_at IS NOT NULL THEN NULL
                        WHEN s.failures_in_a_row + h.failed >= ${THROTTLED_AFTER_FAILURES} THEN now() + interval '${THROTTLED_FOR}'
                        ELSE s.slow_until END,
      verified_at = CASE WHEN h.delivered_at IS NULL THEN s.verified_at ELSE coalesce(s.verified_at, h.delivered_at) END
  FROM (SELECT subscription_id, CAST(count(*) FILTER (WHERE NOT ok) AS integer) AS failed,
               min(ended_at) FILTER (WHERE ok) AS delivered_at
        FROM delivery GROUP BY subscription_id ORDER BY subscription_id) h
  WHERE s.id = h.subscription_id AND s.id = ANY (ARRAY(SELECT subscription_id FROM delivery))
    AND (h.delivered_at IS NULL OR s.failures_in_a_row > 0 OR s.verified_at IS NULL)
), started AS (
  INSERT INTO outbox (id, kind, workflow_type, workflow_id, input, priority, not_before)
  SELECT start ->> 'id', 'start', start ->> 'workflowType', start ->> 'workflowId', start -> 'input',
         CASE WHEN ok THEN ${OUTBOX_PRIORITIES.visibility} ELSE ${OUTBOX_PRIORITIES.retry} END,
         CASE WHEN ok THEN now() ELSE greatest(next_attempt_at - interval '${START_LEAD}', now()) END
  FROM delivery WHERE start IS NOT NULL
)
SELECT id, status, rungs_used, next_attempt_at FROM delivery`;

/**
 * Records how attempts ended, in one statement for as many as ended at the same moment: the attempt, the delivery's
 * state, its dead letter, the subscription's health if it changed, and the workflow that follows. Idempotent.
 */
export async function recordAttempts(db: Knex, outcomes: Recording[]): Promise<RecordedDelivery[]> {
  const recorded = await rows<RecordedDelivery & { id: string }>(db, RECORD, { outcomes: JSON.stringify(outcomes) });
  const byDelivery = new Map(recorded.map((row) => [row.id, row]));
  const missing = outcomes.map((outcome) => outcome.deliveryId).filter((id) => !byDelivery.has(id));
  // Recorded before, or superseded: the result is what is true now.
  const current =
    missing.length === 0
      ? []
      : await rows<RecordedDelivery & { id: string }>(
          db,
          'SELECT id, status, rungs_used, next_attempt_at FROM webhook_delivery WHERE id = ANY (:missing)',
          { missing },
        );
  for (const row of current) byDelivery.set(row.id, row);
  return outcomes.map(
    (outcome) => byDelivery.get(outcome.deliveryId) ?? { status: 'SKIPPED', rungsUsed: 0, nextAttemptAt: null },
  );
}

export type Recorder = {
  /**
   * Resolves when the outcome is saved, however long the database is away: an attempt that was sent must not be sent
   * again. While that takes long its mark is renewed, so that no other worker takes it for interrupted.
   */
  record: (outcome: Recording) => Promise<RecordedDelivery>;
  /** Deliveries whose outcome has been waiting to be saved for so long that their mark may run out. */
  held: () => string[];
};

export function createRecorder({ db, log }: { db: Knex; log: Logger }): Recorder {
  const save = createBatch((outcomes: Recording[]) => recordAttempts(db, outcomes), {
    sizeMax: BATCH_MAX,
    everyMs: RECORD_EVERY_MS,
  });
  /** Since when each outcome waits to be saved. */
  const waiting = new Map<Recording, number>();
  const held = (): Recording[] => {
    const before = performance.now() - HELD_AFTER_MS;
    return [...waiting].filter(([, since]) => since < before).map(([outcome]) => outcome);
  };
  const renewHeld = async (): Promise<void> => {
    const outcomes = held();
    if (outcomes.length > 0) await renewMarks(db, outcomes);
  };
  // While the database is away nothing can be renewed, nor claimed.
  setInterval(() => void renewHeld().catch(() => {}), RENEW_EVERY_MS).unref();

  const saveAtLast = async (outcome: Recording): Promise<RecordedDelivery> => {
    let next = outcome;
    for (let pauseMs = 0; ; pauseMs = Math.min(pauseMs * 2 || RETRY_MS, RETRY_MAX_MS)) {
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      try {
        // Again alone: one that cannot be saved must not hold up the others for good.
        if (pauseMs === 0) return await save(next);
        return (await recordAttempts(db, [next]))[0] as RecordedDelivery;
      } catch (error) {
        log.warn(
          { err: error, deliveryId: outcome.deliveryId },
          'The outcome of an attempt could not be saved; retrying',
        );
        // Refused for its contents, which are the receiver's words if anything: they are given up.
        if (pauseMs > 0 && isRefused(error)) next = { ...outcome, responseHeaders: {}, responseExcerpt: '' };
      }
    }
  };
  return {
    record: async (outcome) => {
      waiting.set(outcome, performance.now());
      return saveAtLast(outcome).finally(() => waiting.delete(outcome));
    },
    held: () => held().map((outcome) => outcome.deliveryId),
  };
}

/** SQLSTATE classes 22 and 23: the data is what is wrong. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code));
}

async function renewMarks(db: Knex, outcomes: Recording[]): Promise<void> {
  await rows(
    db,
    `UPDATE webhook_delivery SET sending_since = clock_timestamp()
     WHERE id = ANY (:deliveryIds) AND sending_attempt_id = ANY (:attemptIds)`,
    {
      deliveryIds: outcomes.map((outcome) => outcome.deliveryId),
      attemptIds: outcomes.map((outcome) => outcome.attemptId),
    },
  );
}
