import type { WorkItemSource } from '../../outbox/work-items.ts';

/** Linked bank accounts that nobody has verified yet. */
export const BANK_ACCOUNT_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['BANK_ACCOUNT'],
  sql: `SELECT 'BANK_ACCOUNT' AS kind, b.id, b.merchant_id, b.environment, NULL::bigint AS amount_santim, b.created_at AS since,
               'A linked bank account waits to be verified' AS what,
               jsonb_build_object('bankAccountId', b.id, 'bankCode', b.bank_code, 'lastFour', right(b.account_number, 4)) AS detail,
               NULL AS workflow_id
        FROM bank_account b WHERE b.status = 'PENDING' AND b.replaced_at IS NULL`,
};
