-- Double entry, in santim. Entries are signed: a credit is above zero, a debit below, so a merchant's balance is the
-- sum of its entries. Only ledger_post writes these tables, and no journal or entry is ever changed (docs/adr/0008).
CREATE TABLE ledger_account (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment  text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  currency     text NOT NULL CHECK (currency IN ('ETB')),
  kind         text NOT NULL CHECK (kind IN
    ('AVAILABLE', 'RESERVED', 'CHANNEL_CLEARING', 'BANK', 'FEE_REVENUE', 'TAX_PAYABLE', 'SUSPENSE')),
  merchant_id  text REFERENCES merchant,           -- of AVAILABLE and RESERVED; other accounts are the platform's
  channel      text REFERENCES channel,            -- of CHANNEL_CLEARING: the provider's debt
  created_at   timestamptz NOT NULL DEFAULT now(),
  CHECK ((merchant_id IS NOT NULL) = (kind IN ('AVAILABLE', 'RESERVED'))),
  CHECK ((channel IS NOT NULL) = (kind = 'CHANNEL_CLEARING'))
);
CREATE UNIQUE INDEX ledger_account_natural
  ON ledger_account (environment, currency, kind, coalesce(merchant_id, ''), coalesce(channel, ''));

-- One posting of one business event. The posting key makes it idempotent.
CREATE TABLE ledger_journal (
  id             text PRIMARY KEY,                 -- jrn_…
  posting_key    text NOT NULL UNIQUE,             -- payment:txn_…, reserve:wd_…
  kind           text NOT NULL,                    -- PAYMENT, WITHDRAWAL_RESERVED …
  merchant_id    text,                             -- the merchant whose balance changes; null: platform accounts only
  environment    text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  currency       text NOT NULL CHECK (currency IN ('ETB')),
  amount_santim  bigint NOT NULL CHECK (amount_santim > 0), -- the sum of its credits
  fees_santim    bigint NOT NULL,                  -- what it adds to the merchant's fees, with the tax on them
  settled_santim bigint NOT NULL,                  -- what it adds to the credits to the merchant's bank account
  resource_type  text NOT NULL,
  resource_id    text NOT NULL,
  effective_at   timestamptz NOT NULL,             -- business time
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ledger_journal_resource ON ledger_journal (resource_id);
CREATE INDEX ledger_journal_fees ON ledger_journal (merchant_id, environment, effective_at DESC, id DESC)
  INCLUDE (fees_santim) WHERE fees_santim <> 0;
CREATE INDEX ledger_journal_settled ON ledger_journal (merchant_id, environment, effective_at DESC, id DESC)
  INCLUDE (settled_santim) WHERE settled_santim <> 0;

-- No foreign keys to journal and account: every posting would lock the platform's few accounts. ledger_post creates the
-- referenced rows, and `meskot ledger verify` checks the references.
CREATE TABLE ledger_entry (
  journal_id            text NOT NULL,
  position              smallint NOT NULL,
  account_id            bigint NOT NULL,
  amount_santim         bigint NOT NULL CHECK (amount_santim <> 0),
  sequence              bigint,                    -- of merchants' accounts: the balance's version after the entry
  balance_after_santim  bigint CHECK (balance_after_santim >= 0),
  -- The journal's time, or that of the merchant's previous entry if that is later. Entries of an account therefore
  -- never go back in time, and a day's opening balance plus its entries is its closing balance.
  effective_at          timestamptz NOT NULL,
  created_at            timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (journal_id, position),
  CHECK ((sequence IS NULL) = (balance_after_santim IS NULL))
);
CREATE UNIQUE INDEX ledger_entry_sequence ON ledger_entry (account_id, sequence) WHERE sequence IS NOT NULL;
CREATE INDEX ledger_entry_account ON ledger_entry (account_id, effective_at) INCLUDE (amount_santim);

-- The balance of a merchant. The platform's accounts have no such row, since every payment would lock it.
CREATE TABLE ledger_balance (
  merchant_id        text NOT NULL REFERENCES merchant,
  environment        text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  currency           text NOT NULL CHECK (currency IN ('ETB')),
  available_santim   bigint NOT NULL CHECK (available_santim >= 0),
  reserved_santim    bigint NOT NULL CHECK (reserved_santim >= 0),
  fees_santim        bigint NOT NULL,              -- total of all fees and the tax on them
  settled_santim     bigint NOT NULL,              -- total of all credits to the merchant's bank account
  version            bigint NOT NULL,              -- rises with every posting
  last_effective_at  timestamptz NOT NULL DEFAULT '-infinity', -- of the latest entry
  created_at         timestamptz NOT NULL DEFAULT now(),
  updated_at         timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (merchant_id, environment, currency)
) WITH (fillfactor = 50);

-- References of money outside: the bank's trace ids of what it received (inbound) and sent (outbound), and the providers'
-- references of recovered overpayments (recovery). Each is booked once. A reversed receipt deletes its rows.
CREATE TABLE external_reference (
  environment    text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  direction      text NOT NULL CHECK (direction IN ('inbound', 'outbound', 'recovery')),
  reference      text NOT NULL,
  resource_id    text NOT NULL,                    -- rcp_… or stl_…
  booked_as      text NOT NULL,                    -- for error messages: the credit of a settlement
  amount_santim  bigint NOT NULL CHECK (amount_santim > 0),
  booked_at      timestamptz NOT NULL,             -- of a settlement's credit: the bank's time
  created_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (environment, direction, reference)
);
CREATE INDEX external_reference_resource ON external_reference (resource_id);

-- The fees merchants pay. The newest rule that has come into force applies, and a merchant's own rule takes precedence
-- over the platform's. Rows are never changed, so past charges stay explicable.
CREATE TABLE fee_rule (
  id                text PRIMARY KEY,              -- fee_…
  merchant_id       text REFERENCES merchant,      -- null: the platform's rule
  channel           text REFERENCES channel,       -- null: settlements, which use no channel
  direction         text NOT NULL CHECK (direction IN ('PAY_IN', 'PAY_OUT', 'SETTLEMENT')),
  basis_points      integer NOT NULL CHECK (basis_points BETWEEN 0 AND 10000),
  fixed_santim      bigint NOT NULL CHECK (fixed_santim BETWEEN 0 AND 100000000),
  min_santim        bigint NOT NULL DEFAULT 0 CHECK (min_santim >= 0),
  max_santim        bigint CHECK (max_santim >= min_santim),
  tax_basis_points  integer NOT NULL CHECK (tax_basis_points BETWEEN 0 AND 10000),
  returned_on_refund boolean NOT NULL DEFAULT false, -- of payments: a refund may give back its part of the fee and the tax
  valid_from        timestamptz NOT NULL,
  version           integer NOT NULL,              -- 1, 2, … for each merchant, channel and direction
  created_at        timestamptz NOT NULL DEFAULT now(),
  CHECK ((channel IS NULL) = (direction = 'SETTLEMENT'))
);
CREATE UNIQUE INDEX fee_rule_version
  ON fee_rule (coalesce(merchant_id, ''), direction, coalesce(channel, ''), version);

INSERT INTO fee_rule (id, channel, direction, basis_points, fixed_santim, tax_basis_points, valid_from, version)
SELECT 'fee_' || direction || '_' || id, id, direction, basis_points, fixed_santim, 1500,
       timestamptz '2020-01-01T00:00:00Z', 1
FROM channel, (VALUES ('PAY_IN', 250, 0), ('PAY_OUT', 0, 500)) AS d (direction, basis_points, fixed_santim)
UNION ALL
SELECT 'fee_SETTLEMENT', NULL, 'SETTLEMENT', 0, 0, 1500, timestamptz '2020-01-01T00:00:00Z', 1;
