import type { WorkItemSource } from '../../outbox/work-items.ts';

/** Channels that merchants have asked for; `id` names merchant and channel. */
export const CHANNEL_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['CHANNEL_REQUEST'],
  sql: `SELECT 'CHANNEL_REQUEST' AS kind, m.merchant_id || '/' || m.channel AS id, m.merchant_id, m.environment,
               NULL::bigint AS amount_santim, m.updated_at AS since,
               'The merchant asks for ' || c.display_name
                 || CASE WHEN kyc_tier_allows(m.merchant_id, m.environment, m.channel) THEN ''
                         ELSE ', which it is not verified far enough for' END AS what,
               jsonb_build_object('channel', m.channel, 'platformState', c.platform_state) AS detail,
               NULL AS workflow_id
        FROM merchant_channel m JOIN channel c ON c.id = m.channel WHERE m.approval = 'REQUESTED'`,
};
