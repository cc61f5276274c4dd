-- Entries from before 0044 get the time they were booked at, once: that of the latest entry up to them, where their own
-- is earlier. Amounts, balances and order stay, and the journal keeps the time of business. Postings wait meanwhile,
-- some seconds for each million entries; the API answers them 503, and providers' answers are asked for again.
LOCK TABLE ledger_journal, ledger_entry IN SHARE ROW EXCLUSIVE MODE;
ALTER TABLE ledger_entry DISABLE TRIGGER ledger_entry_fixed;

WITH booked AS (
  SELECT e.journal_id, e.at, max(e.at) OVER (PARTITION BY a.merchant_id, a.environment, a.currency ORDER BY e.sequence) AS booked_at
  FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
  WHERE e.sequence IS NOT NULL
)
UPDATE ledger_entry e SET at = late.booked_at
FROM (SELECT DISTINCT journal_id, booked_at FROM booked WHERE at < booked_at) late
WHERE e.journal_id = late.journal_id;

ALTER TABLE ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_fixed;

UPDATE ledger_balance b SET last_at = last.at
FROM (
  SELECT a.merchant_id, a.environment, a.currency, max(e.at) AS at
  FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id
  WHERE a.merchant_id IS NOT NULL GROUP BY a.merchant_id, a.environment, a.currency
) last
WHERE last.merchant_id = b.merchant_id AND last.environment = b.environment AND last.currency = b.currency;
