-- Refunds of payments to their payers, over the channel that was paid. The amount, less the part of the payment's fee that is
-- given back, is reserved in the ledger while the refund is PENDING.
CREATE TABLE refund (
  id                      text PRIMARY KEY,        -- rfd_…, also the idempotency key at the provider
  merchant_id             text NOT NULL REFERENCES merchant,
  environment             text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  transaction_id          text NOT NULL REFERENCES transaction,
  attempt_id              text NOT NULL REFERENCES payment_attempt, -- which was paid: the order at the provider
  reference               text NOT NULL,           -- the merchant's own; never reused
  amount_santim           bigint NOT NULL CHECK (amount_santim > 0),
  is_remainder            boolean NOT NULL,        -- requested without an amount: what was left of the payment
  return_fee              boolean NOT NULL,
  -- Of the payment's fee and its tax, what is given back: 0 or below, as the ledger posts it. Something is left to debit.
  fee_santim              bigint NOT NULL CHECK (fee_santim <= 0),
  fee_tax_santim          bigint NOT NULL CHECK (fee_tax_santim <= 0),
  currency                text NOT NULL CHECK (currency IN ('ETB')),
  channel                 text NOT NULL REFERENCES channel,
  reason                  text,
  status                  text NOT NULL CHECK (status IN ('PENDING', 'SUCCESS', 'FAILED')),
  stage                   text NOT NULL CHECK (stage IN
    ('AWAITING_CONFIRMATION', 'CREATED', 'SUBMITTED', 'UNKNOWN', 'COMPLETED')),
  requested_by            text NOT NULL,           -- key_… or usr_…: cannot confirm or resolve it
  confirmed_by            text,                    -- usr_…: the second person of the merchant, where one was needed
  confirmed_at            timestamptz,
  provider_account        text,                    -- our account there, which was paid and refunds
  provider_reference      text,
  provider_code           text,
  last_outcome            text,                    -- the provider's latest: accepted, pending, unknown …
  failure                 jsonb,                   -- { code, message, providerCode, retryable }
  callback_secret         text NOT NULL UNIQUE,
  version                 integer NOT NULL DEFAULT 1,
  lease_until             timestamptz,             -- a process is querying the provider
  last_checked_at         timestamptz,
  requested_at            timestamptz NOT NULL,
  submitted_at            timestamptz,
  -- The provider's first report of success that was not booked, because of another amount or after it had declined: a later
  -- decline then releases nothing, nothing is sent again, and operators resolve it.
  first_reported_paid_at  timestamptz,
  completed_at            timestamptz,             -- SUCCESS or FAILED since
  created_at              timestamptz NOT NULL DEFAULT now(),
  UNIQUE (merchant_id, environment, reference),
  CHECK (amount_santim + fee_santim + fee_tax_santim > 0),
  CHECK ((status = 'PENDING') = (stage <> 'COMPLETED')),
  CHECK (num_nonnulls(confirmed_by, confirmed_at) <> 1)
);
CREATE INDEX refund_list ON refund (merchant_id, environment, requested_at DESC, id DESC);
-- For operators' lists over all merchants.
CREATE INDEX refund_recent ON refund (requested_at DESC, id DESC);
CREATE INDEX refund_transaction ON refund (transaction_id, id);
CREATE INDEX refund_provider_reference ON refund (provider_reference) WHERE provider_reference IS NOT NULL;
CREATE INDEX refund_open ON refund (id) WHERE status = 'PENDING';
CREATE INDEX refund_conflict ON refund (id) WHERE status = 'FAILED' AND first_reported_paid_at IS NOT NULL;

-- What its SUCCESS refunds have returned.
ALTER TABLE transaction ADD COLUMN refunded_santim bigint NOT NULL DEFAULT 0 CHECK (refunded_santim >= 0);

ALTER TABLE provider_callback
  ADD COLUMN refund_id text REFERENCES refund,
  DROP CONSTRAINT provider_callback_about,
  ADD CONSTRAINT provider_callback_about CHECK (num_nonnulls(attempt_id, withdrawal_id, refund_id) = 1);

ALTER TABLE statement_row
  DROP CONSTRAINT statement_row_type_check,
  ADD CONSTRAINT statement_row_type_check CHECK (type IN ('payment', 'payout', 'payoutReversal', 'refund'));
ALTER TABLE reconciliation_discrepancy
  DROP CONSTRAINT reconciliation_discrepancy_type_check,
  ADD CONSTRAINT reconciliation_discrepancy_type_check CHECK (type IN ('payment', 'payout', 'payoutReversal', 'refund'));
