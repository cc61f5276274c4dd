-- no transaction
-- A reference of a provider pays one withdrawal: what operators say is looked for.
DROP INDEX CONCURRENTLY IF EXISTS withdrawal_provider_reference;
CREATE INDEX CONCURRENTLY withdrawal_provider_reference ON withdrawal (provider_reference)
  WHERE provider_reference IS NOT NULL;
