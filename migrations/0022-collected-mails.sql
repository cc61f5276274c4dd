-- Notices of one kind to one person, such as those of the 300 withdrawals of a file, are collected in one mail for a while.
ALTER TABLE mail ADD COLUMN collected_as text;       -- kind, merchant and environment; null: a mail of its own
CREATE UNIQUE INDEX mail_collecting ON mail (recipient, collected_as)
  WHERE sent_at IS NULL AND tries = 0 AND collected_as IS NOT NULL;
