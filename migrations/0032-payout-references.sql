-- A reference of a provider pays one withdrawal: what operators say is looked for.
CREATE INDEX withdrawal_provider_reference ON withdrawal (provider_reference) WHERE provider_reference IS NOT NULL;
