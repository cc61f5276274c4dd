-- A key is shown once; the table keeps a keyed hash of it. A rotated key works until its overlap ends (expires_at).
CREATE TABLE api_key (
  id              text PRIMARY KEY,                -- key_…, also the first part of the key itself
  merchant_id     text NOT NULL REFERENCES merchant,
  environment     text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  kind            text NOT NULL CHECK (kind IN ('secret', 'restricted')),
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
  created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_key_merchant ON api_key (merchant_id, environment, created_at DESC);
