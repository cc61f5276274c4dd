-- People who sign in: members of merchants at the portal, with a role in each merchant, and operators at the console, who
-- are the operators with the same e-mail address. A person has one account.
CREATE TABLE user_account (
  id               text PRIMARY KEY,               -- usr_…
  email            text NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
  name             text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  password_hash    text NOT NULL,                  -- argon2id with its parameters and salt
  language         text NOT NULL DEFAULT 'en' CHECK (language IN ('en', 'am')),
  calendar         text NOT NULL DEFAULT 'gregorian' CHECK (calendar IN ('gregorian', 'ethiopic', 'both')),
  clock            text NOT NULL DEFAULT '24h' CHECK (clock IN ('24h', '12h', 'ethiopian')),
  totp_secret      bytea,                          -- of the authenticator app, encrypted; without totp_enabled_at: not confirmed
  totp_enabled_at  timestamptz,                    -- null: two-factor is off
  totp_last_step   bigint,                         -- of the last accepted code, which is not accepted again
  failed_checks    smallint NOT NULL DEFAULT 0,    -- wrong codes and passwords in a row, of a person already half signed in
  locked_until     timestamptz,                    -- until then, none is checked
  created_at       timestamptz NOT NULL DEFAULT now(),
  updated_at       timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX user_account_email ON user_account (lower(email));

-- Each replaces a code of the authenticator app once. A new set replaces the old one.
CREATE TABLE recovery_code (
  user_id     text NOT NULL REFERENCES user_account,
  code_hash   bytea NOT NULL,                      -- SHA-256 of 80 random bits
  used_at     timestamptz,
  replaced_at timestamptz,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, code_hash)
);

-- Passkeys (WebAuthn credentials): each is a password and a second factor at once.
CREATE TABLE passkey (
  id             text PRIMARY KEY,                 -- pky_…
  user_id        text NOT NULL REFERENCES user_account,
  name           text NOT NULL CHECK (length(name) BETWEEN 1 AND 60),  -- the person's word for the device
  credential_id  text NOT NULL UNIQUE CHECK (length(credential_id) BETWEEN 1 AND 1364),  -- base64url; the device chose it
  public_key     bytea NOT NULL,                   -- COSE
  transports     text[] NOT NULL,                  -- how browsers reach the device: usb, internal, …
  counter        bigint NOT NULL,                  -- of the last signature; devices that do not count send 0
  last_used_at   timestamptz,
  removed_at     timestamptz,
  created_at     timestamptz NOT NULL
);
CREATE INDEX passkey_user ON passkey (user_id, created_at) WHERE removed_at IS NULL;

-- Tokens that are used once: in links of mails, as challenges of passkeys, and between the two steps of a sign-in.
CREATE TABLE user_token (
  id           text PRIMARY KEY,                   -- utk_…; inv_… of a key
  purpose      text NOT NULL CHECK (purpose IN ('second-factor', 'console-second-factor', 'invitation', 'operator-invitation', 'reset', 'sign-up',
                                   'passkey', 'new-passkey', 'key')),
  token_hash   bytea NOT NULL UNIQUE,              -- SHA-256 of 256 random bits
  user_id      text REFERENCES user_account,       -- null: of an address that may have no user, or of a passkey that has yet to name its user
  email        text CHECK (length(email) BETWEEN 3 AND 254),
  merchant_id  text REFERENCES merchant,           -- of an invitation of a person, or to create a key
  role         text CHECK (role IN ('owner', 'admin', 'finance', 'developer', 'support', 'viewer')),
  details      jsonb,                              -- of a sign-up: the names of the person and of the business
  operator_id  text REFERENCES operator,           -- of an operator's invitation to a first key
  key          jsonb,                              -- of a merchant's key: environment, kind, scopes …, or the key it rotates
  created_by   text,                               -- usr_… or opr_…
  expires_at   timestamptz NOT NULL,
  used_at      timestamptz,
  revoked_at   timestamptz,
  created_at   timestamptz NOT NULL,
  CHECK (num_nonnulls(user_id, email) = 1 OR (purpose IN ('passkey', 'key') AND email IS NULL)),
  CHECK ((purpose = 'invitation') = (role IS NOT NULL) AND (purpose = 'key') = (num_nonnulls(operator_id, key) = 1)),
  CHECK (num_nonnulls(role, key) = num_nonnulls(merchant_id))
);
CREATE INDEX user_token_merchant ON user_token (merchant_id, created_at DESC) WHERE merchant_id IS NOT NULL;
CREATE INDEX user_token_operator ON user_token (lower(email)) WHERE purpose = 'operator-invitation';
CREATE INDEX user_token_operator_key ON user_token (operator_id) WHERE operator_id IS NOT NULL;

-- Sign-ins of accounts, also of those that do not exist, as rate-limiter-flexible counts them. A crash may reset them.
CREATE UNLOGGED TABLE sign_in_count (
  key    text PRIMARY KEY,                         -- 'accounts:' and the SHA-256 of the e-mail address
  points integer NOT NULL,
  expire double precision                          -- ms since 1970
);

CREATE TABLE membership (
  user_id      text NOT NULL REFERENCES user_account,
  merchant_id  text NOT NULL REFERENCES merchant,
  role         text NOT NULL CHECK (role IN ('owner', 'admin', 'finance', 'developer', 'support', 'viewer')),
  invited_by   text,                               -- usr_…, or opr_… of an operator; null: the business has signed up
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
  audience      text NOT NULL CHECK (audience IN ('portal', 'console')),  -- the only listener that takes its token
  merchant_id   text REFERENCES merchant,          -- of the portal: the active one of the user's merchants
  token_hash    bytea NOT NULL UNIQUE,             -- SHA-256 of the cookie's 256-bit token
  address       text NOT NULL,                     -- IP address of the sign-in
  device        text NOT NULL,                     -- its User-Agent
  step_up_at    timestamptz,                       -- when a code of the authenticator app was last entered
  last_used_at  timestamptz NOT NULL,              -- to the minute
  idle_until    timestamptz NOT NULL,
  live_until    timestamptz NOT NULL,
  expires_at    timestamptz NOT NULL,
  ended_at      timestamptz,
  created_at    timestamptz NOT NULL,
  CHECK (audience = 'portal' OR merchant_id IS NULL)
);
CREATE INDEX user_session_user ON user_session (user_id, created_at DESC);

-- Mails to people, sent by the workers. A mail has a subject and a body, which is deleted once it is sent, or a notice.
CREATE TABLE mail (
  id          text PRIMARY KEY,                    -- mai_…
  recipient   text NOT NULL CHECK (length(recipient) BETWEEN 3 AND 254),
  subject     text,
  body        bytea,                               -- encrypted text: it may have a token
  notice      jsonb,                               -- { kind, … }: facts, written in words when it is sent; nothing secret
  language    text CHECK (language IN ('en', 'am')), -- of a notice
  collected_as text,                               -- kind, merchant and environment of collected notices; null: a mail of its own
  tries       smallint NOT NULL DEFAULT 0,
  due_at      timestamptz NOT NULL DEFAULT now(),
  sent_at     timestamptz,
  created_at  timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(subject, notice) = 1 AND (notice IS NULL) = (language IS NULL))
);
-- Notices of one kind to one person, such as those of the 300 withdrawals of a file, are collected in one mail for a while.
CREATE UNIQUE INDEX mail_collecting ON mail (recipient, collected_as)
  WHERE sent_at IS NULL AND tries = 0 AND collected_as IS NOT NULL;
CREATE INDEX mail_unsent ON mail (due_at) WHERE sent_at IS NULL;
CREATE INDEX mail_list ON mail (created_at DESC, id DESC);
