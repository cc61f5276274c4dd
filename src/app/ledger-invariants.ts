import { LEDGER_CHECKS, type LedgerInvariant } from '../ledger/verify.ts';
import { TRANSACTION_CHECKS } from '../payments/monitoring.ts';
import { REFUND_CHECKS } from '../payouts/refunds/monitoring.ts';
import { WITHDRAWAL_CHECKS } from '../payouts/withdrawals/monitoring.ts';
import { RECEIPT_CHECKS } from '../reconciliation/monitoring.ts';
import { SETTLEMENT_CHECKS } from '../settlements/monitoring.ts';
import { IS_OPEN } from '../settlements/states.ts';

/** Invariants across several slices. */
const RESERVED_CHECK: LedgerInvariant = {
  description: 'the reserved balance is the sum of open withdrawals, refunds and settlements',
  sql: `SELECT NULL AS journal, coalesce(b.merchant_id, o.merchant_id) || ' ' || coalesce(b.environment, o.environment)
               || ': reserved ' || coalesce(b.reserved_santim, 0) || ' santim, open ' || coalesce(o.santim, 0) AS about
        FROM ledger_balance b FULL JOIN (
          SELECT merchant_id, environment, currency, sum(santim) AS santim FROM (
            SELECT merchant_id, environment, currency, amount_santim + fee_santim + fee_tax_santim AS santim
            FROM payout WHERE status = 'PENDING'
            UNION ALL
            SELECT merchant_id, environment, currency, amount_santim + fee_santim + fee_tax_santim
            FROM settlement WHERE ${IS_OPEN}) each
          GROUP BY merchant_id, environment, currency
        ) o ON o.merchant_id = b.merchant_id AND o.environment = b.environment AND o.currency = b.currency
        WHERE coalesce(b.reserved_santim, 0) <> coalesce(o.santim, 0)`,
};

const SUSPENSE_CHECK: LedgerInvariant = {
  description: 'suspense is the sum of held money, unallocated money and overpayments',
  sql: `SELECT NULL AS journal, environment || ': ' || sum(booked) || ' santim in suspense, ' || sum(expected) || ' expected' AS about
        FROM (
          SELECT a.environment, e.amount_santim AS booked, 0 AS expected
          FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id WHERE a.kind = 'SUSPENSE'
          UNION ALL
          SELECT environment, 0, received_santim FROM payment_attempt
          WHERE status IN ('HELD', 'DUPLICATE') AND hold_resolution IS NULL AND received_currency = 'ETB'
          UNION ALL
          SELECT environment, 0, amount_santim FROM bank_receipt
          WHERE kind = 'UNALLOCATED' AND outcome IS NULL AND reversed_at IS NULL
          UNION ALL
          SELECT environment, 0, amount_santim - paid_santim FROM payout
          WHERE paid_santim > amount_santim AND status = 'SUCCESS'
          UNION ALL
          SELECT environment, 0, amount_santim FROM bank_receipt WHERE kind = 'RECOVERY' AND reversed_at IS NULL) each
        GROUP BY environment HAVING sum(booked) <> coalesce(sum(expected), 0)`,
};

export const ledgerChecks: readonly LedgerInvariant[] = [
  ...LEDGER_CHECKS,
  ...TRANSACTION_CHECKS,
  ...REFUND_CHECKS,
  ...WITHDRAWAL_CHECKS,
  ...SETTLEMENT_CHECKS,
  ...RECEIPT_CHECKS,
  RESERVED_CHECK,
  SUSPENSE_CHECK,
];
