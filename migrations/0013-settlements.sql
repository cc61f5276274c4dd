-- The bank accounts that settlements are sent to. A change is another row: the newest applies, the others are history.
CREATE TABLE bank_account (
  id                text PRIMARY KEY,              -- bac_…
  merchant_id       text NOT NULL REFERENCES merchant,
  environment       text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  bank_code         text NOT NULL,
  account_number    text NOT NULL,
  account_name      text NOT NULL,
  status            text NOT NULL CHECK (status IN ('PENDING', 'VERIFIED', 'REJECTED')),
  rejection_reason  text,                          -- the operator's
  requested_by      text NOT NULL,                 -- key_…: cannot verify it
  decided_by        text,                          -- opr_…, or "sandbox"
  usable_from       timestamptz NOT NULL,          -- a changed account waits: no settlement can be requested before
  decided_at        timestamptz,
  verified_at       timestamptz,                   -- unchanged by a later rejection: a replacement is still held
  replaced_at       timestamptz,                   -- another account applies since
  created_at        timestamptz NOT NULL DEFAULT now(),
  CHECK ((status = 'PENDING') = (decided_at IS NULL)),
  CHECK ((status = 'REJECTED') = (rejection_reason IS NOT NULL)),
  CONSTRAINT bank_account_verified CHECK (status <> 'VERIFIED' OR verified_at IS NOT NULL)
);
CREATE UNIQUE INDEX bank_account_current ON bank_account (merchant_id, environment) WHERE replaced_at IS NULL;
CREATE INDEX bank_account_history ON bank_account (merchant_id, environment, created_at);
CREATE INDEX bank_account_waiting ON bank_account (created_at) WHERE status = 'PENDING' AND replaced_at IS NULL;

-- Transfers to the merchant's own bank account, on business days.
CREATE TABLE settlement (
  id                      text PRIMARY KEY,        -- stl_…
  merchant_id             text NOT NULL REFERENCES merchant,
  environment             text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  request_id              text NOT NULL,           -- the merchant's own; never reused
  is_full_balance         boolean NOT NULL,        -- the merchant requested the whole available balance
  amount_santim           bigint NOT NULL CHECK (amount_santim > 0),
  fee_santim              bigint NOT NULL CHECK (fee_santim >= 0),
  fee_tax_santim          bigint NOT NULL CHECK (fee_tax_santim >= 0),
  currency                text NOT NULL CHECK (currency IN ('ETB')),
  bank_account_id         text NOT NULL REFERENCES bank_account,
  bank_code               text NOT NULL,           -- the account as of the request
  account_number          text NOT NULL,
  account_name            text NOT NULL,
  status                  text NOT NULL CHECK (status IN
    ('REQUESTED', 'APPROVED', 'PROCESSING', 'COMPLETED', 'FAILED', 'REJECTED', 'CANCELLED')),
  effective_date          date NOT NULL,
  expected_from           date NOT NULL,
  expected_until          date NOT NULL,
  skipped_days            jsonb NOT NULL,          -- [{ date, reason, provisional }]: days that do not count
  requested_by            text NOT NULL,           -- key_… or opr_…: cannot approve it
  approved_by             text,
  sent_by                 text,                    -- opr_… or "sandbox"
  bank_reference          text,                    -- the bank's trace id
  return_reference        text,                    -- the bank's trace id of the returned money
  failure                 jsonb,                   -- { code, message }
  late_credit             jsonb,                   -- { bankReference, creditedAt, operatorId, at } after FAILED
  late_credit_resolution  text CHECK (late_credit_resolution IN ('BOOKED', 'DISMISSED')),
  version                 integer NOT NULL DEFAULT 1,
  requested_at            timestamptz NOT NULL,
  approved_at             timestamptz,
  sent_at                 timestamptz,
  credited_at             timestamptz,             -- the bank's time, which may be reported later
  returned_at             timestamptz,             -- when the return of the credited money was reported
  completed_at            timestamptz,             -- no longer open since
  overdue_at              timestamptz,             -- open after the end of expected_until
  created_at              timestamptz NOT NULL DEFAULT now(),
  UNIQUE (request_id, merchant_id, environment),
  CHECK ((status IN ('COMPLETED', 'FAILED', 'REJECTED', 'CANCELLED')) = (completed_at IS NOT NULL)),
  CHECK ((status IN ('FAILED', 'REJECTED')) = (failure IS NOT NULL)),
  CONSTRAINT settlement_sent CHECK ((sent_by IS NULL) = (sent_at IS NULL)),
  CONSTRAINT settlement_credited CHECK ((credited_at IS NOT NULL) = (status = 'COMPLETED' OR returned_at IS NOT NULL)),
  CONSTRAINT settlement_returned CHECK (returned_at IS NULL OR status = 'FAILED'),
  CONSTRAINT settlement_return_reference CHECK ((returned_at IS NULL) = (return_reference IS NULL)),
  CONSTRAINT settlement_late_credit CHECK (late_credit IS NOT NULL OR late_credit_resolution IS NULL)
);
CREATE INDEX settlement_list ON settlement (merchant_id, environment, requested_at DESC, id DESC);
-- For operators' lists across merchants.
CREATE INDEX settlement_newest ON settlement (requested_at DESC, id DESC);
CREATE INDEX settlement_open ON settlement (id) INCLUDE (status, overdue_at, requested_at)
  WHERE status IN ('REQUESTED', 'APPROVED', 'PROCESSING');
-- A trace id of the bank belongs to one credit, or to one return.
CREATE UNIQUE INDEX settlement_bank_reference ON settlement (environment, bank_reference) WHERE credited_at IS NOT NULL;
CREATE UNIQUE INDEX settlement_return ON settlement (environment, return_reference) WHERE return_reference IS NOT NULL;
CREATE INDEX settlement_late ON settlement (id) WHERE late_credit IS NOT NULL AND late_credit_resolution IS NULL;

-- Limits of a single settlement. A merchant's own row takes precedence over the platform's.
CREATE TABLE settlement_limit (
  merchant_id  text UNIQUE REFERENCES merchant,    -- null: the platform's limit
  min_santim   bigint NOT NULL CHECK (min_santim > 0),
  max_santim   bigint NOT NULL CHECK (max_santim >= min_santim),
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX settlement_limit_default ON settlement_limit ((true)) WHERE merchant_id IS NULL;
INSERT INTO settlement_limit (min_santim, max_santim) VALUES (1000, 5000000000);
