-- For tables whose rows are evidence: the ledger, the audit log, and rules that explain past charges. Triggers of these
-- tables are in the file of their aggregate.
CREATE OR REPLACE FUNCTION reject_mutation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: correct a row by adding another one', TG_TABLE_NAME USING ERRCODE = 'MK002';
END $$;
