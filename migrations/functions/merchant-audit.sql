-- ENABLE ALWAYS, since session_replication_role = replica would otherwise disable the triggers.
CREATE OR REPLACE TRIGGER merchant_audit_fixed BEFORE UPDATE OR DELETE ON merchant_audit
  FOR EACH ROW EXECUTE FUNCTION reject_mutation();
CREATE OR REPLACE TRIGGER merchant_audit_kept BEFORE TRUNCATE ON merchant_audit
  EXECUTE FUNCTION reject_mutation();
ALTER TABLE merchant_audit ENABLE ALWAYS TRIGGER merchant_audit_fixed;
ALTER TABLE merchant_audit ENABLE ALWAYS TRIGGER merchant_audit_kept;
