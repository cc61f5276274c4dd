-- Two words are two people's only where nobody may have said both: so of each key it is kept who may know its secret, and
-- of each word whose it may be. Keys from before are known to who made them, as far as the audit log says.
ALTER TABLE operator_key ADD COLUMN known_to text[] NOT NULL DEFAULT '{}';  -- opr_…: whose it is, who made it, and who may know the key it was made with
UPDATE operator_key k SET known_to = ARRAY(
  SELECT k.operator_id
  UNION SELECT a.operator_id FROM operator_audit a WHERE a.action = 'operator-key.create' AND a.resource_id = k.id
  UNION SELECT a.operator_id FROM operator_audit a WHERE a.action = 'operator-key.rotate' AND a.after ->> 'rotatedTo' = k.id);

ALTER TABLE api_key ADD COLUMN known_to text[] NOT NULL DEFAULT '{}';       -- opr_…: who may know it besides the merchant
UPDATE api_key SET known_to = ARRAY[created_by] WHERE created_by IS NOT NULL;

ALTER TABLE withdrawal_approval ADD COLUMN eyes text[] NOT NULL DEFAULT '{}';    -- opr_…: whose word it may be
ALTER TABLE withdrawal_resolution ADD COLUMN eyes text[] NOT NULL DEFAULT '{}';  -- the same
-- With which of their keys they were said nobody has kept.
UPDATE withdrawal_approval w SET eyes = ARRAY(
  SELECT w.operator_id UNION SELECT unnest(k.known_to) FROM operator_key k WHERE k.operator_id = w.operator_id);
UPDATE withdrawal_resolution w SET eyes = ARRAY(
  SELECT w.operator_id UNION SELECT unnest(k.known_to) FROM operator_key k WHERE k.operator_id = w.operator_id);
