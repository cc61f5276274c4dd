const JOURNAL = `(SELECT id FROM ledger_journal WHERE kind = 'PAYMENT' ORDER BY id LIMIT 1)`;
const OPEN = `(SELECT id FROM payout WHERE kind = 'withdrawal' AND status = 'PENDING')`;
/** Corruptions that need direct access to the database: a name, the SQL, and the invariant that finds it. */
export const CORRUPTIONS = [
  [
    'a missing entry',
    `DELETE FROM ledger_entry WHERE journal_id = ${JOURNAL} AND position = 1`,
    'the entries of each journal sum to zero',
  ],
  [
    'an entry with another amount',
    `UPDATE ledger_entry SET amount_santim = amount_santim + 1 WHERE journal_id = ${JOURNAL} AND position = 3`,
    'the entries of each journal sum to zero',
  ],
  [
    'an entry on an account of the other environment',
    `WITH other AS (
       INSERT INTO ledger_account (environment, currency, kind) VALUES ('live', 'ETB', 'FEE_REVENUE') RETURNING id
     ) UPDATE ledger_entry SET account_id = (SELECT id FROM other) WHERE journal_id = ${JOURNAL} AND position = 3`,
    'all accounts of an environment sum to zero',
  ],
  [
    'a missing journal',
    `DELETE FROM ledger_journal WHERE id = ${JOURNAL}`,
    'every entry has its journal and its account, both of one environment',
  ],
  [
    'an increased balance',
    'UPDATE ledger_balance SET available_santim = available_santim + 1',
    "a merchant's balance is the sum of its entries",
  ],
  ['a missing balance', 'DELETE FROM ledger_balance', "a merchant's balance is the sum of its entries"],
  [
    'a balance without its fees',
    'UPDATE ledger_balance SET fees_santim = 0',
    'fees and settlements to date are the sums of their journals',
  ],
  [
    'a balance without its settlements',
    'UPDATE ledger_balance SET settled_santim = 0',
    'fees and settlements to date are the sums of their journals',
  ],
  [
    'a journal without its fees',
    `UPDATE ledger_journal SET fees_santim = 0 WHERE id = ${JOURNAL}`,
    'the fees and the settled amount of a journal are the sums of its entries',
  ],
  [
    'a wrong running balance',
    `UPDATE ledger_entry SET balance_after_santim = balance_after_santim + 1 WHERE sequence = 1`,
    'the balance after an entry is the one before it, plus the entry',
  ],
  [
    'an entry dated before its predecessor',
    `UPDATE ledger_entry SET effective_at = effective_at - interval '1 day' WHERE sequence = 3`,
    "the entries of a merchant's account never go back in time",
  ],
  [
    'a posted payment that is not SUCCESS',
    `UPDATE transaction SET status = 'PENDING' WHERE status = 'SUCCESS'`,
    'each SUCCESS transaction has exactly one success journal, and no other transaction has one',
  ],
  [
    'a SUCCESS payment without a posting',
    `UPDATE transaction SET status = 'SUCCESS' WHERE status = 'PENDING'`,
    'each SUCCESS transaction has exactly one success journal, and no other transaction has one',
  ],
  [
    'a fee that differs from the posting',
    `UPDATE transaction SET fee_santim = 0 WHERE status = 'SUCCESS'`,
    'net, fee and tax of a payment add up to the received amount and match the booking',
  ],
  [
    'a paid amount that differs from the posting',
    `UPDATE payout SET paid_santim = amount_santim - 1 WHERE kind = 'withdrawal' AND status = 'SUCCESS'`,
    'a withdrawal has paid out, and had reversed, what its beneficiary received',
  ],
  [
    'held money that is not in suspense',
    `UPDATE payment_attempt SET status = 'HELD', received_currency = 'ETB' WHERE status = 'SUCCEEDED'`,
    'held money is in suspense',
  ],
  [
    'money in suspense whose attempt has succeeded',
    `UPDATE payment_attempt SET status = 'SUCCEEDED' WHERE status = 'HELD'`,
    'held money is in suspense',
  ],
  [
    'a payment posted in the other environment',
    `UPDATE ledger_journal SET environment = 'live' WHERE id = ${JOURNAL}`,
    'a payment is booked for its merchant and environment, on a channel of one of its attempts',
  ],
  [
    "a withdrawal posted to another provider's channel",
    `UPDATE payout SET channel = 'CBE_BIRR' WHERE kind = 'withdrawal' AND status = 'SUCCESS'`,
    'a withdrawal is posted for its own merchant, environment and channel',
  ],
  [
    'a return decision without a posting',
    `UPDATE payment_attempt SET hold_resolution = 'RETURNED', hold_resolved_at = now(), return_reference = 'RET-1'
     WHERE status = 'DUPLICATE'`,
    'the booking of held money matches the decision about it',
  ],
  [
    'a posted release without a decision',
    `UPDATE payment_attempt SET hold_resolution = NULL, hold_resolved_at = NULL WHERE hold_resolution = 'ACCEPTED'`,
    'the booking of held money matches the decision about it',
  ],
  [
    'a reservation both paid and released',
    `INSERT INTO ledger_journal (id, posting_key, kind, environment, currency, amount_santim, fees_santim, settled_santim, resource_type, resource_id, effective_at)
     VALUES ('jrn_1', 'a', 'WITHDRAWAL_PAID', 'sandbox', 'ETB', 1, 0, 0, 'withdrawal', 'wd_1', now()),
            ('jrn_2', 'b', 'WITHDRAWAL_RELEASED', 'sandbox', 'ETB', 1, 0, 0, 'withdrawal', 'wd_1', now())`,
    'no reservation is both paid out and released',
  ],
  [
    'a SUCCESS withdrawal without a payout posting',
    `UPDATE payout SET status = 'SUCCESS', stage = 'COMPLETED', completed_at = now() WHERE id = ${OPEN}`,
    'each withdrawal has the journals of its status, and no others',
  ],
  [
    'a FAILED withdrawal without a release posting',
    `UPDATE payout SET status = 'FAILED' WHERE kind = 'withdrawal' AND status = 'SUCCESS'`,
    'each withdrawal has the journals of its status, and no others',
  ],
  [
    'a reservation below the amount with fee and tax',
    `UPDATE payout SET fee_santim = fee_santim + 1 WHERE kind = 'withdrawal' AND status = 'SUCCESS'`,
    'a withdrawal reserves its amount, fee and tax',
  ],
  ['a missing withdrawal', `DELETE FROM payout WHERE id = ${OPEN}`, 'each journal of a withdrawal has a withdrawal'],
  [
    'a reserved balance above the open payouts',
    'UPDATE ledger_balance SET available_santim = available_santim - 1, reserved_santim = reserved_santim + 1',
    'the reserved balance is the sum of open withdrawals, refunds and settlements',
  ],
  [
    'an open withdrawal below its reservation',
    `UPDATE payout SET amount_santim = amount_santim - 1 WHERE id = ${OPEN}`,
    'the reserved balance is the sum of open withdrawals, refunds and settlements',
  ],
  [
    'a bank entry with another amount than the settlement',
    `UPDATE ledger_entry SET amount_santim = amount_santim - 1 WHERE account_id = (SELECT id FROM ledger_account WHERE kind = 'BANK')`,
    'a settlement has paid out, and had reversed, what its beneficiary received',
  ],
  [
    'held money above the suspense balance',
    `UPDATE payment_attempt SET received_santim = received_santim + 1 WHERE status = 'DUPLICATE' AND hold_resolution IS NULL`,
    'suspense is the sum of held money, unallocated money and overpayments',
  ],
] as const;
