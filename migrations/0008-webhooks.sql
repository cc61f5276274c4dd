CREATE TABLE webhook_subscription (
  id                          text PRIMARY KEY,    -- whs_…
  merchant_id                 text NOT NULL REFERENCES merchant,
  environment                 text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  url                         text NOT NULL CHECK (length(url) <= 2000),
  receiver_host               text NOT NULL GENERATED ALWAYS AS (
    lower(substring(url from '^[A-Za-z]+:[/\\]*(\[[^]]*\]|[^/\\:?#]+)'))) STORED,
  event_types                 text[] NOT NULL,     -- {"*"}: all but aliases
  active                      boolean NOT NULL DEFAULT true,
  description                 text NOT NULL DEFAULT '',
  signature_encoding          text NOT NULL DEFAULT 'base64' CHECK (signature_encoding IN ('base64', 'hex')),
  headers                     bytea,               -- custom headers as JSON, encrypted
  header_names                text[] NOT NULL DEFAULT '{}',
  secret                      bytea NOT NULL,      -- encrypted
  secret_hint                 text NOT NULL,       -- its last four characters
  previous_secret             bytea,
  previous_secret_expires_at  timestamptz,
  verified_at                 timestamptz,         -- the first 2xx response
  consecutive_failures        integer NOT NULL DEFAULT 0,
  throttled_until             timestamptz,         -- recent attempts timed out or failed: fewer run at the same time
  sandbox_receiver            text CHECK (sandbox_receiver IN ('ok', 'error', 'slow')), -- its answers: url is the built-in receiver
  failing_mailed_at           timestamptz,         -- the last mail to people that it fails
  deleted_at                  timestamptz,
  created_at                  timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT webhook_subscription_receiver_in_sandbox CHECK (sandbox_receiver IS NULL OR environment = 'sandbox')
);
CREATE INDEX webhook_subscription_merchant ON webhook_subscription (merchant_id, environment) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX webhook_subscription_receiver ON webhook_subscription (merchant_id)
  WHERE sandbox_receiver IS NOT NULL AND deleted_at IS NULL;
-- For operators' searches by the receiver.
CREATE INDEX webhook_subscription_host ON webhook_subscription (receiver_host);

-- Events, deliveries and attempts have no foreign keys to the rows above them. Those rows are never deleted, and the
-- statements that insert here have just read, locked or inserted them. Locking a merchant's row for each of its events
-- costs more than writing the events.
CREATE TABLE webhook_event (
  id             text PRIMARY KEY,                 -- evt_…
  merchant_id    text NOT NULL,
  environment    text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  event          text NOT NULL,
  api_version    text NOT NULL,
  resource_type  text NOT NULL,
  resource_id    text NOT NULL,
  payload        bytea NOT NULL,                   -- the envelope without its signature, serialised exactly once
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_event_list ON webhook_event (merchant_id, environment, created_at DESC, id DESC);
CREATE INDEX webhook_event_resource ON webhook_event (resource_id);

-- One event for one subscription. The row is also the queue of first attempts: the dispatcher claims from it.
CREATE TABLE webhook_delivery (
  id                    text PRIMARY KEY,          -- whd_…
  merchant_id           text NOT NULL,
  environment           text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  event_id              text NOT NULL,
  subscription_id       text NOT NULL,
  event                 text NOT NULL,
  status                text NOT NULL CHECK (status IN ('PENDING', 'RETRYING', 'DELIVERED', 'FAILED', 'SKIPPED')),
  attempts              integer NOT NULL DEFAULT 0, -- rows in webhook_attempt
  retry_count           smallint NOT NULL DEFAULT 0, -- failed automatic attempts: 0 … 6
  -- A resend was requested: the status that a failed resend goes back to.
  status_before_resend  text CHECK (status_before_resend IN ('RETRYING', 'FAILED', 'SKIPPED', 'DELIVERED')),
  -- The reason of the operator who requested it, '' without one; null when no operator did.
  resend_reason         text CHECK (length(resend_reason) <= 500),
  in_flight_attempt_id  text,                      -- the claim: the attempt that is being sent
  in_flight_since       timestamptz,               -- in real time: the process of an old claim has died
  next_attempt_at       timestamptz,
  last_attempt_at       timestamptz,
  last_http_status      smallint,
  last_failure          jsonb,                     -- { code, message }
  delivered_at          timestamptz,
  dead_lettered_at      timestamptz,
  created_at            timestamptz NOT NULL DEFAULT now(),
  UNIQUE (event_id, subscription_id),
  CONSTRAINT webhook_delivery_resend CHECK (resend_reason IS NULL OR status_before_resend IS NOT NULL)
-- Every delivery updates its row: free space keeps those updates on their page when they change no index.
) WITH (fillfactor = 70);
CREATE INDEX webhook_delivery_list ON webhook_delivery (merchant_id, environment, created_at DESC);
-- For operators' lists over all merchants.
CREATE INDEX webhook_delivery_recent ON webhook_delivery (created_at DESC, id DESC);
CREATE INDEX webhook_delivery_failed ON webhook_delivery (created_at DESC, id DESC) WHERE status = 'FAILED';
-- For lists and bulk resends of undelivered events among many delivered ones.
CREATE INDEX webhook_delivery_undelivered ON webhook_delivery (merchant_id, environment, created_at)
  WHERE status IN ('FAILED', 'SKIPPED');
-- Pending first attempts, the oldest of a subscription first. A resend belongs to the delivery's workflow.
CREATE INDEX webhook_delivery_queue ON webhook_delivery (subscription_id, id)
  WHERE status = 'PENDING' AND status_before_resend IS NULL;
-- For the health of a subscription. Pending rows are left out, so that the planner cannot choose it for the queue.
CREATE INDEX webhook_delivery_subscription ON webhook_delivery (subscription_id, created_at DESC)
  WHERE status <> 'PENDING';
-- Deliveries that only a workflow continues, for recovery and metrics.
CREATE INDEX webhook_delivery_waiting ON webhook_delivery (id)
  WHERE status = 'RETRYING' OR status_before_resend IS NOT NULL;
-- The same by subscription: recovery and metrics read the first of each, the deletion of a subscription all of its own.
CREATE INDEX webhook_delivery_workflows ON webhook_delivery (subscription_id, next_attempt_at)
  WHERE status = 'RETRYING' OR status_before_resend IS NOT NULL;

-- One request to the receiver. A row is inserted with its outcome, and found by its delivery.
CREATE TABLE webhook_attempt (
  id                text NOT NULL,                 -- wha_…
  delivery_id       text NOT NULL,
  sequence          integer NOT NULL,
  delivery_number   smallint,                      -- 1 … 6; null for resends
  retry_number      smallint,
  source            text NOT NULL CHECK (source IN ('auto', 'manual', 'operator')),
  reason            text CHECK (length(reason) <= 500), -- an operator's, for a resend
  url               text NOT NULL,
  secret_hint       text NOT NULL,
  http_status       smallint,
  failure           jsonb,                         -- { code, message }
  response_headers  jsonb,
  response_excerpt  text,
  duration_ms       integer,
  timings           jsonb,                         -- { dnsMs, connectMs, tlsMs, firstByteMs }
  started_at        timestamptz NOT NULL,          -- business time: the workflow's clock
  ended_at          timestamptz NOT NULL,
  created_at        timestamptz NOT NULL DEFAULT now(),
  UNIQUE (delivery_id, sequence)
) WITH (fillfactor = 70);

CREATE TABLE webhook_dead_letter (
  id           text PRIMARY KEY,                   -- whl_…
  merchant_id  text NOT NULL REFERENCES merchant,
  environment  text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  delivery_id  text NOT NULL REFERENCES webhook_delivery,
  reason       text NOT NULL,                      -- exhausted, resend_failed, canceled
  opened_at    timestamptz NOT NULL,
  closed_at    timestamptz,                        -- by a success
  dismissed_at timestamptz,                        -- by an operator: nothing more is to be sent; it can still be resent
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX webhook_dead_letter_open ON webhook_dead_letter (delivery_id) WHERE closed_at IS NULL;
CREATE INDEX webhook_dead_letter_merchant ON webhook_dead_letter (merchant_id, environment, opened_at)
  WHERE closed_at IS NULL;

CREATE TABLE webhook_resend_job (
  id             text PRIMARY KEY,                 -- whj_…
  merchant_id    text REFERENCES merchant,         -- null: an operator's, over all merchants
  operator_id    text REFERENCES operator,
  reason         text,                             -- of the operator
  environment    text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  status         text NOT NULL CHECK (status IN ('RUNNING', 'DONE', 'CANCELLED')),
  matched        integer NOT NULL,
  rate_max       integer,                          -- resends per second; null: that of the setting
  next_batch_at  timestamptz NOT NULL DEFAULT now(), -- sets the pace, whatever the number of workers
  ended_at       timestamptz,                      -- all deliveries that were handed out have ended
  created_at     timestamptz NOT NULL DEFAULT now(),
  CHECK ((merchant_id IS NULL) = (operator_id IS NOT NULL) AND (operator_id IS NULL) = (reason IS NULL))
);
CREATE INDEX webhook_resend_job_open ON webhook_resend_job (next_batch_at) WHERE ended_at IS NULL;
CREATE INDEX webhook_resend_job_merchant ON webhook_resend_job (merchant_id, environment) WHERE status = 'RUNNING';

-- The deliveries of a job, handed out at its pace.
CREATE TABLE webhook_resend_item (
  job_id       text NOT NULL REFERENCES webhook_resend_job,
  delivery_id  text NOT NULL REFERENCES webhook_delivery,
  state        text NOT NULL DEFAULT 'WAITING' CHECK (state IN ('WAITING', 'SENT', 'DELIVERED', 'FAILED')),
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job_id, delivery_id)
);
CREATE INDEX webhook_resend_item_waiting ON webhook_resend_item (job_id, delivery_id) WHERE state = 'WAITING';

-- What the built-in receiver of the sandbox got: the last 50 requests of each, for 7 days.
CREATE TABLE sandbox_receiver_request (
  id               text PRIMARY KEY,               -- whr_…
  subscription_id  text NOT NULL REFERENCES webhook_subscription,
  headers          jsonb NOT NULL,                 -- the values of the merchant's own are hidden
  body             text NOT NULL,                  -- its beginning
  body_bytes       integer NOT NULL,
  problem          text,                           -- why the signature is not valid; null: it is
  http_status      smallint NOT NULL,              -- of the answer
  created_at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sandbox_receiver_request_list ON sandbox_receiver_request (subscription_id, created_at DESC, id DESC);
CREATE INDEX sandbox_receiver_request_age ON sandbox_receiver_request (created_at);
