-- The platform's own people. Their keys are made and stored as merchants' are (migrations/0002), but are of no merchant.
CREATE TABLE operator (
  id          text PRIMARY KEY,                    -- opr_…
  name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  email       text NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
  role        text NOT NULL CHECK (role IN ('viewer', 'support', 'finance', 'admin')),
  active      boolean NOT NULL DEFAULT true,
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX operator_email ON operator (lower(email));

CREATE TABLE operator_key (
  id            text PRIMARY KEY,                  -- opk_…, also the first part of the key itself
  operator_id   text NOT NULL REFERENCES operator,
  name          text NOT NULL DEFAULT '',
  prefix        text NOT NULL,
  last_four     text NOT NULL,
  secret_hash   bytea NOT NULL,                    -- HMAC-SHA256 of the whole key under the server's pepper
  expires_at    timestamptz,
  revoked_at    timestamptz,
  last_used_at  timestamptz,
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX operator_key_operator ON operator_key (operator_id, created_at DESC);

-- Who changed what, and why: written with the change, kept for good.
CREATE TABLE operator_audit (
  id             text PRIMARY KEY,                 -- aud_…
  operator_id    text NOT NULL REFERENCES operator,
  action         text NOT NULL,                    -- merchant.suspend, withdrawal.approve … (src/operators/permits.ts)
  resource_type  text NOT NULL,
  resource_id    text NOT NULL,
  merchant_id    text REFERENCES merchant,         -- whom it concerns, if a merchant
  environment    text CHECK (environment IN ('sandbox', 'live')),
  before         jsonb,                            -- what differs; never a secret
  after          jsonb,
  reason         text,
  request_id     text NOT NULL,                    -- req_… of the request, or of the command on a terminal
  at             timestamptz NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX operator_audit_list ON operator_audit (at DESC, id DESC);
CREATE INDEX operator_audit_resource ON operator_audit (resource_id, at DESC);
CREATE INDEX operator_audit_merchant ON operator_audit (merchant_id, at DESC) WHERE merchant_id IS NOT NULL;

CREATE FUNCTION operator_audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'operator_audit is written once' USING ERRCODE = 'MK002';
END $$;
CREATE TRIGGER operator_audit_fixed BEFORE UPDATE OR DELETE ON operator_audit
  FOR EACH ROW EXECUTE FUNCTION operator_audit_refuse_change();
CREATE TRIGGER operator_audit_kept BEFORE TRUNCATE ON operator_audit EXECUTE FUNCTION operator_audit_refuse_change();
-- For everybody, whatever session_replication_role says.
ALTER TABLE operator_audit ENABLE ALWAYS TRIGGER operator_audit_fixed;
ALTER TABLE operator_audit ENABLE ALWAYS TRIGGER operator_audit_kept;

-- Operators' requests can be repeated too: theirs stand under the operator's id, in no environment.
ALTER TABLE idempotency_key DROP CONSTRAINT idempotency_key_merchant_id_fkey;
ALTER TABLE idempotency_key DROP CONSTRAINT idempotency_key_environment_check;
ALTER TABLE idempotency_key ADD CONSTRAINT idempotency_key_environment_check
  CHECK (environment IN ('sandbox', 'live', 'none'));

-- What became of money that came and was not asked for. A HELD attempt that is accepted becomes SUCCEEDED.
ALTER TABLE payment_attempt
  ADD COLUMN decided text CHECK (decided IN ('ACCEPTED', 'RETURNED')),
  ADD COLUMN decided_at timestamptz,
  ADD COLUMN return_reference text,                -- the provider's or the bank's, of the money's way back
  ADD CONSTRAINT payment_attempt_decided
    CHECK ((decided IS NULL) = (decided_at IS NULL) AND (return_reference IS NULL) = (decided IS DISTINCT FROM 'RETURNED'));
CREATE INDEX payment_attempt_undecided ON payment_attempt (ended_at)
  WHERE status IN ('HELD', 'DUPLICATE') AND decided IS NULL;
