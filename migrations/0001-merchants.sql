-- Merchants, the channels they take money through, and the limits of those channels. A merchant has two environments,
-- sandbox and live, and no row below belongs to both.
CREATE TABLE merchant (
  id          text PRIMARY KEY,                    -- mrc_…
  name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  status      text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'SUSPENDED')),
  -- A copy of the live application's status, for reads that need the merchant anyway. Written by a trigger only.
  kyc_status  text NOT NULL DEFAULT 'NOT_STARTED' CHECK (kyc_status IN
    ('NOT_STARTED', 'SUBMITTED', 'UNDER_REVIEW', 'APPROVED', 'REJECTED', 'MORE_INFO_NEEDED')),
  -- From this amount on, a second person of the merchant confirms each withdrawal; null: none does.
  second_person_from_santim bigint CHECK (second_person_from_santim > 0),
  created_at  timestamptz NOT NULL DEFAULT now()
);

-- A channel is usable if the platform offers it, the merchant is approved for it and has it enabled, and, in live, the
-- merchant's KYC tier includes it.
CREATE TABLE channel (
  id                   text PRIMARY KEY,           -- TELEBIRR, CBE_BIRR, AWASH, MPESA
  transaction_through  text NOT NULL UNIQUE,       -- the channel's name in the API: telebirr, cbebirr, awashbirr, mpesa
  display_name         text NOT NULL,
  platform_state       text NOT NULL CHECK (platform_state IN ('AVAILABLE', 'COMING_SOON', 'MAINTENANCE')),
  -- Until then the live provider counts as not responding; written by the process whose circuit breaker opens or closes.
  live_unavailable_until timestamptz,
  position             smallint NOT NULL,
  created_at           timestamptz NOT NULL DEFAULT now()
);

INSERT INTO channel (id, transaction_through, display_name, platform_state, position) VALUES
  ('TELEBIRR', 'telebirr',  'telebirr', 'AVAILABLE',   1),
  ('CBE_BIRR', 'cbebirr',   'CBE Birr', 'AVAILABLE',   2),
  ('AWASH',    'awashbirr', 'Awash',    'AVAILABLE',   3),
  ('MPESA',    'mpesa',     'M-Pesa',   'COMING_SOON', 4);

CREATE TABLE merchant_channel (
  merchant_id  text NOT NULL REFERENCES merchant,
  environment  text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  channel      text NOT NULL REFERENCES channel,
  approval     text NOT NULL DEFAULT 'NONE' CHECK (approval IN ('NONE', 'REQUESTED', 'APPROVED', 'SUSPENDED')),
  enabled      boolean NOT NULL DEFAULT false,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (merchant_id, environment, channel)
);

-- Windows in which a channel takes no new payments and withdrawals, in one environment. A window is open from starts_at
-- (included) to ends_at (excluded) by the database's clock, unless it is cancelled; windows of a channel do not overlap,
-- which the operation that plans them ensures under a lock.
CREATE TABLE channel_maintenance (
  id            text PRIMARY KEY,                  -- mnt_…
  channel       text NOT NULL REFERENCES channel,
  environment   text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  starts_at     timestamptz NOT NULL,
  ends_at       timestamptz NOT NULL,
  reason        text NOT NULL,                     -- shown to merchants
  reason_am     text,                              -- the same in Amharic
  created_by    text NOT NULL,                     -- opr_…
  cancelled_at  timestamptz,                       -- after starts_at: the window ended early
  cancelled_by  text,
  created_at    timestamptz NOT NULL DEFAULT now(),
  CHECK (ends_at > starts_at AND ends_at <= starts_at + interval '720 hours'),
  CHECK ((cancelled_at IS NULL) = (cancelled_by IS NULL))
);
CREATE INDEX channel_maintenance_planned ON channel_maintenance (channel, environment, ends_at) WHERE cancelled_at IS NULL;
CREATE INDEX channel_maintenance_list ON channel_maintenance (starts_at DESC, id DESC);

-- Credentials of merchants' own accounts at providers, in live. One operator enters a set and another activates it. A set is
-- in effect from active_from until it retires or is revoked; all three times are some seconds after the decision, so that
-- every process has loaded them by then. Of several sets in effect the newest is for new orders.
CREATE TABLE provider_credential (
  id              text PRIMARY KEY,                -- pcr_…
  merchant_id     text NOT NULL REFERENCES merchant,
  channel         text NOT NULL REFERENCES channel,
  credentials     bytea NOT NULL,                  -- encrypted JSON, see src/providers/credentials/
  account         text NOT NULL,                   -- the merchant code or till, which is no secret
  payout_account  text,                            -- null: payouts are made from the same account
  identifiers     jsonb NOT NULL,                  -- ids and fingerprints of public keys, to compare; no secret
  checked_at      timestamptz,                     -- when they were last checked with the provider
  check_outcome   text CHECK (check_outcome IN ('OK', 'REFUSED', 'UNREACHABLE')),
  expires_at      timestamptz,                     -- expiry as stated by the provider; null: unknown
  created_by      text NOT NULL,                   -- opr_…
  confirmed_by    text,                            -- opr_…, another one
  active_from     timestamptz,                     -- null: not activated
  retires_at      timestamptz,
  revoked_by      text,                            -- opr_…
  revoked_at      timestamptz,
  created_at      timestamptz NOT NULL,
  CHECK ((active_from IS NULL) = (confirmed_by IS NULL)),
  CHECK (confirmed_by <> created_by),
  CHECK ((checked_at IS NULL) = (check_outcome IS NULL)),
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL)),
  CHECK (retires_at IS NULL OR active_from IS NOT NULL)
);
CREATE INDEX provider_credential_of ON provider_credential (merchant_id, channel);
-- At most one that waits for the second operator.
CREATE UNIQUE INDEX provider_credential_pending ON provider_credential (merchant_id, channel)
  WHERE active_from IS NULL AND revoked_at IS NULL;

-- Limits per payment or payout, and per day in Addis Ababa. The newest rule that has come into force applies, and a
-- merchant's own rule takes precedence over the platform's. Rows are never changed, so past decisions stay explicable.
CREATE TABLE limit_rule (
  id            text PRIMARY KEY,                  -- lim_…
  merchant_id   text REFERENCES merchant,          -- null: the platform's rule
  channel       text NOT NULL REFERENCES channel,
  direction     text NOT NULL CHECK (direction IN ('PAY_IN', 'PAY_OUT')),
  min_santim    bigint NOT NULL CHECK (min_santim > 0),
  max_santim    bigint NOT NULL CHECK (max_santim >= min_santim),
  daily_santim  bigint CHECK (daily_santim >= max_santim), -- null: no daily limit
  valid_from    timestamptz NOT NULL,
  version       integer NOT NULL,                  -- 1, 2, … for each merchant, channel and direction
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX limit_rule_version ON limit_rule (coalesce(merchant_id, ''), channel, direction, version);

-- The daily limit of payouts is ten times the largest payout.
INSERT INTO limit_rule (id, channel, direction, min_santim, max_santim, daily_santim, valid_from, version)
SELECT 'lim_' || direction || '_' || channel, channel, direction, min_santim, max_santim,
       CASE direction WHEN 'PAY_OUT' THEN max_santim * 10 END, timestamptz '2020-01-01T00:00:00Z', 1
FROM (VALUES
  ('TELEBIRR', 'PAY_IN',  100,  7500000),  ('TELEBIRR', 'PAY_OUT', 100,  7500000),
  ('CBE_BIRR', 'PAY_IN',  100, 15000000),  ('CBE_BIRR', 'PAY_OUT', 100, 30000000),
  ('AWASH',    'PAY_IN',  100, 60000000),  ('AWASH',    'PAY_OUT', 100, 60000000),
  ('MPESA',    'PAY_IN', 2000,  7500000),  ('MPESA',    'PAY_OUT', 100,  7500000)
) AS l (channel, direction, min_santim, max_santim);

-- When withdrawals are reviewed before they are sent, and from which amount on other money needs two operators, too. A
-- merchant's own row takes precedence over the platform's.
CREATE TABLE review_policy (
  merchant_id          text UNIQUE REFERENCES merchant, -- null: the platform's policy
  large_amount_santim  bigint NOT NULL CHECK (large_amount_santim > 0), -- from here on one approval
  two_person_santim    bigint NOT NULL CHECK (two_person_santim >= large_amount_santim), -- from here on two
  per_hour_max         integer NOT NULL CHECK (per_hour_max > 0),
  created_at           timestamptz NOT NULL DEFAULT now(),
  updated_at           timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX review_policy_default ON review_policy ((true)) WHERE merchant_id IS NULL;
INSERT INTO review_policy (large_amount_santim, two_person_santim, per_hour_max) VALUES (5000000, 25000000, 20);
