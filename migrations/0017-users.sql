-- The merchants' people: who signs in at the portal, and with which role in which merchant.
CREATE TABLE user_account (
  id               text PRIMARY KEY,               -- usr_…
  email            text NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
  name             text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  password_hash    text NOT NULL,                  -- argon2id with its parameters and salt
  language         text NOT NULL DEFAULT 'en' CHECK (language IN ('en', 'am')),
  calendar         text NOT NULL DEFAULT 'gregorian' CHECK (calendar IN ('gregorian', 'ethiopic', 'both')),
  totp_enabled_at  timestamptz,                    -- null: two-factor is off
  created_at       timestamptz NOT NULL DEFAULT now(),
  updated_at       timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX user_account_email ON user_account (lower(email));

CREATE TABLE membership (
  user_id      text NOT NULL REFERENCES user_account,
  merchant_id  text NOT NULL REFERENCES merchant,
  role         text NOT NULL CHECK (role IN ('owner', 'admin', 'finance', 'developer', 'support', 'viewer')),
  removed_at   timestamptz,                        -- a member who was removed may be invited again
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, merchant_id)
);
CREATE INDEX membership_merchant ON membership (merchant_id, created_at);

-- A session begins with a sign-in. Its use prolongs idle_until and live_until; a session that was not used for long enough
-- reads no live data until the next sign-in.
CREATE TABLE user_session (
  id            text PRIMARY KEY,                  -- ses_…
  user_id       text NOT NULL REFERENCES user_account,
  merchant_id   text REFERENCES merchant,          -- the active one of the user's merchants
  token_hash    bytea NOT NULL UNIQUE,             -- SHA-256 of the cookie's 256-bit token
  address       text NOT NULL,                     -- IP address of the sign-in
  device        text NOT NULL,                     -- its User-Agent
  step_up_at    timestamptz,                       -- when a code of the authenticator app was last entered
  last_used_at  timestamptz NOT NULL,              -- to the minute
  idle_until    timestamptz NOT NULL,
  live_until    timestamptz NOT NULL,
  expires_at    timestamptz NOT NULL,
  ended_at      timestamptz,
  created_at    timestamptz NOT NULL
);
CREATE INDEX user_session_user ON user_session (user_id, created_at DESC);
