-- The platform's staff. Their keys are made and stored like those of merchants, but belong to no merchant.
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
  id              text PRIMARY KEY,                -- opk_…, also the first part of the key itself
  operator_id     text NOT NULL REFERENCES operator,
  name            text NOT NULL DEFAULT '',
  prefix          text NOT NULL,
  last_four       text NOT NULL,
  secret_hash     bytea NOT NULL,                  -- HMAC-SHA256 of the whole key under the server's pepper
  pepper_id       text CHECK (pepper_id ~ '^[0-9a-f]{8}$'),
  -- opr_…: the owner, the creator, and whoever may know the key that this one was created with. Two approvals count as
  -- those of two people only if no one may have given both.
  secret_holders  text[] NOT NULL DEFAULT '{}',
  expires_at      timestamptz,
  revoked_at      timestamptz,
  last_used_at    timestamptz,
  created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX operator_key_operator ON operator_key (operator_id, created_at DESC);

-- Who changed what, and why. A row commits with the change it describes and is never changed or removed.
CREATE TABLE operator_audit (
  id             text PRIMARY KEY,                 -- aud_…
  operator_id    text NOT NULL REFERENCES operator,
  action         text NOT NULL,                    -- merchant.suspend, withdrawal.approve …
  resource_type  text NOT NULL,
  resource_id    text NOT NULL,
  merchant_id    text REFERENCES merchant,         -- null: the change concerns no single merchant
  environment    text CHECK (environment IN ('sandbox', 'live')),
  before         jsonb,                            -- the changed fields only; never a secret
  after          jsonb,
  reason         text,
  request_id     text NOT NULL,                    -- req_… of the HTTP request or of the command
  occurred_at    timestamptz NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX operator_audit_list ON operator_audit (occurred_at DESC, id DESC);
CREATE INDEX operator_audit_resource ON operator_audit (resource_id, occurred_at DESC);
CREATE INDEX operator_audit_merchant ON operator_audit (merchant_id, occurred_at DESC) WHERE merchant_id IS NOT NULL;
