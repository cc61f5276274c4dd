-- usable = platform state × merchant's approval × merchant's toggle (× KYC tier, with KYC).
CREATE TABLE channel (
  id                   text PRIMARY KEY,           -- TELEBIRR, CBE_BIRR, AWASH, MPESA
  transaction_through  text NOT NULL UNIQUE,       -- telebirr, cbebirr, awashbirr, mpesa
  display_name         text NOT NULL,
  platform_state       text NOT NULL CHECK (platform_state IN ('AVAILABLE', 'COMING_SOON', 'MAINTENANCE')),
  position             smallint NOT NULL,
  created_at           timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE channel_limit (
  channel      text NOT NULL REFERENCES channel,
  direction    text NOT NULL CHECK (direction IN ('PAY_IN', 'PAY_OUT')),
  min_santim   bigint NOT NULL CHECK (min_santim > 0),
  max_santim   bigint NOT NULL CHECK (max_santim >= min_santim),
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (channel, direction)
);

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

INSERT INTO channel (id, transaction_through, display_name, platform_state, position) VALUES
  ('TELEBIRR', 'telebirr',  'telebirr', 'AVAILABLE',   1),
  ('CBE_BIRR', 'cbebirr',   'CBE Birr', 'AVAILABLE',   2),
  ('AWASH',    'awashbirr', 'Awash',    'AVAILABLE',   3),
  ('MPESA',    'mpesa',     'M-Pesa',   'COMING_SOON', 4);

INSERT INTO channel_limit (channel, direction, min_santim, max_santim) VALUES
  ('TELEBIRR', 'PAY_IN',  100,  7500000),  ('TELEBIRR', 'PAY_OUT', 100,  7500000),
  ('CBE_BIRR', 'PAY_IN',  100, 15000000),  ('CBE_BIRR', 'PAY_OUT', 100, 30000000),
  ('AWASH',    'PAY_IN',  100, 60000000),  ('AWASH',    'PAY_OUT', 100, 60000000),
  ('MPESA',    'PAY_IN', 2000,  7500000),  ('MPESA',    'PAY_OUT', 100,  7500000);
