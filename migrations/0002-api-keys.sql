-- Keys are shown once; only a keyed hash stays. A rotated key lives on until its overlap ends (expires_at).
CREATE TABLE api_key (
  id            text PRIMARY KEY,                  -- key_…, also the first part of the key itself
  merchant_id   text NOT NULL REFERENCES merchant,
  environment   text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  kind          text NOT NULL CHECK (kind IN ('secret', 'restricted')),
  name          text NOT NULL DEFAULT '',
  prefix        text NOT NULL,                     -- the first 12 characters, to recognise it by
  secret_hash   bytea NOT NULL,                    -- HMAC-SHA256 of the whole key under the server's pepper
  scopes        text[] NOT NULL DEFAULT '{}',      -- of restricted keys; secret keys have all
  ip_ranges     text[] NOT NULL DEFAULT '{}',      -- CIDR; empty = any address
  expires_at    timestamptz,
  revoked_at    timestamptz,
  rotated_to    text REFERENCES api_key,
  last_used_at  timestamptz,
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_key_merchant ON api_key (merchant_id, environment, created_at DESC);
