-- Who may do how much with real money: data, applied in live only. A merchant stands in the tier of its live application.
CREATE TABLE kyc_tier (
  tier                 smallint PRIMARY KEY CHECK (tier >= 0),
  name                 text NOT NULL,
  channels             text[],                     -- null: every channel
  payment_max_santim   bigint CHECK (payment_max_santim > 0),   -- of one payment; null: as much as the channel takes
  payout_daily_santim  bigint CHECK (payout_daily_santim > 0),  -- per channel and Addis day; null: as the channel's rule
  created_at           timestamptz NOT NULL DEFAULT now()
);
INSERT INTO kyc_tier (tier, name, channels, payment_max_santim, payout_daily_santim) VALUES
  (0, 'Not verified',   '{}',                        100000,   100000),
  (1, 'Verified small', '{TELEBIRR,CBE_BIRR}',      1000000,  5000000),
  (2, 'Verified full',  NULL,                          NULL,     NULL);

-- A merchant's application to be verified. There is one in each environment: the live one is decided by operators and
-- opens live keys; the sandbox's is a rehearsal that decides itself and opens nothing.
-- The live one's status is the truth, and merchant.kyc_status a copy of it, for keys and lists that read the merchant
-- anyway: the trigger below writes the copy, and nobody else does.
CREATE TABLE kyc_application (
  merchant_id    text NOT NULL REFERENCES merchant,
  environment    text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  status         text NOT NULL DEFAULT 'NOT_STARTED'
                 CHECK (status IN ('NOT_STARTED', 'SUBMITTED', 'UNDER_REVIEW', 'APPROVED', 'REJECTED', 'MORE_INFO_NEEDED')),
  details        jsonb NOT NULL DEFAULT '{}',      -- what the merchant filled in (src/kyc/application.ts)
  tier           smallint NOT NULL DEFAULT 0 REFERENCES kyc_tier,
  submissions    integer NOT NULL DEFAULT 0,       -- how often it was submitted
  message        text,                             -- the operator's words: why not, or what is missing
  submitted_by   text,                             -- key_…
  decided_by     text,                             -- opr_…, or "sandbox"
  submitted_at   timestamptz,
  decide_at      timestamptz,                      -- sandbox: when it decides itself
  decided_at     timestamptz,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (merchant_id, environment),
  CHECK (environment = 'sandbox' OR decide_at IS NULL),
  CHECK ((tier > 0) = (status = 'APPROVED'))
);
CREATE INDEX kyc_application_due ON kyc_application (decide_at) WHERE decide_at IS NOT NULL;
CREATE INDEX kyc_application_waiting ON kyc_application (submitted_at) WHERE status IN ('SUBMITTED', 'UNDER_REVIEW');

CREATE TABLE kyc_timeline (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id  text NOT NULL,
  environment  text NOT NULL,
  at           timestamptz NOT NULL,
  kind         text NOT NULL,                      -- application.saved, review.approved … (src/kyc/timeline.ts)
  by           text NOT NULL,                      -- key_…, opr_…, or "sandbox"
  detail       jsonb NOT NULL DEFAULT '{}',
  created_at   timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (merchant_id, environment) REFERENCES kyc_application
);
CREATE INDEX kyc_timeline_application ON kyc_timeline (merchant_id, environment, id);

-- The files are in the folder of KYC_DOCUMENTS_DIR, each under a random name; what the merchant called them is shown only.
CREATE TABLE kyc_document (
  id            text PRIMARY KEY,                  -- kyd_…
  merchant_id   text NOT NULL,
  environment   text NOT NULL,
  submission    integer NOT NULL,                  -- it was added for this one: 1 until the first was made
  kind          text NOT NULL CHECK (kind IN ('TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID', 'BANK_LETTER', 'OTHER')),
  file_name     text NOT NULL,
  content_type  text NOT NULL CHECK (content_type IN ('application/pdf', 'image/png', 'image/jpeg')),
  bytes         integer NOT NULL CHECK (bytes > 0),
  sha256        text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  stored_as     text NOT NULL UNIQUE CHECK (stored_as ~ '^[0-9a-f]{32}$'),
  uploaded_by   text NOT NULL,                     -- key_…
  uploaded_at   timestamptz NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (merchant_id, environment) REFERENCES kyc_application
);
CREATE INDEX kyc_document_application ON kyc_document (merchant_id, environment, uploaded_at);

CREATE FUNCTION kyc_copy_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE merchant SET kyc_status = NEW.status WHERE id = NEW.merchant_id AND kyc_status <> NEW.status;
  RETURN NULL;
END $$;
CREATE TRIGGER kyc_application_status AFTER INSERT OR UPDATE OF status ON kyc_application
  FOR EACH ROW WHEN (NEW.environment = 'live') EXECUTE FUNCTION kyc_copy_status();

-- Merchants from before: what their row says becomes their application's.
INSERT INTO kyc_application (merchant_id, environment, status, tier, submissions)
SELECT id, 'live', kyc_status, CASE kyc_status WHEN 'APPROVED' THEN 2 ELSE 0 END, 1
FROM merchant WHERE kyc_status <> 'NOT_STARTED';

-- What else a live key waits for: one payment that succeeded in the sandbox.
CREATE FUNCTION has_paid_in_sandbox(p_merchant_id text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM transaction
    WHERE merchant_id = p_merchant_id AND environment = 'sandbox' AND status = 'SUCCESS')
$$;

-- The tier of a merchant's live money.
CREATE FUNCTION kyc_tier_of(p_merchant_id text) RETURNS smallint LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT tier FROM kyc_application WHERE merchant_id = p_merchant_id AND environment = 'live'), 0::smallint)
$$;

-- Whether the tier lets a merchant use a channel. The sandbox knows no tiers.
CREATE FUNCTION kyc_tier_allows(p_merchant_id text, p_environment text, p_channel text)
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_environment = 'sandbox' THEN true ELSE
    (SELECT channels IS NULL OR p_channel = ANY (channels) FROM kyc_tier WHERE tier = kyc_tier_of(p_merchant_id)) END
$$;

-- What a channel takes of this merchant in this environment: the rule, and in live the tier where it is lower.
CREATE OR REPLACE FUNCTION limits_of(
  p_merchant_id text, p_environment text, p_channel text, p_direction text, p_at timestamptz
) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_environment = 'sandbox' THEN rule ELSE rule || (
    SELECT CASE p_direction
      WHEN 'PAY_IN' THEN jsonb_build_object(
        'maxSantim', least((rule->>'maxSantim')::bigint, payment_max_santim))
      ELSE jsonb_build_object(
        'maxSantim', least((rule->>'maxSantim')::bigint, payout_daily_santim),
        'dailySantim', least((rule->>'dailySantim')::bigint, payout_daily_santim)) END
    FROM kyc_tier WHERE tier = kyc_tier_of(p_merchant_id)) END
  FROM (SELECT limit_rule_of(p_merchant_id, p_channel, p_direction, p_at) AS rule) r
$$;

CREATE OR REPLACE FUNCTION channel_facts_of(p_merchant_id text, p_environment text, p_channel text)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('platformState', c.platform_state, 'approval', coalesce(m.approval, 'NONE'),
                            'enabled', coalesce(m.enabled, false),
                            'tierAllows', kyc_tier_allows(p_merchant_id, p_environment, c.id))
  FROM channel c
  LEFT JOIN merchant_channel m
    ON m.channel = c.id AND m.merchant_id = p_merchant_id AND m.environment = p_environment
  WHERE c.id = p_channel
$$;

