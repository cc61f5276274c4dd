import type { AttentionSource } from '../lib/attention.ts';

/** What a provider's list and our books do not agree on, and nobody has looked into yet; and days that were not compared. */
export const DIFFERENCES_WAITING: AttentionSource = {
  kinds: ['RECONCILIATION', 'RECONCILIATION_FAILED'],
  sql: `SELECT 'RECONCILIATION' AS kind, d.id, NULL AS merchant_id, d.environment,
               coalesce(d.their_santim, d.our_santim) AS amount_santim, d.since,
               CASE WHEN d.kind = 'NOT_CONFIRMED' AND d.type = 'payout' AND d.our_status IN ('FAILED', 'REJECTED', 'CANCELLED')
                    THEN 'The provider lists as paid out what came to nothing here: it was given back'
                    WHEN d.kind = 'UNKNOWN_ORDER' THEN 'The provider lists an order that is not ours'
                    WHEN d.kind = 'NOT_CONFIRMED' THEN 'The provider lists it, and does not confirm it when asked'
                    WHEN d.kind = 'AMOUNT_DIFFERS' THEN 'The provider lists another amount than was booked'
                    ELSE 'Booked, and not on the provider''s list' END AS what,
               jsonb_build_object('difference', d.kind, 'type', d.type, 'channel', d.channel, 'day', d.day,
                                  'orderId', d.order_id, 'ourStatus', d.our_status, 'ours', d.our_santim * 0.01,
                                  'theirs', d.their_santim * 0.01, 'theirCurrency', d.their_currency) AS detail,
               NULL AS workflow_id
        FROM reconciliation_difference d WHERE d.closed_at IS NULL
        UNION ALL
        SELECT 'RECONCILIATION_FAILED', r.id, NULL, r.environment, NULL::bigint, coalesce(r.begun_at, r.asked_at),
               'The day could not be compared; ask for it again: ' || coalesce(r.problem, 'nobody knows why'),
               jsonb_build_object('channel', r.channel, 'day', r.day), 'reconciliation-' || r.id
        FROM reconciliation r WHERE r.status = 'INCOMPLETE' AND NOT r.open`,
};
