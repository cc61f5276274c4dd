-- ENABLE ALWAYS, since session_replication_role = replica would otherwise disable the trigger.
CREATE OR REPLACE TRIGGER operator_audit_fixed BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_audit
  EXECUTE FUNCTION reject_mutation();
ALTER TABLE operator_audit ENABLE ALWAYS TRIGGER operator_audit_fixed;
