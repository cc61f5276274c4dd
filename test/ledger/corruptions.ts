const JOURNAL = `(SELECT id FROM ledger_journal WHERE kind = 'PAYMENT' ORDER BY id LIMIT 1)`;
const OPEN = `(SELECT id FROM withdrawal WHERE status = 'PENDING')`;
/** What somebody with the keys to the database could do, the SQL of it, and the check that finds it. */
export const CORRUPTIONS = [
  [
    'an entry is gone',
    `DELETE FROM ledger_entry WHERE journal_id = ${JOURNAL} AND position = 1`,
    'the entries of each journal sum to zero',
  ],
  [
    'an entry has another amount',
    `UPDATE ledger_entry SET amount_santim = amount_santim + 1 WHERE journal_id = ${JOURNAL} AND position = 3`,
    'the entries of each journal sum to zero',
  ],
  [
    'an entry is on an account of the other environment',
    `WITH other AS (
       INSERT INTO ledger_account (environment, currency, kind) VALUES ('live', 'ETB', 'FEE_REVENUE') RETURNING id
     ) UPDATE ledger_entry SET account_id = (SELECT id FROM other) WHERE journal_id = ${JOURNAL} AND position = 3`,
    'all accounts of an environment sum to zero',
  ],
  [
    'a journal is gone',
    `DELETE FROM ledger_journal WHERE id = ${JOURNAL}`,
    'every entry has its journal and its account, both of one environment',
  ],
  [
    'a balance was topped up',
    'UPDATE ledger_balance SET available_santim = available_santim + 1',
    "a merchant's balance is the sum of its entries",
  ],
  ['a balance is gone', 'DELETE FROM ledger_balance', "a merchant's balance is the sum of its entries"],
  [
    'fees were forgotten',
    'UPDATE ledger_balance SET fees_santim = 0',
    'fees and settlements to date are the sums of their journals',
  ],
  [
    'a settlement was forgotten',
    'UPDATE ledger_balance SET settled_santim = 0',
    'fees and settlements to date are the sums of their journals',
  ],
  [
    'a running balance is wrong',
    `UPDATE ledger_entry SET balance_after_santim = balance_after_santim + 1 WHERE sequence = 1`,
    'the balance after an entry is the one before it, plus the entry',
  ],
  [
    'an entry was put before the one it follows',
    `UPDATE ledger_entry SET effective_at = effective_at - interval '1 day' WHERE sequence = 3`,
    "the entries of a merchant's account never go back in time",
  ],
  [
    'a payment was booked that is no SUCCESS',
    `UPDATE transaction SET status = 'PENDING' WHERE status = 'SUCCESS'`,
    'each SUCCESS transaction has exactly one success journal, and no other transaction has one',
  ],
  [
    'a SUCCESS was never booked',
    `UPDATE transaction SET status = 'SUCCESS' WHERE status = 'PENDING'`,
    'each SUCCESS transaction has exactly one success journal, and no other transaction has one',
  ],
  [
    'a fee is not what was booked',
    `UPDATE transaction SET fee_santim = 0 WHERE status = 'SUCCESS'`,
    'net, fee and tax of a payment add up to the received amount and match the booking',
  ],
  [
    'a withdrawal has paid out another amount than was booked',
    `UPDATE withdrawal SET paid_santim = amount_santim - 1 WHERE status = 'SUCCESS'`,
    'a withdrawal has paid out, and had reversed, what its beneficiary received',
  ],
  [
    'held money was never set aside',
    `UPDATE payment_attempt SET status = 'HELD', received_currency = 'ETB' WHERE status = 'SUCCEEDED'`,
    'held money is in suspense',
  ],
  [
    'money is held by the journals, and its attempt has succeeded',
    `UPDATE payment_attempt SET status = 'SUCCEEDED' WHERE status = 'HELD'`,
    'held money is in suspense',
  ],
  [
    'a payment was booked in the other environment',
    `UPDATE ledger_journal SET environment = 'live' WHERE id = ${JOURNAL}`,
    'a payment is booked for its merchant and environment, on a channel of one of its attempts',
  ],
  [
    "a withdrawal was booked over another provider's channel",
    `UPDATE withdrawal SET channel = 'CBE_BIRR' WHERE status = 'SUCCESS'`,
    'a withdrawal is posted for its own merchant, environment and channel',
  ],
  [
    'money was given back by a decision and by no journal',
    `UPDATE payment_attempt SET hold_resolution = 'RETURNED', hold_resolved_at = now(), return_reference = 'RET-1'
     WHERE status = 'DUPLICATE'`,
    'the booking of held money matches the decision about it',
  ],
  [
    'money was given to the merchant by a journal and by no decision',
    `UPDATE payment_attempt SET hold_resolution = NULL, hold_resolved_at = NULL WHERE hold_resolution = 'ACCEPTED'`,
    'the booking of held money matches the decision about it',
  ],
  [
    'a withdrawal was paid and given back',
    `INSERT INTO ledger_journal (id, posting_key, kind, environment, currency, amount_santim, resource_type, resource_id, effective_at)
     VALUES ('jrn_1', 'a', 'WITHDRAWAL_PAID', 'sandbox', 'ETB', 1, 'withdrawal', 'wd_1', now()),
            ('jrn_2', 'b', 'WITHDRAWAL_RELEASED', 'sandbox', 'ETB', 1, 'withdrawal', 'wd_1', now())`,
    'no reservation is both paid out and released',
  ],
  [
    'a withdrawal is SUCCESS that was never paid',
    `UPDATE withdrawal SET status = 'SUCCESS', stage = 'COMPLETED', completed_at = now() WHERE id = ${OPEN}`,
    'each withdrawal has the journals of its status, and no others',
  ],
  [
    'a withdrawal is FAILED whose money was not given back',
    `UPDATE withdrawal SET status = 'FAILED' WHERE status = 'SUCCESS'`,
    'each withdrawal has the journals of its status, and no others',
  ],
  [
    'a withdrawal has set aside less than it takes',
    `UPDATE withdrawal SET fee_santim = fee_santim + 1 WHERE status = 'SUCCESS'`,
    'a withdrawal reserves its amount, fee and tax',
  ],
  [
    'a withdrawal is gone',
    `DELETE FROM withdrawal WHERE id = ${OPEN}`,
    'each journal of a withdrawal has a withdrawal',
  ],
  [
    'more is reserved than what is open takes',
    'UPDATE ledger_balance SET available_santim = available_santim - 1, reserved_santim = reserved_santim + 1',
    'the reserved balance is the sum of open withdrawals and settlements',
  ],
  [
    'an open withdrawal takes less than is reserved',
    `UPDATE withdrawal SET amount_santim = amount_santim - 1 WHERE id = ${OPEN}`,
    'the reserved balance is the sum of open withdrawals and settlements',
  ],
  [
    'the bank got another amount than was settled',
    `UPDATE ledger_entry SET amount_santim = amount_santim - 1 WHERE account_id = (SELECT id FROM ledger_account WHERE kind = 'BANK')`,
    'a settlement reserves its amount, fee and tax, and pays its amount to the bank',
  ],
  [
    'more is held than waits in suspense',
    `UPDATE payment_attempt SET received_santim = received_santim + 1 WHERE status = 'DUPLICATE' AND hold_resolution IS NULL`,
    'suspense is the sum of held money, unallocated money and overpayments',
  ],
] as const;
