import { createBatch } from '../lib/batch.ts';
import { rows, type Knex } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';
import type { Lane } from './claim.ts';
import type { DeliveryStatus } from './states.ts';

/** How one attempt ended, as it is saved. Plain JSON: the workflow keeps it when saving fails. */
export type AttemptOutcome = {
  attemptId: string;
  deliveryId: string;
  subscriptionId: string;
  lane: Lane;
  ok: boolean;
  httpStatus: number | null;
  failure: { code: string; message: string } | null;
  startedAt: string;
  endedAt: string;
  durationMs: number;
  timings: Record<string, number | null>;
  responseHeaders: Record<string, string>;
  responseExcerpt: string;
  /** When the ladder's next rung is due after a failure; null when this was the last, or off the ladder. */
  nextAttemptAt: string | null;
};

export type SavedDelivery = { status: DeliveryStatus; rungsUsed: number; nextAttemptAt: Date | null };

/** Under load outcomes are gathered this long: nobody waits for them, and a process that dies meanwhile repeats little. */
const SAVE_EVERY_MS = 10;
/** After this many failures in a row a subscription's first attempts go to the slow lane, for as long as it keeps failing. */
const SLOW_AFTER_FAILURES = 3;
const SLOW_FOR = '10 minutes';

/**
 * Saves how attempts ended, in one statement for as many as ended at the same moment: the attempt, the delivery's state,
 * its dead letter, the subscription's health if it changed, and the outbox row that stood for it.
 * Repeating a save changes nothing.
 */
export function createSave(db: Knex): (outcome: AttemptOutcome) => Promise<SavedDelivery> {
  return createBatch((outcomes) => saveAll(db, outcomes), { sizeMax: 100, everyMs: SAVE_EVERY_MS });
}

/** One statement; each part depends on what `delivery` really changed. */
const SAVE = `
WITH o AS (
  SELECT * FROM jsonb_to_recordset(CAST(:asked AS jsonb))
    AS o ("attemptId" text, "deliveryId" text, "subscriptionId" text, lane text, ok boolean, "httpStatus" smallint,
          failure jsonb, "endedAt" timestamptz, "durationMs" integer, timings jsonb, "responseHeaders" jsonb,
          "responseExcerpt" text, "nextAttemptAt" timestamptz, "deadLetterId" text)
), attempt AS (
  UPDATE webhook_attempt w
  SET ended_at = o."endedAt", duration_ms = o."durationMs", timings = o.timings, http_status = o."httpStatus",
      failure = o.failure, response_headers = o."responseHeaders", response_excerpt = o."responseExcerpt"
  FROM o WHERE w.id = o."attemptId" AND (w.ended_at IS NULL OR w.failure ->> 'code' = 'interrupted')
  RETURNING w.id, w.delivery_id, w.trigger
), delivery AS (
  UPDATE webhook_delivery d
  SET status = CASE WHEN o.ok OR d.resend_from = 'DELIVERED' THEN 'DELIVERED'
                    WHEN o."nextAttemptAt" IS NULL OR d.resend_from IS NOT NULL THEN 'FAILED'
                    ELSE 'RETRYING' END,
      rungs_used = d.rungs_used + CASE WHEN NOT o.ok AND d.resend_from IS NULL THEN 1 ELSE 0 END,
      next_attempt_at = CASE WHEN NOT o.ok AND d.resend_from IS NULL THEN o."nextAttemptAt" END,
      last_http_status = o."httpStatus", last_failure = o.failure,
      delivered_at = CASE WHEN o.ok THEN coalesce(d.delivered_at, o."endedAt") ELSE d.delivered_at END,
      dead_lettered_at = CASE WHEN o.ok THEN d.dead_lettered_at
                              WHEN d.resend_from IN ('FAILED', 'SKIPPED') OR (d.resend_from IS NULL AND o."nextAttemptAt" IS NULL)
                                THEN coalesce(d.dead_lettered_at, o."endedAt")
                              ELSE d.dead_lettered_at END,
      resend_from = NULL, sending_attempt_id = NULL, sending_since = NULL
  FROM o
  WHERE d.id = o."deliveryId"
    -- A success that is saved late, after its claim was given up, still counts: the receiver has the event.
    AND (d.sending_attempt_id = o."attemptId"
         OR (o.ok AND d.status IN ('PENDING', 'RETRYING', 'FAILED') AND o."attemptId" IN (SELECT id FROM attempt)))
  RETURNING d.id, d.subscription_id, d.merchant_id, d.environment, d.status, d.rungs_used, d.next_attempt_at,
            o.ok, o.lane, o."endedAt" AS ended_at, o."deadLetterId" AS dead_letter_id
), dead AS (
  INSERT INTO webhook_dead_letter (id, delivery_id, merchant_id, environment, opened_at, reason)
  SELECT d.dead_letter_id, d.id, d.merchant_id, d.environment, d.ended_at,
         CASE a.trigger WHEN 'manual' THEN 'resend_failed' ELSE 'exhausted' END
  FROM delivery d LEFT JOIN attempt a ON a.delivery_id = d.id WHERE d.status = 'FAILED'
  ON CONFLICT (delivery_id) WHERE closed_at IS NULL DO NOTHING
), undead AS (
  UPDATE webhook_dead_letter l SET closed_at = d.ended_at
  FROM delivery d WHERE l.delivery_id = d.id AND l.closed_at IS NULL AND d.ok
), health AS (
  UPDATE webhook_subscription s
  SET failures_in_a_row = CASE WHEN h.failed = 0 THEN 0 ELSE s.failures_in_a_row + h.failed END,
      slow_until = CASE WHEN h.failed = 0 THEN NULL
                        WHEN s.failures_in_a_row + h.failed >= ${SLOW_AFTER_FAILURES} THEN now() + interval '${SLOW_FOR}'
                        ELSE s.slow_until END,
      verified_at = CASE WHEN h.delivered_at IS NULL THEN s.verified_at ELSE coalesce(s.verified_at, h.delivered_at) END
  FROM (SELECT subscription_id, CAST(count(*) FILTER (WHERE NOT ok) AS integer) AS failed,
               min(ended_at) FILTER (WHERE ok) AS delivered_at
        FROM delivery GROUP BY subscription_id ORDER BY subscription_id) h
  WHERE s.id = h.subscription_id AND (h.failed > 0 OR s.failures_in_a_row > 0 OR s.verified_at IS NULL)
), told AS (
  DELETE FROM outbox b USING delivery d
  WHERE b.delivery_id = d.id AND (d.lane = 'workflow' OR d.status <> 'RETRYING')
), ladder AS (
  -- A first attempt made directly has failed: its workflow takes up the ladder from here.
  UPDATE outbox b
  SET delivery_id = NULL, lease_until = NULL, not_before = now(),
      input = b.input || jsonb_build_object('attemptsMade', d.rungs_used,
        'nextAttemptAtMs', CAST(extract(epoch FROM d.next_attempt_at) * 1000 AS bigint))
  FROM delivery d WHERE b.delivery_id = d.id AND d.lane = 'direct' AND d.status = 'RETRYING'
)
SELECT id, status, rungs_used, next_attempt_at FROM delivery`;

async function saveAll(db: Knex, outcomes: AttemptOutcome[]): Promise<SavedDelivery[]> {
  const asked = outcomes.map((outcome) => ({ ...outcome, deadLetterId: newId('whl') }));
  const saved = await rows<SavedDelivery & { id: string }>(db, SAVE, { asked: JSON.stringify(asked) });
  const byDelivery = new Map(saved.map((row) => [row.id, row]));
  const missing = asked.filter((outcome) => !byDelivery.has(outcome.deliveryId)).map((outcome) => outcome.deliveryId);
  // Saved before, or superseded: answer what is true now.
  const current =
    missing.length === 0
      ? []
      : await rows<SavedDelivery & { id: string }>(
          db,
          'SELECT id, status, rungs_used, next_attempt_at FROM webhook_delivery WHERE id = ANY(:missing)',
          { missing },
        );
  for (const row of current) byDelivery.set(row.id, row);
  return asked.map(
    (outcome) => byDelivery.get(outcome.deliveryId) ?? { status: 'SKIPPED', rungsUsed: 0, nextAttemptAt: null },
  );
}
