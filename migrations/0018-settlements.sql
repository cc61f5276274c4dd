-- Where a merchant's settlements go. A change is another row: the newest counts, the others are its history.
CREATE TABLE bank_account (
  id              text PRIMARY KEY,                -- bac_…
  merchant_id     text NOT NULL REFERENCES merchant,
  environment     text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  bank_code       text NOT NULL,
  account_number  text NOT NULL,
  account_name    text NOT NULL,
  status          text NOT NULL CHECK (status IN ('PENDING', 'VERIFIED', 'REJECTED')),
  rejection       text,                            -- the operator's words
  requested_by    text NOT NULL,                   -- key_…: who may not verify it
  decided_by      text,                            -- opr_…, or "sandbox"
  linked_at       timestamptz NOT NULL,
  usable_from     timestamptz NOT NULL,            -- a changed account is held: no settlement is asked for before
  decided_at      timestamptz,
  replaced_at     timestamptz,                     -- another one counts since
  created_at      timestamptz NOT NULL DEFAULT now(),
  CHECK ((status = 'PENDING') = (decided_at IS NULL)),
  CHECK ((status = 'REJECTED') = (rejection IS NOT NULL))
);
CREATE UNIQUE INDEX bank_account_current ON bank_account (merchant_id, environment) WHERE replaced_at IS NULL;
CREATE INDEX bank_account_history ON bank_account (merchant_id, environment, linked_at);
CREATE INDEX bank_account_waiting ON bank_account (linked_at) WHERE status = 'PENDING' AND replaced_at IS NULL;

-- Money out to the merchant's own bank account, on business days.
CREATE TABLE settlement (
  id                 text PRIMARY KEY,             -- stl_…
  merchant_id        text NOT NULL REFERENCES merchant,
  environment        text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  request_id         text NOT NULL,                -- the merchant's own, unique for ever
  asked_for_all      boolean NOT NULL,             -- the amount is all there was
  amount_santim      bigint NOT NULL CHECK (amount_santim > 0),
  fee_santim         bigint NOT NULL CHECK (fee_santim >= 0),
  fee_tax_santim     bigint NOT NULL CHECK (fee_tax_santim >= 0),
  currency           text NOT NULL CHECK (currency IN ('ETB')),
  bank_account_id    text NOT NULL REFERENCES bank_account,
  bank_code          text NOT NULL,                -- the account as it was when this was asked for
  account_number     text NOT NULL,
  account_name       text NOT NULL,
  status             text NOT NULL CHECK (status IN
    ('REQUESTED', 'APPROVED', 'PROCESSING', 'COMPLETED', 'FAILED', 'REJECTED', 'CANCELLED')),
  effective_date     date NOT NULL,
  earliest_expected  date NOT NULL,
  expected_by        date NOT NULL,
  date_reasons       jsonb NOT NULL,               -- [{ date, reason, provisional }]: the days that do not count
  bank_reference     text,                         -- the bank's trace id
  failure            jsonb,                        -- { code, message }
  requested_by       text NOT NULL,                -- key_… or opr_…: who may not approve it
  approved_by        text,
  version            integer NOT NULL DEFAULT 1,
  requested_at       timestamptz NOT NULL,
  approved_at        timestamptz,
  sent_at            timestamptz,
  credited_at        timestamptz,                  -- when the bank credited it, which we may hear of later
  completed_at       timestamptz,                  -- no longer open since
  overdue_at         timestamptz,                  -- open past the end of expected_by
  created_at         timestamptz NOT NULL DEFAULT now(),
  UNIQUE (merchant_id, environment, request_id),
  CHECK ((status IN ('COMPLETED', 'FAILED', 'REJECTED', 'CANCELLED')) = (completed_at IS NOT NULL)),
  CHECK ((status = 'COMPLETED') = (credited_at IS NOT NULL)),
  CHECK ((status IN ('FAILED', 'REJECTED')) = (failure IS NOT NULL))
);
CREATE INDEX settlement_list ON settlement (merchant_id, environment, requested_at DESC, id DESC);
CREATE INDEX settlement_open ON settlement (id) INCLUDE (status, overdue_at, requested_at)
  WHERE status IN ('REQUESTED', 'APPROVED', 'PROCESSING');

CREATE TABLE settlement_timeline (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  settlement_id  text NOT NULL REFERENCES settlement,
  at             timestamptz NOT NULL,
  kind           text NOT NULL,                    -- settlement.requested, dates.moved …
  actor          text NOT NULL,                    -- key_…, opr_…, "sandbox" or "calendar"; not for merchants
  detail         jsonb NOT NULL DEFAULT '{}',
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX settlement_timeline_settlement ON settlement_timeline (settlement_id, id);

-- How much may be settled at once; a merchant's own row stands before the platform's.
CREATE TABLE settlement_limit (
  merchant_id  text UNIQUE REFERENCES merchant,    -- null: of everybody else
  min_santim   bigint NOT NULL CHECK (min_santim > 0),
  max_santim   bigint NOT NULL CHECK (max_santim >= min_santim),
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX settlement_limit_default ON settlement_limit ((true)) WHERE merchant_id IS NULL;
INSERT INTO settlement_limit (min_santim, max_santim) VALUES (1000, 5000000000);

CREATE FUNCTION settlement_limit_of(p_merchant_id text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('minSantim', min_santim, 'maxSantim', max_santim)
  FROM settlement_limit WHERE merchant_id = p_merchant_id OR merchant_id IS NULL ORDER BY merchant_id IS NULL LIMIT 1
$$;

-- What is available, and stays so until the transaction ends: postings of this merchant wait for it.
CREATE FUNCTION ledger_hold_available(p_merchant_id text, p_environment text, p_currency text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  held bigint;
BEGIN
  SELECT available_santim INTO held FROM ledger_balance
  WHERE merchant_id = p_merchant_id AND environment = p_environment AND currency = p_currency FOR UPDATE;
  RETURN coalesce(held, 0);
END $$;

-- All that a new settlement is judged by. A merchant's settlements are judged one after the other: each statement in
-- here sees what was committed before it got its turn. What is available is asked for, and held, only where all of it
-- is wanted.
CREATE FUNCTION settlement_context(
  p_merchant_id text, p_environment text, p_request_id text, p_all boolean, p_at timestamptz
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  existing_id text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('settlement ' || p_merchant_id || ' ' || p_environment, 0));
  SELECT id INTO existing_id FROM settlement
  WHERE merchant_id = p_merchant_id AND environment = p_environment AND request_id = p_request_id;
  RETURN jsonb_build_object(
    'existingId', existing_id,
    'limits', settlement_limit_of(p_merchant_id),
    'feeRule', fee_rule_of(p_merchant_id, NULL, 'SETTLEMENT', p_at),
    'availableSantim', CASE WHEN p_all AND existing_id IS NULL
      THEN ledger_hold_available(p_merchant_id, p_environment, 'ETB') END);
END $$;
