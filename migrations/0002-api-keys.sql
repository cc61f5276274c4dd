-- The platform's staff.
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

-- A key is shown once; the table keeps a keyed hash of it. A rotated key works until its overlap ends (expires_at).
CREATE TABLE api_key (
  id              text PRIMARY KEY,                -- key_… or opk_…, also the first part of the key itself
  merchant_id     text REFERENCES merchant,        -- null: an operator's key
  environment     text CHECK (environment IN ('sandbox', 'live')),
  operator_id     text REFERENCES operator,
  kind            text NOT NULL CHECK (kind IN ('secret', 'restricted', 'operator')),
  name            text NOT NULL DEFAULT '',
  prefix          text NOT NULL,                   -- the first 12 characters, to recognise the key by
  last_four       text CHECK (length(last_four) = 4),
  secret_hash     bytea NOT NULL,                  -- HMAC-SHA256 of the whole key under the server's pepper
  pepper_id       text CHECK (pepper_id ~ '^[0-9a-f]{8}$'), -- its pepper: shows when an old one is unused
  scopes          text[] NOT NULL DEFAULT '{}',    -- of restricted keys; secret keys have all scopes
  ip_ranges       text[] NOT NULL DEFAULT '{}',    -- CIDR; empty: any address
  created_by      text,                            -- opr_…, who invited the merchant; null: created on the command line
  rotated_to      text REFERENCES api_key,
  expires_at      timestamptz,
  revoked_at      timestamptz,
  last_used_at    timestamptz,
  created_at      timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(merchant_id, operator_id) = 1 AND (merchant_id IS NULL) = (environment IS NULL)),
  CHECK ((kind = 'operator') = (operator_id IS NOT NULL)),
  CHECK ((kind = 'restricted') = (scopes <> '{}'))
);
CREATE INDEX api_key_merchant ON api_key (merchant_id, environment, created_at DESC);
CREATE INDEX api_key_operator ON api_key (operator_id, created_at DESC);
