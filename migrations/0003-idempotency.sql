-- One key, one effect, one answer: the row commits with the effect it stands for.
CREATE TABLE idempotency_key (
  merchant_id    text NOT NULL REFERENCES merchant,
  environment    text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  route          text NOT NULL,                    -- "POST /api/checkout/sessions"
  key            text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  request_hash   bytea NOT NULL,                   -- SHA-256 of path and body
  status_code    smallint NOT NULL,
  answer         bytea NOT NULL,                   -- the body, encrypted: it may hold a secret shown once
  created_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (merchant_id, environment, route, key)
);
CREATE INDEX idempotency_key_age ON idempotency_key (created_at);
