-- ENABLE ALWAYS, since session_replication_role = replica would otherwise disable the trigger.
CREATE OR REPLACE TRIGGER merchant_audit_fixed BEFORE UPDATE OR DELETE OR TRUNCATE ON merchant_audit
  EXECUTE FUNCTION reject_mutation();
ALTER TABLE merchant_audit ENABLE ALWAYS TRIGGER merchant_audit_fixed;
