-- A session is what the merchant made and the customer pays; its one transaction is what the merchant queries;
-- a payment attempt is one try on one channel.
CREATE TABLE transaction (
  id                  text PRIMARY KEY,            -- txn_…
  session_id          text NOT NULL UNIQUE,
  merchant_id         text NOT NULL REFERENCES merchant,
  environment         text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  checkout_order_no   text NOT NULL,
  amount_santim       bigint NOT NULL CHECK (amount_santim > 0),
  currency            text NOT NULL CHECK (currency IN ('ETB')),
  type                text NOT NULL CHECK (type IN ('API', 'QRCODE')),
  status              text NOT NULL CHECK (status IN ('PENDING', 'SUCCESS', 'FAILED', 'CANCELLED', 'EXPIRED')),
  channel             text REFERENCES channel,     -- of the latest attempt; null until one is chosen
  provider_reference  text,
  failure             jsonb,                       -- { code, message, providerCode, retryable }
  late_confirmation   boolean NOT NULL DEFAULT false,
  held                text CHECK (held IN ('WRONG_AMOUNT', 'WRONG_CURRENCY')),
  reconcile           boolean NOT NULL DEFAULT false, -- ended while the provider's answer was unknown
  customer_name       text,
  customer_email      text,
  customer_phone      text,
  metadata            jsonb,
  version             integer NOT NULL DEFAULT 1,  -- rises with every change
  created_at          timestamptz NOT NULL DEFAULT now(),
  completed_at        timestamptz,
  UNIQUE (merchant_id, environment, checkout_order_no)
);
CREATE INDEX transaction_list ON transaction (merchant_id, environment, created_at DESC, id DESC);
CREATE INDEX transaction_list_status ON transaction (merchant_id, environment, status, created_at DESC, id DESC);

CREATE TABLE checkout_session (
  id                  text PRIMARY KEY,            -- cs_…
  transaction_id      text NOT NULL UNIQUE REFERENCES transaction DEFERRABLE INITIALLY DEFERRED,
  merchant_id         text NOT NULL REFERENCES merchant,
  environment         text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  status              text NOT NULL CHECK (status IN ('OPEN', 'PROCESSING', 'COMPLETED', 'FAILED', 'CANCELLED', 'EXPIRED')),
  channels            text[] NOT NULL,             -- those the customer may choose from
  attempts_count      smallint NOT NULL DEFAULT 0,
  client_token_hash   bytea NOT NULL,
  success_url         text,
  error_url           text,
  cancel_url          text,
  locale              text NOT NULL DEFAULT 'en' CHECK (locale IN ('en', 'am')),
  expires_at          timestamptz NOT NULL,
  ended_at            timestamptz,
  created_at          timestamptz NOT NULL DEFAULT now()
);
-- The sweeper's question: which open sessions are over?
CREATE INDEX checkout_session_expiry ON checkout_session (expires_at) WHERE status = 'OPEN';

CREATE TABLE payment_attempt (
  id                  text PRIMARY KEY,            -- pat_…, also the order id the provider is given
  session_id          text NOT NULL REFERENCES checkout_session,
  transaction_id      text NOT NULL REFERENCES transaction,
  merchant_id         text NOT NULL REFERENCES merchant,
  environment         text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  channel             text NOT NULL REFERENCES channel,
  phone               text NOT NULL,
  amount_santim       bigint NOT NULL CHECK (amount_santim > 0),
  currency            text NOT NULL,
  status              text NOT NULL CHECK (status IN ('CREATED', 'PENDING', 'SUCCEEDED', 'DECLINED', 'HELD', 'DUPLICATE', 'ABANDONED')),
  last_outcome        text,                        -- the provider's latest: accepted, pending, unknown …
  provider_reference  text,
  provider_code       text,
  failure             jsonb,
  redirect_url        text,                        -- where the customer confirms, if the channel has such a page
  callback_secret     text NOT NULL UNIQUE,        -- last part of the callback's path
  lease_until         timestamptz,                 -- somebody is asking the provider
  last_checked_at     timestamptz,
  initiated_at        timestamptz,
  ended_at            timestamptz,
  created_at          timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX payment_attempt_session ON payment_attempt (session_id, created_at);
CREATE INDEX payment_attempt_transaction ON payment_attempt (transaction_id);
-- One try at a time. A held one may stand beside it: late money of another amount on a try that had been declined.
CREATE UNIQUE INDEX payment_attempt_in_flight ON payment_attempt (session_id) WHERE status IN ('CREATED', 'PENDING');
CREATE INDEX payment_attempt_open ON payment_attempt (id) WHERE status IN ('CREATED', 'PENDING');

CREATE TABLE transaction_timeline (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  transaction_id  text NOT NULL REFERENCES transaction,
  at              timestamptz NOT NULL DEFAULT now(),
  kind            text NOT NULL,                   -- session.created, attempt.started, provider.answer, claim.success, payment.duplicate …
  detail          jsonb NOT NULL DEFAULT '{}',
  created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX transaction_timeline_transaction ON transaction_timeline (transaction_id, id);

-- What a provider sent us, byte for byte, before anything is believed.
CREATE TABLE provider_callback (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  attempt_id   text NOT NULL REFERENCES payment_attempt,
  channel      text NOT NULL REFERENCES channel,
  body         bytea NOT NULL,
  verified     boolean NOT NULL,
  problem      text,                               -- why it was not verified
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX provider_callback_attempt ON provider_callback (attempt_id, id);
