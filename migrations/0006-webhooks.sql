CREATE TABLE webhook_subscription (
  id                    text PRIMARY KEY,          -- whs_…
  merchant_id           text NOT NULL REFERENCES merchant,
  environment           text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  url                   text NOT NULL CHECK (length(url) <= 2000),
  event_types           text[] NOT NULL,           -- {"*"} = all but aliases
  active                boolean NOT NULL DEFAULT true,
  description           text NOT NULL DEFAULT '',
  signature_encoding    text NOT NULL DEFAULT 'base64' CHECK (signature_encoding IN ('base64', 'hex')),
  headers               bytea,                     -- custom headers as JSON, encrypted
  header_names          text[] NOT NULL DEFAULT '{}',
  secret                bytea NOT NULL,            -- encrypted
  secret_hint           text NOT NULL,             -- its last four characters
  previous_secret       bytea,
  previous_secret_hint  text,
  previous_secret_expires_at timestamptz,
  verified_at           timestamptz,               -- the first 2xx
  failures_in_a_row     integer NOT NULL DEFAULT 0,
  slow_until            timestamptz,               -- recent attempts hung or failed: its first attempts go to the slow lane
  deleted_at            timestamptz,
  created_at            timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_subscription_merchant ON webhook_subscription (merchant_id, environment) WHERE deleted_at IS NULL;

CREATE TABLE webhook_event (
  id             text PRIMARY KEY,                 -- evt_…
  merchant_id    text NOT NULL REFERENCES merchant,
  environment    text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  event          text NOT NULL,
  api_version    text NOT NULL,
  resource_type  text NOT NULL,
  resource_id    text NOT NULL,
  payload        bytea NOT NULL,                   -- the envelope without its signature: serialised once, never again
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_event_list ON webhook_event (merchant_id, environment, created_at DESC, id DESC);
CREATE INDEX webhook_event_resource ON webhook_event (merchant_id, environment, resource_id);

CREATE TABLE webhook_delivery (
  id                text PRIMARY KEY,              -- whd_…
  event_id          text NOT NULL REFERENCES webhook_event,
  subscription_id   text NOT NULL REFERENCES webhook_subscription,
  merchant_id       text NOT NULL REFERENCES merchant,
  environment       text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  event             text NOT NULL,
  status            text NOT NULL CHECK (status IN ('PENDING', 'RETRYING', 'DELIVERED', 'FAILED', 'SKIPPED')),
  attempts          integer NOT NULL DEFAULT 0,    -- rows in webhook_attempt
  rungs_used        smallint NOT NULL DEFAULT 0,   -- automatic attempts that failed: 0 … 6
  resend_from       text CHECK (resend_from IN ('FAILED', 'SKIPPED', 'DELIVERED')), -- a manual attempt was asked; where a failure goes back to
  resend_job_id     text,
  sending_attempt_id text,                         -- the claim: this attempt is being sent …
  sending_since     timestamptz,                   -- … since, in real time: an old claim's process died
  next_attempt_at   timestamptz,
  last_attempt_at   timestamptz,
  last_http_status  smallint,
  last_failure      jsonb,                         -- { code, message }
  delivered_at      timestamptz,
  dead_lettered_at  timestamptz,
  created_at        timestamptz NOT NULL DEFAULT now(),
  UNIQUE (event_id, subscription_id)
);
CREATE INDEX webhook_delivery_subscription ON webhook_delivery (subscription_id, created_at DESC);
CREATE INDEX webhook_delivery_list ON webhook_delivery (merchant_id, environment, created_at DESC);
-- The sweep's question: what is not final? Also the oldest past due, for the metric.
CREATE INDEX webhook_delivery_open ON webhook_delivery (id) WHERE status IN ('PENDING', 'RETRYING') OR resend_from IS NOT NULL;
CREATE INDEX webhook_delivery_due ON webhook_delivery (next_attempt_at) WHERE status IN ('PENDING', 'RETRYING');

CREATE TABLE webhook_attempt (
  id               text PRIMARY KEY,               -- wha_…
  delivery_id      text NOT NULL REFERENCES webhook_delivery,
  sequence         integer NOT NULL,
  delivery_number  smallint,                       -- 1 … 6; null for manual
  retry_number     smallint,                       -- 0 … 5: the seed's number; null for manual
  trigger          text NOT NULL CHECK (trigger IN ('auto', 'manual')),
  lane             text NOT NULL CHECK (lane IN ('workflow', 'direct')),
  url              text NOT NULL,
  secret_hint      text NOT NULL,
  started_at       timestamptz NOT NULL,           -- business time: the workflow's clock
  ended_at         timestamptz,                    -- null = being sent, or its process died
  duration_ms      integer,
  timings          jsonb,                          -- { dnsMs, connectMs, tlsMs, firstByteMs }
  http_status      smallint,
  failure          jsonb,                          -- { code, message }
  response_headers jsonb,
  response_excerpt text,
  created_at       timestamptz NOT NULL DEFAULT now(),
  UNIQUE (delivery_id, sequence)
);

CREATE TABLE webhook_dead_letter (
  id           text PRIMARY KEY,                   -- whl_…
  delivery_id  text NOT NULL REFERENCES webhook_delivery,
  merchant_id  text NOT NULL REFERENCES merchant,
  environment  text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  opened_at    timestamptz NOT NULL,
  reason       text NOT NULL,                      -- exhausted, resend_failed, canceled
  closed_at    timestamptz,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX webhook_dead_letter_open ON webhook_dead_letter (delivery_id) WHERE closed_at IS NULL;
CREATE INDEX webhook_dead_letter_merchant ON webhook_dead_letter (merchant_id, environment, opened_at) WHERE closed_at IS NULL;

CREATE TABLE webhook_resend_job (
  id           text PRIMARY KEY,                   -- whj_…
  merchant_id  text NOT NULL REFERENCES merchant,
  environment  text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  status       text NOT NULL CHECK (status IN ('RUNNING', 'DONE', 'CANCELLED')),
  matched      integer NOT NULL,
  next_batch_at timestamptz NOT NULL DEFAULT now(), -- the pace, whatever the number of workers
  created_at   timestamptz NOT NULL DEFAULT now(),
  ended_at     timestamptz                         -- all that was handed out has ended
);
CREATE INDEX webhook_resend_job_open ON webhook_resend_job (next_batch_at) WHERE ended_at IS NULL;
CREATE INDEX webhook_resend_job_merchant ON webhook_resend_job (merchant_id, environment) WHERE status = 'RUNNING';

-- The deliveries a job will resend, handed out at its pace.
CREATE TABLE webhook_resend_item (
  job_id       text NOT NULL REFERENCES webhook_resend_job,
  delivery_id  text NOT NULL REFERENCES webhook_delivery,
  state        text NOT NULL DEFAULT 'WAITING' CHECK (state IN ('WAITING', 'SENT', 'DELIVERED', 'FAILED')),
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job_id, delivery_id)
);
CREATE INDEX webhook_resend_item_waiting ON webhook_resend_item (job_id, delivery_id) WHERE state = 'WAITING';
