-- Requests of providers, stored byte for byte before they are evaluated.
CREATE TABLE provider_callback (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  attempt_id        text REFERENCES payment_attempt,
  withdrawal_id     text REFERENCES withdrawal,
  refund_id         text REFERENCES refund,
  channel           text NOT NULL REFERENCES channel,
  body              bytea NOT NULL,
  verified          boolean NOT NULL,
  rejection_reason  text,                          -- why it was not verified
  created_at        timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT provider_callback_about CHECK (num_nonnulls(attempt_id, withdrawal_id, refund_id) = 1)
);
CREATE INDEX provider_callback_attempt ON provider_callback (attempt_id, id);
CREATE INDEX provider_callback_withdrawal ON provider_callback (withdrawal_id, id) WHERE withdrawal_id IS NOT NULL;
CREATE INDEX provider_callback_refund ON provider_callback (refund_id, id) WHERE refund_id IS NOT NULL;
-- For the recheck of recent verified callbacks.
CREATE INDEX provider_callback_verified ON provider_callback (created_at, attempt_id) WHERE verified;
