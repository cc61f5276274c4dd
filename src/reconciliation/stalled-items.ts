import type { WorkItemSource } from '../outbox/work-items.ts';

/** In Addis Ababa. When the night's comparison begins is in src/temporal/schedules.ts; two hours later it is late. */
const LATE_HOUR = 4;

/** When the day after the last one that was asked for should have been asked for. */
const DUE = `(last.day + 2 + interval '${LATE_HOUR} hours') AT TIME ZONE 'Africa/Addis_Ababa'`;

/**
 * Days that should have been compared by themselves: yesterday's of a channel that was compared before, which nobody has
 * asked for; and those asked for whose comparison has not begun in two hours, or not ended in 25: it gives up after 20.
 */
export const STALLED_RUNS: WorkItemSource = {
  kinds: ['RECONCILIATION_MISSING', 'RECONCILIATION_PENDING'],
  sql: `SELECT 'RECONCILIATION_MISSING' AS kind, last.environment || '-' || last.channel || '-' || last.day + 1 AS id,
               NULL AS merchant_id, last.environment, NULL::bigint AS amount_santim,
               ${DUE} AS since,
               'No night has asked for this day to be compared: see the schedule nightlyReconciliation in Temporal' AS what,
               jsonb_build_object('channel', last.channel, 'day', last.day + 1) AS detail, NULL AS workflow_id
        FROM (SELECT environment, channel, max(day) AS day FROM reconciliation GROUP BY environment, channel) last
        WHERE ${DUE} < CAST(:at AS timestamptz)
          AND last.day > CAST(CAST(:at AS timestamptz) AS date) - 30
        UNION ALL
        SELECT 'RECONCILIATION_PENDING', r.id, NULL, r.environment, NULL::bigint,
               CASE WHEN r.requests > r.requests_at_start THEN r.requested_at ELSE r.import_started_at END,
               CASE WHEN r.requests > r.requests_at_start THEN 'The day was asked for, and its comparison_no has not begun'
                    ELSE 'The comparison_no of the day has not ended' END,
               jsonb_build_object('channel', r.channel, 'day', r.day), 'reconciliation-' || r.id
        FROM reconciliation r
        WHERE r.is_running AND CASE WHEN r.requests > r.requests_at_start THEN r.requested_at < CAST(:at AS timestamptz) - interval '2 hours'
                              ELSE r.import_started_at < CAST(:at AS timestamptz) - interval '25 hours' END`,
};
