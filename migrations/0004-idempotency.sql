-- The stored response of a request with an Idempotency-Key. The row commits with the effect of the request, so a key
-- has exactly one effect and one response.
CREATE TABLE idempotency_key (
  merchant_id    text NOT NULL,                    -- of requests by operators: the operator's id, so no foreign key
  environment    text NOT NULL CHECK (environment IN ('sandbox', 'live', 'none')), -- none: requests by operators
  route          text NOT NULL,                    -- "POST /api/checkout/sessions"
  key            text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  request_hash   bytea NOT NULL,                   -- SHA-256 of path and body
  status_code    smallint NOT NULL,
  response_body  bytea NOT NULL,                   -- encrypted: it may contain a secret that is shown once
  created_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (merchant_id, environment, route, key)
-- See outbox.
) WITH (vacuum_truncate = false);
-- For the removal of expired keys.
CREATE INDEX idempotency_key_age ON idempotency_key (created_at);
