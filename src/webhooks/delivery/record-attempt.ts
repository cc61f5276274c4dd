import { setTimeout as sleep } from 'node:timers/promises';

import { createBatch } from '../../lib/batch.ts';
import { isDatabaseUnavailable } from '../../lib/db-errors.ts';
import { first, rows, type Queryable } from '../../lib/db.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import { OUTBOX_PRIORITIES, type OutboxRow } from '../../outbox/record.ts';
import type { AttemptOutcome } from './attempt.ts';
import type { Failure } from './failure.ts';
import type { InFlight } from './in-flight.ts';
import type { DeliveryStatus } from './states.ts';

export type DeliveryNow = {
  status: DeliveryStatus;
  retryCount: number;
  nextAttemptAt: Date | null;
  lastAttemptAt: Date | null;
  httpStatus: number | null;
  failure: Failure | null;
};

/** An outcome, and the start of the workflow where one follows: soon after a failure, in the background after a success. */
export type Recording = AttemptOutcome & {
  start?: Pick<OutboxRow, 'id' | 'workflowType' | 'workflowId' | 'input' | 'traceparent'>;
};

/** Under load outcomes are collected this long. A process that ends without saving them causes their attempts again. */
const RECORD_EVERY_MS = 40;
/** After this many consecutive failures a subscription is throttled, for as long as it fails. */
const THROTTLED_AFTER_FAILURES = 3;
const THROTTLED_FOR = '10 minutes';
/** The workflow of a retry may start at once, and must start this long before the retry is due (relay.ts). */
const START_LEAD = '15 seconds';
const RETRY_MS = 200;
const RETRY_MAX_MS = 1_000;
const BATCH_MAX = 100;

/** In SQL: the columns of `DeliveryNow`, and the id. */
const NOW = `d.id, d.status, d.retry_count, d.next_attempt_at, d.last_attempt_at, d.last_http_status AS http_status, d.last_failure AS failure`;

/**
 * One statement; each part depends on the rows that `updated` really changed. `= ANY (ARRAY(…))` makes the planner look the
 * rows up by their ids: without it, it hashes whole tables that it believes to be small.
 */
const RECORD = `
WITH outcome AS (
  SELECT * FROM jsonb_to_recordset(CAST(:outcomes AS jsonb))
    AS o ("attemptId" text, "deliveryId" text, sequence integer, "retryCount" smallint, manual boolean, url text,
          "secretHint" text, ok boolean, "httpStatus" smallint, failure jsonb, "startedAt" timestamptz,
          "endedAt" timestamptz, "durationMs" integer, timings jsonb, "responseHeaders" jsonb, "responseExcerpt" text,
          "nextAttemptAt" timestamptz, reason text, "deadLetterId" text, start jsonb)
), attempt_row AS (
  INSERT INTO webhook_attempt AS a (id, delivery_id, sequence, delivery_number, retry_number, source, reason, url,
    secret_hint, started_at, ended_at, duration_ms, timings, http_status, failure, response_headers, response_excerpt)
  SELECT o."attemptId", o."deliveryId", o.sequence, CASE WHEN NOT o.manual THEN o."retryCount" + 1 END,
         CASE WHEN NOT o.manual THEN o."retryCount" END,
         CASE WHEN NOT o.manual THEN 'auto' WHEN o.reason IS NULL THEN 'manual' ELSE 'operator' END,
         CASE WHEN o.manual THEN nullif(o.reason, '') END,
         o.url, o."secretHint", o."startedAt", o."endedAt", o."durationMs", o.timings, o."httpStatus", o.failure,
         o."responseHeaders", o."responseExcerpt"
  FROM outcome o
  -- Its mark expired, and the next claim recorded it as interrupted: the true outcome comes late.
  ON CONFLICT (delivery_id, sequence) DO UPDATE
  SET ended_at = excluded.ended_at, duration_ms = excluded.duration_ms, timings = excluded.timings,
      http_status = excluded.http_status, failure = excluded.failure, response_headers = excluded.response_headers,
      response_excerpt = excluded.response_excerpt
  WHERE a.failure ->> 'code' = 'interrupted'
  RETURNING a.id
), updated AS (
  UPDATE webhook_delivery d
  SET status = CASE WHEN o.ok OR d.status_before_resend = 'DELIVERED' THEN 'DELIVERED'
                    WHEN d.status_before_resend = 'RETRYING' THEN 'RETRYING'
                    WHEN o."nextAttemptAt" IS NULL OR d.status_before_resend IS NOT NULL THEN 'FAILED'
                    ELSE 'RETRYING' END,
      retry_count = d.retry_count + CASE WHEN NOT o.ok AND d.status_before_resend IS NULL THEN 1 ELSE 0 END,
      next_attempt_at = CASE WHEN o.ok THEN NULL
                             WHEN d.status_before_resend = 'RETRYING' THEN d.next_attempt_at
                             WHEN d.status_before_resend IS NULL THEN o."nextAttemptAt" END,
      last_attempt_at = o."startedAt", last_http_status = o."httpStatus", last_failure = o.failure,
      delivered_at = CASE WHEN o.ok THEN coalesce(d.delivered_at, o."endedAt") ELSE d.delivered_at END,
      dead_lettered_at = CASE WHEN NOT o.ok AND (d.status_before_resend IN ('FAILED', 'SKIPPED')
                                                 OR d.status_before_resend IS NULL AND o."nextAttemptAt" IS NULL)
                              THEN coalesce(d.dead_lettered_at, o."endedAt") ELSE d.dead_lettered_at END,
      status_before_resend = NULL, resend_reason = NULL, in_flight_attempt_id = NULL, in_flight_since = NULL
  FROM outcome o
  WHERE d.id = o."deliveryId" AND d.id = ANY (ARRAY(SELECT "deliveryId" FROM outcome))
    AND (d.in_flight_attempt_id = o."attemptId"
         -- A late success still counts: the receiver has the event.
         OR o.ok AND d.status IN ('PENDING', 'RETRYING', 'FAILED') AND o."attemptId" IN (SELECT id FROM attempt_row))
  RETURNING ${NOW}, d.subscription_id, d.merchant_id, d.environment,
            o.ok, o.manual, o."endedAt" AS ended_at, o."deadLetterId" AS dead_letter_id, o.start
), opened_dead_letter AS (
  INSERT INTO webhook_dead_letter (id, delivery_id, merchant_id, environment, opened_at, reason)
  SELECT dead_letter_id, id, merchant_id, environment, ended_at, CASE WHEN manual THEN 'resend_failed' ELSE 'exhausted' END
  FROM updated WHERE status = 'FAILED'
  ON CONFLICT (delivery_id) WHERE closed_at IS NULL DO NOTHING
), closed_dead_letter AS (
  UPDATE webhook_dead_letter l SET closed_at = d.ended_at
  FROM updated d
  WHERE l.delivery_id = d.id AND l.delivery_id = ANY (ARRAY(SELECT id FROM updated WHERE ok)) AND l.closed_at IS NULL AND d.ok
), updated_health AS (
  UPDATE webhook_subscription s
  SET consecutive_failures = CASE WHEN h.delivered_at IS NOT NULL THEN 0 ELSE s.consecutive_failures + h.failed END,
      throttled_until = CASE WHEN h.delivered_at IS NOT NULL THEN NULL
                        WHEN s.consecutive_failures + h.failed >= ${THROTTLED_AFTER_FAILURES} THEN now() + interval '${THROTTLED_FOR}'
                        ELSE s.throttled_until END,
      verified_at = CASE WHEN h.delivered_at IS NULL THEN s.verified_at ELSE coalesce(s.verified_at, h.delivered_at) END
  FROM (SELECT subscription_id, CAST(count(*) FILTER (WHERE NOT ok) AS integer) AS failed,
               min(ended_at) FILTER (WHERE ok) AS delivered_at
        FROM updated GROUP BY subscription_id ORDER BY subscription_id) h
  WHERE s.id = h.subscription_id AND s.id = ANY (ARRAY(SELECT subscription_id FROM updated))
    AND (h.delivered_at IS NULL OR s.consecutive_failures > 0 OR s.verified_at IS NULL)
), outbox_row AS (
  INSERT INTO outbox (id, kind, workflow_type, workflow_id, input, traceparent, priority, available_at)
  SELECT start ->> 'id', 'start', start ->> 'workflowType', start ->> 'workflowId', start -> 'input', start ->> 'traceparent',
         ${OUTBOX_PRIORITIES.retry}, greatest(next_attempt_at - interval '${START_LEAD}', now())
  FROM updated WHERE start IS NOT NULL AND NOT ok
), waiting_start AS (
  INSERT INTO webhook_workflow_start (delivery_id, input, traceparent)
  SELECT id, start -> 'input', start ->> 'traceparent' FROM updated WHERE start IS NOT NULL AND ok
  ON CONFLICT (delivery_id) DO NOTHING
)
SELECT id, status, retry_count, next_attempt_at, last_attempt_at, http_status, failure FROM updated`;

/**
 * Records the outcomes of attempts, all that ended at the same moment in one statement: the attempt, the delivery's state,
 * its dead letter, the subscription's health if it changed, and the workflow that follows. Idempotent.
 */
export async function recordAttempts(db: Queryable, outcomes: Recording[]): Promise<DeliveryNow[]> {
  const recorded = await rows<DeliveryNow & { id: string }>(db, RECORD, { outcomes: JSON.stringify(outcomes) });
  const byDelivery = new Map<string, DeliveryNow>(recorded.map((row) => [row.id, row]));
  const missing = outcomes.map((outcome) => outcome.deliveryId).filter((id) => !byDelivery.has(id));
  // Recorded before, or superseded: the result is the current state.
  for (const id of missing) byDelivery.set(id, await readDelivery(db, id));
  return outcomes.map(({ deliveryId }) => byDelivery.get(deliveryId) as DeliveryNow);
}

/** The current state of a delivery; SKIPPED when it does not exist. `inFlight`: it is claimed. */
export async function readDelivery(db: Queryable, id: string): Promise<DeliveryNow & { inFlight: boolean }> {
  const sql = `SELECT ${NOW}, d.in_flight_since IS NOT NULL AS in_flight FROM webhook_delivery d WHERE d.id = :id`;
  const gone = { retryCount: 0, nextAttemptAt: null, lastAttemptAt: null, httpStatus: null, failure: null };
  return (await first(db, sql, { id })) ?? { ...gone, status: 'SKIPPED', inFlight: false };
}

/**
 * Ends a delivery that is not final as FAILED with a dead letter, because its workflow was cancelled. It can be resent.
 * A final one stays unchanged; a forced resend of a delivered one returns to DELIVERED.
 * @returns its status afterwards; SKIPPED when it does not exist.
 */
export async function abandonDelivery(db: Queryable, request: { deliveryId: string; at: Date }) {
  const sql = `
    WITH updated AS (
      UPDATE webhook_delivery
      SET status = CASE WHEN status_before_resend = 'DELIVERED' THEN 'DELIVERED' ELSE 'FAILED' END, next_attempt_at = NULL,
          status_before_resend = NULL, resend_reason = NULL, in_flight_attempt_id = NULL, in_flight_since = NULL,
          dead_lettered_at = CASE WHEN status_before_resend = 'DELIVERED' THEN dead_lettered_at ELSE coalesce(dead_lettered_at, :at) END
      WHERE id = :deliveryId AND status IN ('PENDING', 'RETRYING')
      RETURNING id, merchant_id, environment, status
    ), opened_dead_letter AS (
      INSERT INTO webhook_dead_letter (id, delivery_id, merchant_id, environment, opened_at, reason)
      SELECT :deadLetterId, id, merchant_id, environment, :at, 'canceled' FROM updated WHERE status = 'FAILED'
      ON CONFLICT (delivery_id) WHERE closed_at IS NULL DO NOTHING
    )
    SELECT coalesce(u.status, d.status) AS status
    FROM webhook_delivery d LEFT JOIN updated u ON u.id = d.id WHERE d.id = :deliveryId`;
  const now = await first<{ status: DeliveryStatus }>(db, sql, { ...request, deadLetterId: newId('whl') });
  return now?.status ?? 'SKIPPED';
}

/**
 * Resolves when the outcome is saved, however long the database is unavailable: an attempt that was sent must not be sent
 * again. Its mark is renewed meanwhile (in-flight.ts).
 */
export type Recorder = (outcome: Recording) => Promise<DeliveryNow>;

type RecorderDeps = { db: Queryable; log: Logger; inFlight: Pick<InFlight, 'noteFailure'> };

export function createRecorder({ db, log, inFlight }: RecorderDeps): Recorder {
  const save = createBatch((outcomes: Recording[]) => recordAttempts(db, outcomes), {
    sizeMax: BATCH_MAX,
    everyMs: RECORD_EVERY_MS,
  });
  return async (outcome) => {
    let next = outcome;
    let isAlone = false;
    for (let pauseMs = RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, RETRY_MAX_MS)) {
      try {
        return isAlone ? ((await recordAttempts(db, [next]))[0] as DeliveryNow) : await save(next);
      } catch (error) {
        const { deliveryId, reason } = outcome;
        log.warn({ err: error, deliveryId }, 'The outcome of an attempt could not be saved; retrying');
        if (!isRejected(error)) inFlight.noteFailure();
        // Rejected alone, so because of a text of the receiver or an operator: saved without it.
        else if (isAlone) next = { ...outcome, responseHeaders: {}, responseExcerpt: '', reason: reason && '' };
        // The next try is alone, so that it cannot fail others; except while the database is unavailable.
        isAlone ||= !isDatabaseUnavailable(error);
        await sleep(pauseMs);
      }
    }
  };
}

/** SQLSTATE classes 22 and 23: the data of an outcome in the batch is invalid. */
function isRejected(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code));
}
