import type { WorkItemSource } from '../../outbox/work-items.ts';

/** Applications that wait for an operator; rehearsals that decide themselves do not. */
export const KYC_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['KYC'],
  sql: `SELECT 'KYC' AS kind, k.merchant_id AS id, k.merchant_id, k.environment, NULL::bigint AS amount_santim,
               coalesce(k.submitted_at, k.updated_at) AS since,
               'An application to be verified waits to be decided (submission ' || k.submissions || ')' AS what,
               jsonb_build_object('status', k.status, 'submission', k.submissions) AS detail, NULL AS workflow_id
        FROM kyc_application k WHERE k.status IN ('SUBMITTED', 'UNDER_REVIEW') AND k.auto_decide_at IS NULL`,
};
