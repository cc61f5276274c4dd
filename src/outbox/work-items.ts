/**
 * One slice's part of the operators' work queue: a SELECT, or several joined by UNION ALL, of kind, id, merchant_id,
 * environment, amount_santim, since, what (a sentence), detail (jsonb) and workflow_id. `:at` is the time of the query.
 * Items of no merchant have nulls.
 */
export type WorkItemSource = { kinds: readonly string[]; sql: string };

export const STALLED_OUTBOX: WorkItemSource = {
  kinds: ['OUTBOX_STALLED'],
  sql: `SELECT 'OUTBOX_STALLED' AS kind, o.id, NULL AS merchant_id, NULL AS environment, NULL::bigint AS amount_santim,
               o.created_at AS since,
               'Not sent to Temporal: ' || o.kind || ' of ' || o.workflow_type || ', after ' || o.failures || ' failures' AS what,
               jsonb_build_object('failures', o.failures) AS detail, o.workflow_id
        FROM outbox o
        WHERE greatest(coalesce(o.lease_until, o.available_at), o.available_at) < CAST(:at AS timestamptz) - interval '5 seconds'
           OR (o.failures > 0 AND o.created_at < CAST(:at AS timestamptz) - interval '1 minute')`,
};
