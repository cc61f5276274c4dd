-- Payouts through a channel. The amount and the fee are reserved in the ledger while the withdrawal is PENDING.
CREATE TABLE withdrawal (
  id                      text PRIMARY KEY,        -- wd_…, also the idempotency key at the provider
  merchant_id             text NOT NULL REFERENCES merchant,
  environment             text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  request_id              text NOT NULL,           -- the merchant's own; never reused
  amount_santim           bigint NOT NULL CHECK (amount_santim > 0),
  fee_santim              bigint NOT NULL CHECK (fee_santim >= 0),
  fee_tax_santim          bigint NOT NULL CHECK (fee_tax_santim >= 0),
  currency                text NOT NULL CHECK (currency IN ('ETB')),
  channel                 text NOT NULL REFERENCES channel,
  phone                   text,                    -- of a payout to a phone: 2519…
  bank_code               text,                    -- of a payout to a bank account
  account_number          text,
  account_name            text NOT NULL,
  reason                  text,
  status                  text NOT NULL CHECK (status IN
    ('PENDING', 'SUCCESS', 'FAILED', 'REJECTED', 'CANCELLED', 'REVERSED')),
  stage                   text NOT NULL CHECK (stage IN
    ('AWAITING_CONFIRMATION', 'CREATED', 'UNDER_REVIEW', 'SUBMITTED', 'UNKNOWN', 'COMPLETED')),
  requested_by            text NOT NULL,           -- key_… or usr_…: cannot approve it
  confirmed_by            text,                    -- usr_…: the second person of the merchant, where one was needed
  confirmed_at            timestamptz,
  review_reasons          text[] NOT NULL,
  approvals_needed        smallint NOT NULL,       -- by different operators; 0: no review
  limit_snapshot          jsonb NOT NULL,          -- the limits and figures that the decision was based on
  provider_account        text,                    -- our account there by which a live payout is sent; written before it
  provider_reference      text,
  provider_code           text,
  last_outcome            text,                    -- the provider's latest: accepted, pending, unknown …
  paid_santim             bigint CHECK (paid_santim > 0), -- if the provider paid another amount than requested
  failure                 jsonb,                   -- { code, message, providerCode, retryable }
  callback_secret         text NOT NULL UNIQUE,
  version                 integer NOT NULL DEFAULT 1,
  lease_until             timestamptz,             -- a process is querying the provider
  last_checked_at         timestamptz,
  requested_at            timestamptz NOT NULL,
  submitted_at            timestamptz,
  -- The provider's first report of success, even if it could not be booked: a later report of failure then releases
  -- nothing, and nothing is sent again.
  first_reported_paid_at  timestamptz,
  completed_at            timestamptz,             -- SUCCESS, FAILED, REJECTED or CANCELLED since
  reversed_at             timestamptz,
  created_at              timestamptz NOT NULL DEFAULT now(),
  UNIQUE (request_id, merchant_id, environment),
  CHECK ((phone IS NULL) = (account_number IS NOT NULL) AND (bank_code IS NULL) = (account_number IS NULL)),
  CHECK ((status = 'PENDING') = (stage <> 'COMPLETED')),
  CHECK (num_nonnulls(confirmed_by, confirmed_at) <> 1)
);
CREATE INDEX withdrawal_list ON withdrawal (merchant_id, environment, requested_at DESC, id DESC);
-- For operators' lists across merchants.
CREATE INDEX withdrawal_newest ON withdrawal (requested_at DESC, id DESC);
-- For earlier payouts to the same beneficiary.
CREATE INDEX withdrawal_beneficiary
  ON withdrawal (merchant_id, environment, coalesce(phone, bank_code || ':' || account_number));
-- A provider's reference belongs to one withdrawal: references that operators enter are checked here.
CREATE INDEX withdrawal_provider_reference ON withdrawal (provider_reference) WHERE provider_reference IS NOT NULL;
CREATE INDEX withdrawal_phone ON withdrawal (phone) WHERE phone IS NOT NULL;
CREATE INDEX withdrawal_open ON withdrawal (id) WHERE status = 'PENDING';
CREATE INDEX withdrawal_review ON withdrawal (requested_at) WHERE stage = 'UNDER_REVIEW';
CREATE INDEX withdrawal_awaiting ON withdrawal (requested_at, id) WHERE stage = 'AWAITING_CONFIRMATION';
CREATE INDEX withdrawal_overpaid ON withdrawal (id) WHERE paid_santim > amount_santim;

CREATE TABLE withdrawal_approval (
  withdrawal_id   text NOT NULL REFERENCES withdrawal,
  operator_id     text NOT NULL,                   -- opr_…, or "sandbox"
  approved_at     timestamptz NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (withdrawal_id, operator_id)
);

-- What a provider contradicts: an earlier report of its own, the amount, or how a withdrawal ended. Opened by the report,
-- closed by operators' decision or by a later report that ends the withdrawal. A decision about an outcome that the
-- provider had only left open is a closed case without evidence.
CREATE TABLE payout_case (
  id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  withdrawal_id       text NOT NULL REFERENCES withdrawal,
  status              text NOT NULL,               -- of the withdrawal when the case was opened
  evidence            jsonb,                       -- the provider's report: { outcome, amountSantim, … }
  opened_at           timestamptz NOT NULL,
  decision            text CHECK (decision IN ('COMPLETED', 'FAILED')),
  provider_reference  text,                        -- the provider's, of the payout or of its statement about it
  paid_santim         bigint CHECK (paid_santim >= 0),
  reason              text,
  decided_by          text[],                      -- opr_…: the operators who gave this decision
  closed_at           timestamptz,
  created_at          timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nulls(decision, provider_reference, paid_santim, reason, decided_by) IN (0, 5)),
  CHECK (decision IS NULL OR closed_at IS NOT NULL)
);
CREATE UNIQUE INDEX payout_case_open ON payout_case (withdrawal_id) WHERE closed_at IS NULL;
CREATE INDEX payout_case_withdrawal ON payout_case (withdrawal_id, id);

-- Operators' resolutions of withdrawals whose outcome the provider leaves open or contradicts; enough of them that agree
-- become the decision of a case. A resolution refers to one version of the withdrawal and does not count for a later one.
CREATE TABLE withdrawal_resolution (
  withdrawal_id       text NOT NULL REFERENCES withdrawal,
  version             integer NOT NULL,
  operator_id         text NOT NULL,               -- opr_…
  outcome             text NOT NULL CHECK (outcome IN ('COMPLETED', 'FAILED')),
  provider_reference  text NOT NULL,               -- the provider's, of the payout or of its statement about it
  paid_santim         bigint NOT NULL CHECK (paid_santim >= 0),
  reason              text NOT NULL,
  resolved_at         timestamptz NOT NULL,
  created_at          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (withdrawal_id, version, operator_id)
);

