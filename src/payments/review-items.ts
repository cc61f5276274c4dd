import { maskedInSql } from '../lib/mask.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';

const birr = (santim: string): string => `trim(to_char(${santim} * 0.01, '999999999999990.00'))`;

/** The expected amount, of attempts `a`, held because its reference was used before. */
const IS_EXPECTED = '(a.received_currency = a.currency AND a.received_santim = a.amount_santim)';

/** Unexpected money, and payments whose outcome stayed unknown. */
export const PAYMENT_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['PAYMENT_HELD', 'PAYMENT_DUPLICATE', 'PAYMENT_UNKNOWN'],
  sql: `SELECT CASE a.status WHEN 'HELD' THEN 'PAYMENT_HELD' ELSE 'PAYMENT_DUPLICATE' END AS kind, a.id, a.merchant_id,
               a.environment, a.received_santim AS amount_santim, a.ended_at AS since,
               a.transaction_id || ': ' ||
               CASE WHEN a.status = 'DUPLICATE' THEN 'paid a second time'
                    WHEN ${IS_EXPECTED} THEN 'the reference ' || a.provider_reference || ' has paid another transaction'
                    WHEN a.received_currency <> a.currency THEN 'received ' || a.received_currency || ' instead of ' || a.currency
                    ELSE 'received ' || coalesce(${birr('a.received_santim')}, 'an unknown amount')
                         || ' instead of ' || ${birr('a.amount_santim')} END AS what,
               jsonb_build_object('transactionId', a.transaction_id, 'attemptId', a.id, 'channel', a.channel,
                                  'expected', a.amount_santim * 0.01, 'received', a.received_santim * 0.01,
                                  'currency', a.received_currency, 'providerReference', a.provider_reference,
                                  'payer', ${maskedInSql('a.phone')}) AS detail,
               'payment-' || a.id AS workflow_id
        FROM payment_attempt a WHERE a.status IN ('HELD', 'DUPLICATE') AND a.hold_resolution IS NULL
        UNION ALL
        SELECT 'PAYMENT_UNKNOWN', t.id, t.merchant_id, t.environment, t.amount_santim, coalesce(s.ended_at, t.created_at),
               'Ended with an unknown outcome',
               jsonb_build_object('transactionId', t.id, 'channel', t.channel), NULL
        FROM transaction t JOIN checkout_session s ON s.id = t.session_id WHERE t.needs_reconciliation`,
};

/** Attempts that should have ended: 10 minutes after their session, or a day and 10 minutes with an unknown outcome. */
export const STALLED_PAYMENTS: WorkItemSource = {
  kinds: ['PAYMENT_PENDING'],
  sql: `SELECT 'PAYMENT_PENDING' AS kind, a.id, a.merchant_id, a.environment, a.amount_santim, s.expires_at AS since,
               'The session is over and the attempt has not ended; last outcome: '
                 || coalesce(a.last_outcome, 'not queried') AS what,
               jsonb_build_object('transactionId', a.transaction_id, 'channel', a.channel, 'status', a.status) AS detail,
               'payment-' || a.id AS workflow_id
        FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id
        WHERE a.status IN ('CREATED', 'PENDING')
          AND s.expires_at + CASE a.last_outcome WHEN 'unknown' THEN interval '1 day' ELSE interval '0' END
                < CAST(:at AS timestamptz) - interval '10 minutes'`,
};
