-- no transaction
-- A provider's reference confirms one payment: what is called paid under one that was used before is held for operators.
ALTER TABLE transaction DROP CONSTRAINT IF EXISTS transaction_held_check,
  ADD CONSTRAINT transaction_held_check CHECK (held IN ('WRONG_AMOUNT', 'WRONG_CURRENCY', 'REFERENCE_USED')) NOT VALID;
ALTER TABLE transaction VALIDATE CONSTRAINT transaction_held_check;
DROP INDEX CONCURRENTLY IF EXISTS transaction_paid_reference;
CREATE UNIQUE INDEX CONCURRENTLY transaction_paid_reference ON transaction (provider_reference, environment, channel)
  WHERE status = 'SUCCESS' AND provider_reference IS NOT NULL;
