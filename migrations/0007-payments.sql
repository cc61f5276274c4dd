-- A checkout session is created by the merchant and paid by the customer. Its one transaction is what the merchant
-- queries. A payment attempt is one try on one channel.
CREATE TABLE transaction (
  id                    text PRIMARY KEY,          -- txn_…
  merchant_id           text NOT NULL REFERENCES merchant,
  environment           text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  session_id            text NOT NULL UNIQUE,
  checkout_order_no     text NOT NULL,
  type                  text NOT NULL CHECK (type IN ('API', 'QRCODE')),
  amount_santim         bigint NOT NULL CHECK (amount_santim > 0),
  currency              text NOT NULL CHECK (currency IN ('ETB')),
  status                text NOT NULL CHECK (status IN ('PENDING', 'SUCCESS', 'FAILED', 'CANCELLED', 'EXPIRED')),
  channel               text REFERENCES channel,   -- of the latest attempt; null until the customer chooses one
  provider_reference    text,
  failure               jsonb,                     -- { code, message, providerCode, retryable }
  hold_reason           text CHECK (hold_reason IN ('WRONG_AMOUNT', 'WRONG_CURRENCY', 'REFERENCE_USED')),
  confirmed_late        boolean NOT NULL DEFAULT false,
  needs_reconciliation  boolean NOT NULL DEFAULT false, -- closed while the provider's result was unknown
  -- Fixed when the payment succeeds: net = received - fee - tax. The received amount differs from the requested one
  -- only if an operator has accepted it.
  received_santim       bigint CHECK (received_santim > 0),
  fee_santim            bigint CHECK (fee_santim >= 0),
  fee_tax_santim        bigint CHECK (fee_tax_santim >= 0),
  refunded_santim       bigint NOT NULL DEFAULT 0 CHECK (refunded_santim >= 0), -- by its SUCCESS refunds
  customer_name         text,
  customer_email        text,
  customer_phone        text,                      -- digits from the country code on: 2519…
  metadata              jsonb,
  version               integer NOT NULL DEFAULT 1, -- rises with every change
  completed_at          timestamptz,
  created_at            timestamptz NOT NULL DEFAULT now(),
  -- By the order number first, so that operators find it without the merchant.
  CONSTRAINT transaction_order_no UNIQUE (checkout_order_no, merchant_id, environment),
  CONSTRAINT transaction_fees CHECK ((fee_santim IS NULL) = (fee_tax_santim IS NULL))
);
CREATE INDEX transaction_list ON transaction (merchant_id, environment, created_at DESC, id DESC);
-- For operators' lists over all merchants.
CREATE INDEX transaction_recent ON transaction (created_at DESC, id DESC);
CREATE INDEX transaction_unexpected ON transaction (created_at DESC, id DESC)
  WHERE hold_reason IS NOT NULL OR confirmed_late;
CREATE INDEX transaction_customer_phone ON transaction (customer_phone, created_at DESC)
  WHERE customer_phone IS NOT NULL;
CREATE INDEX transaction_list_status ON transaction (merchant_id, environment, status, created_at DESC, id DESC);
-- A provider's reference confirms one payment. A second payment that is reported under it is held for operators.
CREATE UNIQUE INDEX transaction_paid_reference ON transaction (provider_reference, environment, channel)
  WHERE status = 'SUCCESS' AND provider_reference IS NOT NULL;
CREATE INDEX transaction_needs_reconciliation ON transaction (id) WHERE needs_reconciliation;

CREATE TABLE checkout_session (
  id                 text PRIMARY KEY,             -- cs_…
  merchant_id        text NOT NULL REFERENCES merchant,
  environment        text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  -- Deferred, since the two rows refer to each other.
  transaction_id     text NOT NULL UNIQUE REFERENCES transaction DEFERRABLE INITIALLY DEFERRED,
  status             text NOT NULL CHECK (status IN
    ('OPEN', 'PROCESSING', 'COMPLETED', 'FAILED', 'CANCELLED', 'EXPIRED')),
  channels           text[] NOT NULL,              -- those the customer may choose from
  attempts_count     smallint NOT NULL DEFAULT 0,
  client_token_hash  bytea NOT NULL,
  success_url        text,
  error_url          text,
  cancel_url         text,
  locale             text CHECK (locale IN ('en', 'am')), -- null: the customer's browser decides
  expires_at         timestamptz NOT NULL,
  ended_at           timestamptz,
  created_at         timestamptz NOT NULL DEFAULT now()
);
-- For the sweep of expired sessions.
CREATE INDEX checkout_session_expiry ON checkout_session (expires_at) WHERE status = 'OPEN';

CREATE TABLE payment_attempt (
  id                  text PRIMARY KEY,            -- pat_…, also the order id at the provider
  merchant_id         text NOT NULL REFERENCES merchant,
  environment         text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  session_id          text NOT NULL REFERENCES checkout_session,
  transaction_id      text NOT NULL REFERENCES transaction,
  channel             text NOT NULL REFERENCES channel,
  phone               text NOT NULL,
  amount_santim       bigint NOT NULL CHECK (amount_santim > 0),
  currency            text NOT NULL,
  status              text NOT NULL CHECK (status IN
    ('CREATED', 'PENDING', 'SUCCEEDED', 'DECLINED', 'HELD', 'DUPLICATE', 'ABANDONED')),
  last_outcome        text,                        -- the provider's latest: accepted, pending, unknown …
  provider_account    text,                        -- our account there by which a live order is sent; written before it
  provider_reference  text,
  provider_code       text,
  failure             jsonb,
  -- The payment as the provider reports it, of attempts whose money is not (yet) credited to a merchant.
  received_santim     bigint,
  received_currency   text,
  -- An operator's decision about unexpected money (HELD, DUPLICATE). An accepted HELD attempt becomes SUCCEEDED.
  hold_resolution     text CHECK (hold_resolution IN ('ACCEPTED', 'RETURNED')),
  return_reference    text,                        -- the provider's or the bank's, of the returned money
  redirect_url        text,                        -- where the customer confirms, if the channel has such a page
  callback_secret     text NOT NULL UNIQUE,        -- the last part of the callback's path
  lease_until         timestamptz,                 -- a process is querying the provider
  last_checked_at     timestamptz,
  initiated_at        timestamptz,
  ended_at            timestamptz,
  hold_resolved_at    timestamptz,
  created_at          timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT payment_attempt_hold_resolved CHECK (
    (hold_resolution IS NULL) = (hold_resolved_at IS NULL)
    AND (return_reference IS NULL) = (hold_resolution IS DISTINCT FROM 'RETURNED'))
);
CREATE INDEX payment_attempt_session ON payment_attempt (session_id, created_at);
CREATE INDEX payment_attempt_transaction ON payment_attempt (transaction_id);
-- For searches by the payer's phone, also over all merchants.
CREATE INDEX payment_attempt_phone ON payment_attempt (phone, merchant_id, environment);
-- One attempt at a time. A HELD one may exist beside it: a late payment of another amount on a declined attempt.
CREATE UNIQUE INDEX payment_attempt_in_flight ON payment_attempt (session_id) WHERE status IN ('CREATED', 'PENDING');
CREATE INDEX payment_attempt_open ON payment_attempt (id) WHERE status IN ('CREATED', 'PENDING');
-- For the work queue and its metrics: unexpected money is rare, so these indexes stay small.
CREATE INDEX payment_attempt_unexpected ON payment_attempt (status) WHERE status IN ('HELD', 'DUPLICATE');
CREATE INDEX payment_attempt_unresolved ON payment_attempt (ended_at)
  WHERE status IN ('HELD', 'DUPLICATE') AND hold_resolution IS NULL;

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
  paid_santim             bigint CHECK (paid_santim > 0), -- if the provider paid another amount than requested
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
  UNIQUE (reference, merchant_id, environment),
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
CREATE INDEX refund_overpaid ON refund (id) WHERE paid_santim > amount_santim;
