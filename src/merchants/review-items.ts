import type { WorkItemSource } from '../outbox/work-items.ts';

/** Channels that merchants have requested; `id` is merchant/channel. */
export const CHANNEL_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['CHANNEL_REQUEST'],
  sql: `SELECT 'CHANNEL_REQUEST' AS kind, m.merchant_id || '/' || m.channel AS id, m.merchant_id, m.environment,
               NULL::bigint AS amount_santim, m.updated_at AS since,
               'The merchant requests ' || c.display_name
                 || CASE WHEN kyc_tier_allows(m.merchant_id, m.environment, m.channel) THEN ''
                         ELSE ', which its KYC tier does not allow' END AS what,
               jsonb_build_object('channel', m.channel, 'platformState', c.platform_state) AS detail,
               NULL AS workflow_id
        FROM merchant_channel m JOIN channel c ON c.id = m.channel WHERE m.approval = 'REQUESTED'`,
};

/** KYC applications for an operator to decide, without those that the sandbox decides itself. */
export const KYC_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['KYC'],
  sql: `SELECT 'KYC' AS kind, k.merchant_id AS id, k.merchant_id, k.environment, NULL::bigint AS amount_santim,
               coalesce(k.submitted_at, k.updated_at) AS since,
               'KYC application to decide (submission ' || k.submissions || ')' AS what,
               jsonb_build_object('status', k.status, 'submission', k.submissions) AS detail, NULL AS workflow_id
        FROM kyc_application k WHERE k.status IN ('SUBMITTED', 'UNDER_REVIEW') AND k.auto_decide_at IS NULL`,
};
