-- Money out over a channel. PENDING as long as the provider or a reviewer needs; what it takes is set aside meanwhile.
CREATE TABLE withdrawal (
  id                  text PRIMARY KEY,            -- wd_…, also the provider's idempotency key
  merchant_id         text NOT NULL REFERENCES merchant,
  environment         text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  request_id          text NOT NULL,               -- the merchant's own, unique for ever
  amount_santim       bigint NOT NULL CHECK (amount_santim > 0),
  fee_santim          bigint NOT NULL CHECK (fee_santim >= 0),
  fee_tax_santim      bigint NOT NULL CHECK (fee_tax_santim >= 0),
  currency            text NOT NULL CHECK (currency IN ('ETB')),
  channel             text NOT NULL REFERENCES channel,
  phone               text,                        -- to a phone: 2519…
  bank_code           text,                        -- or to a bank account
  account_number      text,
  account_name        text NOT NULL,
  reason              text,
  status              text NOT NULL CHECK (status IN ('PENDING', 'SUCCESS', 'FAILED', 'REJECTED', 'CANCELLED', 'REVERSED')),
  stage               text NOT NULL CHECK (stage IN ('CREATED', 'UNDER_REVIEW', 'SUBMITTED', 'UNKNOWN', 'ENDED')),
  review_reasons      text[] NOT NULL,
  approvals_needed    smallint NOT NULL,           -- by as many different operators; 0: nobody reviews it
  limits_applied      jsonb NOT NULL,
  provider_reference  text,
  provider_code       text,
  last_outcome        text,                        -- the provider's latest: accepted, pending, unknown …
  failure             jsonb,                       -- { code, message, providerCode, retryable }
  callback_secret     text NOT NULL UNIQUE,
  lease_until         timestamptz,                 -- somebody is asking the provider
  last_checked_at     timestamptz,
  requested_by        text NOT NULL,               -- key_… or opr_…: who may not approve it
  version             integer NOT NULL DEFAULT 1,
  requested_at        timestamptz NOT NULL,
  submitted_at        timestamptz,
  completed_at        timestamptz,                 -- SUCCESS, FAILED, REJECTED or CANCELLED since
  reversed_at         timestamptz,
  contradicted_at     timestamptz,                 -- its provider says it paid, though it had ended otherwise
  created_at          timestamptz NOT NULL DEFAULT now(),
  UNIQUE (merchant_id, environment, request_id),
  CHECK ((phone IS NULL) = (account_number IS NOT NULL) AND (bank_code IS NULL) = (account_number IS NULL)),
  CHECK ((status = 'PENDING') = (stage <> 'ENDED'))
);
CREATE INDEX withdrawal_list ON withdrawal (merchant_id, environment, requested_at DESC, id DESC);
-- Has this merchant paid there before?
CREATE INDEX withdrawal_beneficiary ON withdrawal (merchant_id, environment, coalesce(phone, bank_code || ':' || account_number));
CREATE INDEX withdrawal_contradicted ON withdrawal (contradicted_at) WHERE contradicted_at IS NOT NULL;
CREATE INDEX withdrawal_open ON withdrawal (id) WHERE status = 'PENDING';
CREATE INDEX withdrawal_review ON withdrawal (requested_at) WHERE stage = 'UNDER_REVIEW';

CREATE TABLE withdrawal_timeline (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  withdrawal_id  text NOT NULL REFERENCES withdrawal,
  at             timestamptz NOT NULL,
  kind           text NOT NULL,                    -- withdrawal.created, review.approved, provider.answer …
  detail         jsonb NOT NULL DEFAULT '{}',
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX withdrawal_timeline_withdrawal ON withdrawal_timeline (withdrawal_id, id);

-- One word of each operator about a withdrawal.
CREATE TABLE withdrawal_approval (
  withdrawal_id  text NOT NULL REFERENCES withdrawal,
  operator_id    text NOT NULL,                    -- opr_…, or "sandbox"
  at             timestamptz NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (withdrawal_id, operator_id)
);

-- When people look at withdrawals before they are sent; a merchant's own row stands before the platform's.
CREATE TABLE review_policy (
  merchant_id             text UNIQUE REFERENCES merchant, -- null: of everybody else
  large_amount_santim     bigint NOT NULL CHECK (large_amount_santim > 0),  -- from here on somebody looks
  two_person_santim       bigint NOT NULL CHECK (two_person_santim >= large_amount_santim), -- from here on two do
  per_hour_max            integer NOT NULL CHECK (per_hour_max > 0),
  created_at              timestamptz NOT NULL DEFAULT now(),
  updated_at              timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX review_policy_default ON review_policy ((true)) WHERE merchant_id IS NULL;
INSERT INTO review_policy (large_amount_santim, two_person_santim, per_hour_max) VALUES (5000000, 25000000, 20);

CREATE FUNCTION review_policy_of(p_merchant_id text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('largeAmountSantim', large_amount_santim, 'twoPersonSantim', two_person_santim,
                            'perHourMax', per_hour_max)
  FROM review_policy WHERE merchant_id = p_merchant_id OR merchant_id IS NULL ORDER BY merchant_id IS NULL LIMIT 1
$$;

-- A beneficiary's name as it is compared: not by capitals, not by spaces.
CREATE FUNCTION plain_name(p_name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT lower(regexp_replace(btrim(p_name), '\s+', ' ', 'g'))
$$;

-- All that a new withdrawal is judged by. A merchant's withdrawals are judged one after the other: each statement in
-- here sees what was committed before it got its turn.
CREATE FUNCTION withdrawal_context(
  p_merchant_id text, p_environment text, p_request_id text, p_channel text, p_beneficiary text,
  p_account_name text, p_day_start timestamptz, p_at timestamptz
) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('withdrawal ' || p_merchant_id || ' ' || p_environment, 0));
  RETURN jsonb_build_object(
    'existingId', (SELECT id FROM withdrawal
      WHERE merchant_id = p_merchant_id AND environment = p_environment AND request_id = p_request_id),
    'channel', channel_facts_of(p_merchant_id, p_environment, p_channel),
    'limits', limits_of(p_merchant_id, p_environment, p_channel, 'PAY_OUT', p_at),
    'feeRule', fee_rule_of(p_merchant_id, p_channel, 'PAY_OUT', p_at),
    'availableSantim', ledger_available(p_merchant_id, p_environment),
    'policy', review_policy_of(p_merchant_id),
    'usedTodaySantim', withdrawn_since(p_merchant_id, p_environment, p_channel, p_day_start),
    'inLastHour', (SELECT count(*) FROM withdrawal
      WHERE merchant_id = p_merchant_id AND environment = p_environment AND requested_at > p_at - interval '1 hour'),
    'paidThereBefore', EXISTS (SELECT 1 FROM withdrawal
      WHERE merchant_id = p_merchant_id AND environment = p_environment
        AND coalesce(phone, bank_code || ':' || account_number) = p_beneficiary AND status = 'SUCCESS'),
    'firstPaidThereAsAt', (SELECT min(completed_at) FROM withdrawal
      WHERE merchant_id = p_merchant_id AND environment = p_environment
        AND coalesce(phone, bank_code || ':' || account_number) = p_beneficiary AND status = 'SUCCESS'
        AND plain_name(account_name) = plain_name(p_account_name)));
END $$;

-- What counts towards a day's limit: all but what came to nothing.
CREATE FUNCTION withdrawn_since(p_merchant_id text, p_environment text, p_channel text, p_since timestamptz)
RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount_santim), 0)::bigint FROM withdrawal
  WHERE merchant_id = p_merchant_id AND environment = p_environment AND channel = p_channel
    AND requested_at >= p_since AND status IN ('PENDING', 'SUCCESS')
$$;

-- A provider calls back about withdrawals too.
ALTER TABLE provider_callback ALTER COLUMN attempt_id DROP NOT NULL;
ALTER TABLE provider_callback ADD COLUMN withdrawal_id text REFERENCES withdrawal;
ALTER TABLE provider_callback ADD CONSTRAINT provider_callback_about CHECK (num_nonnulls(attempt_id, withdrawal_id) = 1);
CREATE INDEX provider_callback_withdrawal ON provider_callback (withdrawal_id, id) WHERE withdrawal_id IS NOT NULL;
