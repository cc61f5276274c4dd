-- ENABLE ALWAYS, since session_replication_role = replica would otherwise disable the triggers.
CREATE OR REPLACE TRIGGER operator_audit_fixed BEFORE UPDATE OR DELETE ON operator_audit
  FOR EACH ROW EXECUTE FUNCTION reject_mutation();
CREATE OR REPLACE TRIGGER operator_audit_kept BEFORE TRUNCATE ON operator_audit
  EXECUTE FUNCTION reject_mutation();
ALTER TABLE operator_audit ENABLE ALWAYS TRIGGER operator_audit_fixed;
ALTER TABLE operator_audit ENABLE ALWAYS TRIGGER operator_audit_kept;
