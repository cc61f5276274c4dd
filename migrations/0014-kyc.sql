-- What merchants may do with real money. Tiers apply in live only; a merchant's tier is that of its live application.
CREATE TABLE kyc_tier (
  tier                 smallint PRIMARY KEY CHECK (tier >= 0),
  name                 text NOT NULL,
  channels             text[],                     -- null: every channel
  payment_max_santim   bigint CHECK (payment_max_santim > 0), -- of one payment; null: the channel's limit
  payout_daily_santim  bigint CHECK (payout_daily_santim > 0), -- per channel and day; null: the channel's limit
  created_at           timestamptz NOT NULL DEFAULT now()
);
INSERT INTO kyc_tier (tier, name, channels, payment_max_santim, payout_daily_santim) VALUES
  (0, 'Not verified',   '{}',                        100000,   100000),
  (1, 'Verified small', '{TELEBIRR,CBE_BIRR}',      1000000,  5000000),
  (2, 'Verified full',  NULL,                          NULL,     NULL);

-- A merchant's application for verification, one in each environment. Operators decide the live one, which opens live
-- keys. The sandbox's is decided automatically and opens nothing.
CREATE TABLE kyc_application (
  merchant_id      text NOT NULL REFERENCES merchant,
  environment      text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  status           text NOT NULL DEFAULT 'NOT_STARTED' CHECK (status IN
    ('NOT_STARTED', 'SUBMITTED', 'UNDER_REVIEW', 'APPROVED', 'REJECTED', 'MORE_INFO_NEEDED')),
  tier             smallint NOT NULL DEFAULT 0 REFERENCES kyc_tier,
  details          jsonb NOT NULL DEFAULT '{}',    -- the fields of the merchant's form
  submissions      integer NOT NULL DEFAULT 0,     -- how often it was submitted
  review_message   text,                           -- the operator's: why it was rejected, or what is missing
  submitted_by     text,                           -- key_…
  decided_by       text,                           -- opr_…, or "sandbox"
  submitted_at     timestamptz,
  auto_decide_at   timestamptz,                    -- sandbox only: decided when it is next read
  decided_at       timestamptz,
  created_at       timestamptz NOT NULL DEFAULT now(),
  updated_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (merchant_id, environment),
  CHECK (environment = 'sandbox' OR auto_decide_at IS NULL),
  CHECK ((tier > 0) = (status = 'APPROVED'))
);
CREATE INDEX kyc_application_waiting ON kyc_application (submitted_at) WHERE status IN ('SUBMITTED', 'UNDER_REVIEW');

-- The files are in the folder of KYC_DOCUMENTS_DIR, each under a random name. The merchant's name is for display only.
CREATE TABLE kyc_document (
  id            text PRIMARY KEY,                  -- kyd_…
  merchant_id   text NOT NULL,
  environment   text NOT NULL,
  submission    integer NOT NULL,                  -- the submission it was added for: 1 until the first was made
  kind          text NOT NULL CHECK (kind IN
    ('TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID', 'BANK_LETTER', 'LOGO', 'OTHER')),
  file_name     text NOT NULL,
  content_type  text NOT NULL CHECK (content_type IN ('application/pdf', 'image/png', 'image/jpeg')),
  bytes         integer NOT NULL CHECK (bytes > 0),
  sha256        text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  storage_key   text NOT NULL UNIQUE CHECK (storage_key ~ '^[0-9a-f]{32}$'),
  uploaded_by   text NOT NULL,                     -- key_…
  uploaded_at   timestamptz NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (merchant_id, environment) REFERENCES kyc_application
);
CREATE INDEX kyc_document_application ON kyc_document (merchant_id, environment, uploaded_at);
