-- One person pays a settlement: who gave it to the bank is kept, and nobody else says so too.
ALTER TABLE settlement
  ADD COLUMN sent_by            text,              -- opr_… or "sandbox"
  ADD COLUMN returned_at        timestamptz,       -- when we heard that the bank has sent back what it had credited
  ADD COLUMN return_reference   text,              -- the bank's trace id of the money's way back
  ADD COLUMN late_credit        jsonb,             -- { bankReference, creditedAt, operatorId, at }: said of one that had FAILED
  ADD COLUMN late_credit_ended  text CHECK (late_credit_ended IN ('BOOKED', 'DISMISSED'));

UPDATE settlement s SET sent_by = coalesce(
  (SELECT actor FROM settlement_timeline l WHERE l.settlement_id = s.id AND l.kind = 'bank.sent' ORDER BY l.id LIMIT 1),
  'unknown')
WHERE sent_at IS NOT NULL;

ALTER TABLE settlement
  DROP CONSTRAINT settlement_check1,               -- COMPLETED is credited, nothing else is
  ADD CONSTRAINT settlement_sent CHECK ((sent_by IS NULL) = (sent_at IS NULL)),
  ADD CONSTRAINT settlement_credited CHECK ((credited_at IS NOT NULL) = (status = 'COMPLETED' OR returned_at IS NOT NULL)),
  ADD CONSTRAINT settlement_returned CHECK (returned_at IS NULL OR status = 'FAILED'),
  ADD CONSTRAINT settlement_return_reference CHECK ((returned_at IS NULL) = (return_reference IS NULL)),
  ADD CONSTRAINT settlement_late_credit CHECK (late_credit IS NOT NULL OR late_credit_ended IS NULL);

-- One credit of the bank is of one settlement, and so is the way back of one.
CREATE UNIQUE INDEX settlement_bank_reference ON settlement (environment, bank_reference) WHERE credited_at IS NOT NULL;
CREATE UNIQUE INDEX settlement_return ON settlement (environment, return_reference) WHERE return_reference IS NOT NULL;
CREATE INDEX settlement_late ON settlement (id) WHERE late_credit IS NOT NULL AND late_credit_ended IS NULL;

-- Who has made a key knows it, so may have asked with it.
ALTER TABLE api_key ADD COLUMN created_by text;    -- opr_…; null: made on a terminal
UPDATE api_key k SET created_by = a.operator_id
FROM operator_audit a WHERE a.action = 'key.create' AND a.resource_id = k.id;

-- An account that was verified once can be rejected later; a change of it is held all the same.
ALTER TABLE bank_account ADD COLUMN verified_at timestamptz;
UPDATE bank_account SET verified_at = decided_at WHERE status = 'VERIFIED';
ALTER TABLE bank_account ADD CONSTRAINT bank_account_verified CHECK (status <> 'VERIFIED' OR verified_at IS NOT NULL);
