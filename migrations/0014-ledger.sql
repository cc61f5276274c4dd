-- Double entry, in santim. Entries are signed: what credits an account is above zero, what debits it below, so a
-- merchant's balance is the sum of its entries. Only ledger_post writes here, and nothing is ever changed.

CREATE TABLE ledger_account (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment  text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  currency     text NOT NULL CHECK (currency IN ('ETB')),
  kind         text NOT NULL CHECK (kind IN
    ('AVAILABLE', 'RESERVED', 'CHANNEL_CLEARING', 'BANK', 'FEE_REVENUE', 'TAX_PAYABLE', 'SUSPENSE')),
  merchant_id  text REFERENCES merchant,           -- AVAILABLE and RESERVED; all else is the operator's
  channel      text REFERENCES channel,            -- CHANNEL_CLEARING: what the provider owes
  created_at   timestamptz NOT NULL DEFAULT now(),
  CHECK ((merchant_id IS NOT NULL) = (kind IN ('AVAILABLE', 'RESERVED'))),
  CHECK ((channel IS NOT NULL) = (kind = 'CHANNEL_CLEARING'))
);
CREATE UNIQUE INDEX ledger_account_natural
  ON ledger_account (environment, currency, kind, coalesce(merchant_id, ''), coalesce(channel, ''));

-- One business fact. Its key makes it happen once: a second posting under it is the same fact told again.
CREATE TABLE ledger_journal (
  id             text PRIMARY KEY,                 -- jrn_…
  key            text NOT NULL UNIQUE,             -- payment:txn_…, reserve:wd_… (src/ledger/facts.ts)
  kind           text NOT NULL,                    -- PAYMENT, WITHDRAWAL_RESERVED …
  merchant_id    text,                             -- whose balance it moves; null when it moves only the operator's
  environment    text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  currency       text NOT NULL CHECK (currency IN ('ETB')),
  amount_santim  bigint NOT NULL CHECK (amount_santim > 0), -- the sum of its credits
  resource_type  text NOT NULL,
  resource_id    text NOT NULL,
  at             timestamptz NOT NULL,             -- time of business
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ledger_journal_resource ON ledger_journal (resource_id);

-- No reference to journal and account is checked by PostgreSQL: it would lock the operator's few accounts for every
-- posting. ledger_post makes both, and `meskot ledger verify` looks.
CREATE TABLE ledger_entry (
  journal_id            text NOT NULL,
  position              smallint NOT NULL,
  account_id            bigint NOT NULL,
  amount_santim         bigint NOT NULL CHECK (amount_santim <> 0),
  sequence              bigint,                    -- merchants' accounts: the balance's version after it, so their order
  balance_after_santim  bigint CHECK (balance_after_santim >= 0),
  at                    timestamptz NOT NULL,
  created_at            timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (journal_id, position),
  CHECK ((sequence IS NULL) = (balance_after_santim IS NULL))
);
CREATE UNIQUE INDEX ledger_entry_sequence ON ledger_entry (account_id, sequence) WHERE sequence IS NOT NULL;
CREATE INDEX ledger_entry_account ON ledger_entry (account_id, at) INCLUDE (amount_santim);

-- What a merchant has. The operator's accounts have no such row: every payment would wait for it.
CREATE TABLE ledger_balance (
  merchant_id       text NOT NULL REFERENCES merchant,
  environment       text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  currency          text NOT NULL CHECK (currency IN ('ETB')),
  available_santim  bigint NOT NULL CHECK (available_santim >= 0),
  reserved_santim   bigint NOT NULL CHECK (reserved_santim >= 0),
  fees_santim       bigint NOT NULL,               -- fees and the tax on them, ever
  settled_santim    bigint NOT NULL,               -- credited to the merchant's bank account, ever
  version           bigint NOT NULL,               -- rises with every posting
  created_at        timestamptz NOT NULL DEFAULT now(),
  updated_at        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (merchant_id, environment, currency)
) WITH (fillfactor = 50);

CREATE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is written once: a mistake is corrected by another journal', TG_TABLE_NAME USING ERRCODE = 'MK002';
END $$;

CREATE FUNCTION ledger_require_balance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added GROUP BY journal_id HAVING sum(amount_santim) <> 0) THEN
    RAISE EXCEPTION 'the entries of a journal must sum to zero' USING ERRCODE = 'MK002';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER ledger_journal_fixed BEFORE UPDATE OR DELETE ON ledger_journal
  FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_journal_kept BEFORE TRUNCATE ON ledger_journal EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_entry_fixed BEFORE UPDATE OR DELETE ON ledger_entry
  FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_entry_kept BEFORE TRUNCATE ON ledger_entry EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_entry_balanced AFTER INSERT ON ledger_entry REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_require_balance();
-- For everybody, whatever session_replication_role says.
ALTER TABLE ledger_journal ENABLE ALWAYS TRIGGER ledger_journal_fixed;
ALTER TABLE ledger_journal ENABLE ALWAYS TRIGGER ledger_journal_kept;
ALTER TABLE ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_fixed;
ALTER TABLE ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_kept;
ALTER TABLE ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_balanced;

-- The account's id; it is made when first used.
CREATE FUNCTION ledger_account_id(p_environment text, p_currency text, p_kind text, p_merchant_id text, p_channel text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  found_id bigint;
BEGIN
  LOOP
    SELECT id INTO found_id FROM ledger_account
    WHERE environment = p_environment AND currency = p_currency AND kind = p_kind
      AND coalesce(merchant_id, '') = coalesce(p_merchant_id, '') AND coalesce(channel, '') = coalesce(p_channel, '');
    IF FOUND THEN RETURN found_id; END IF;
    INSERT INTO ledger_account (environment, currency, kind, merchant_id, channel)
    VALUES (p_environment, p_currency, p_kind, p_merchant_id, p_channel)
    ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- Books one fact, whole or not at all. Answers 'posted', or 'already' when its key has been booked for the same fact.
-- Raises MK001 when the merchant has not enough (DETAIL: the available santim), MK002 for what no caller may ask.
CREATE FUNCTION ledger_post(
  p_id text, p_key text, p_kind text, p_merchant_id text, p_environment text, p_currency text,
  p_resource_type text, p_resource_id text, p_at timestamptz,
  p_accounts text[], p_channels text[], p_amounts bigint[]
) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  credits bigint;
  to_available bigint;
  to_reserved bigint;
  to_fees bigint;
  to_settled bigint;
  balance ledger_balance;
BEGIN
  SELECT sum(amount) FILTER (WHERE amount > 0),
         coalesce(sum(amount) FILTER (WHERE account = 'AVAILABLE'), 0),
         coalesce(sum(amount) FILTER (WHERE account = 'RESERVED'), 0),
         coalesce(sum(amount) FILTER (WHERE account IN ('FEE_REVENUE', 'TAX_PAYABLE')), 0),
         coalesce(sum(amount) FILTER (WHERE account = 'BANK' AND p_resource_type = 'settlement'), 0)
  INTO credits, to_available, to_reserved, to_fees, to_settled
  FROM unnest(p_accounts, p_amounts) AS e (account, amount);

  INSERT INTO ledger_journal
    (id, key, kind, merchant_id, environment, currency, amount_santim, resource_type, resource_id, at)
  VALUES (p_id, p_key, p_kind, p_merchant_id, p_environment, p_currency, credits, p_resource_type, p_resource_id, p_at)
  ON CONFLICT (key) DO NOTHING;
  IF NOT FOUND THEN
    PERFORM 1 FROM ledger_journal
    WHERE key = p_key AND kind = p_kind AND merchant_id IS NOT DISTINCT FROM p_merchant_id
      AND environment = p_environment AND resource_id = p_resource_id AND amount_santim = credits;
    IF FOUND THEN RETURN 'already'; END IF;
    RAISE EXCEPTION 'the key % is another fact''s', p_key USING ERRCODE = 'MK002';
  END IF;

  IF to_available <> 0 OR to_reserved <> 0 OR to_fees <> 0 THEN
    IF p_merchant_id IS NULL THEN
      RAISE EXCEPTION 'a journal without a merchant cannot move a merchant''s money' USING ERRCODE = 'MK002';
    END IF;
    UPDATE ledger_balance SET
      available_santim = available_santim + to_available, reserved_santim = reserved_santim + to_reserved,
      fees_santim = fees_santim + to_fees, settled_santim = settled_santim + to_settled,
      version = version + 1, updated_at = now()
    WHERE merchant_id = p_merchant_id AND environment = p_environment AND currency = p_currency
      AND available_santim + to_available >= 0 AND reserved_santim + to_reserved >= 0
    RETURNING * INTO balance;
    IF NOT FOUND AND to_available >= 0 AND to_reserved >= 0 THEN
      INSERT INTO ledger_balance AS b
        (merchant_id, environment, currency, available_santim, reserved_santim, fees_santim, settled_santim, version)
      VALUES (p_merchant_id, p_environment, p_currency, to_available, to_reserved, to_fees, to_settled, 1)
      ON CONFLICT (merchant_id, environment, currency) DO UPDATE SET
        available_santim = b.available_santim + to_available, reserved_santim = b.reserved_santim + to_reserved,
        fees_santim = b.fees_santim + to_fees, settled_santim = b.settled_santim + to_settled,
        version = b.version + 1, updated_at = now()
      RETURNING * INTO balance;
    END IF;
    IF balance IS NULL THEN
      SELECT * INTO balance FROM ledger_balance
      WHERE merchant_id = p_merchant_id AND environment = p_environment AND currency = p_currency;
      RAISE EXCEPTION 'the balance is not sufficient'
        USING ERRCODE = 'MK001', DETAIL = coalesce(balance.available_santim, 0)::text;
    END IF;
  END IF;

  INSERT INTO ledger_entry (journal_id, position, account_id, amount_santim, sequence, balance_after_santim, at)
  SELECT p_id, e.position,
         ledger_account_id(p_environment, p_currency, e.account,
           CASE WHEN e.account IN ('AVAILABLE', 'RESERVED') THEN p_merchant_id END, e.channel),
         e.amount,
         CASE WHEN e.account IN ('AVAILABLE', 'RESERVED') THEN balance.version END,
         CASE e.account WHEN 'AVAILABLE' THEN balance.available_santim WHEN 'RESERVED' THEN balance.reserved_santim END,
         p_at
  FROM unnest(p_accounts, p_channels, p_amounts) WITH ORDINALITY AS e (account, channel, amount, position);
  RETURN 'posted';
END $$;

-- What a merchant can take out, as of now; only ledger_post decides whether it can.
CREATE FUNCTION ledger_available(p_merchant_id text, p_environment text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT available_santim FROM ledger_balance
    WHERE merchant_id = p_merchant_id AND environment = p_environment AND currency = 'ETB'), 0)
$$;

-- What a merchant pays. The newest rule that has come into force counts: the merchant's own before the platform's.
-- A change is another row: what was charged stays explained.
CREATE TABLE fee_rule (
  id                text PRIMARY KEY,              -- fee_…
  merchant_id       text REFERENCES merchant,      -- null: of everybody who has none of their own
  channel           text REFERENCES channel,       -- null: settlements, which take no channel
  direction         text NOT NULL CHECK (direction IN ('PAY_IN', 'PAY_OUT', 'SETTLEMENT')),
  basis_points      integer NOT NULL CHECK (basis_points BETWEEN 0 AND 10000),
  fixed_santim      bigint NOT NULL CHECK (fixed_santim BETWEEN 0 AND 100000000),
  min_santim        bigint NOT NULL DEFAULT 0 CHECK (min_santim >= 0),
  max_santim        bigint CHECK (max_santim >= min_santim),
  tax_basis_points  integer NOT NULL CHECK (tax_basis_points BETWEEN 0 AND 10000),
  valid_from        timestamptz NOT NULL,
  version           integer NOT NULL,              -- 1, 2, … of the same merchant, channel and direction
  created_at        timestamptz NOT NULL DEFAULT now(),
  CHECK ((channel IS NULL) = (direction = 'SETTLEMENT'))
);
CREATE UNIQUE INDEX fee_rule_version
  ON fee_rule (coalesce(merchant_id, ''), direction, coalesce(channel, ''), version);
CREATE TRIGGER fee_rule_fixed BEFORE UPDATE OR DELETE ON fee_rule
  FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

INSERT INTO fee_rule (id, channel, direction, basis_points, fixed_santim, tax_basis_points, valid_from, version)
SELECT 'fee_' || direction || '_' || id, id, direction, basis_points, fixed_santim, 1500, timestamptz '2020-01-01T00:00:00Z', 1
FROM channel, (VALUES ('PAY_IN', 250, 0), ('PAY_OUT', 0, 500)) AS d (direction, basis_points, fixed_santim)
UNION ALL
SELECT 'fee_SETTLEMENT', NULL, 'SETTLEMENT', 0, 0, 1500, timestamptz '2020-01-01T00:00:00Z', 1;

-- The rule in force for a merchant's payment, payout or settlement; the platform's always exists.
CREATE FUNCTION fee_rule_of(p_merchant_id text, p_channel text, p_direction text, p_at timestamptz)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(r) FROM (
    SELECT id, basis_points AS "basisPoints", fixed_santim AS "fixedSantim", min_santim AS "minSantim",
           max_santim AS "maxSantim", tax_basis_points AS "taxBasisPoints"
    FROM fee_rule
    WHERE (merchant_id = p_merchant_id OR merchant_id IS NULL) AND direction = p_direction
      AND coalesce(channel, '') = coalesce(p_channel, '') AND valid_from <= p_at
    ORDER BY merchant_id IS NULL, valid_from DESC, version DESC LIMIT 1) r
$$;

-- Frozen when the payment succeeds; net = received - fee - tax. What was received differs from what was asked only
-- where an operator has accepted it so.
ALTER TABLE transaction
  ADD COLUMN received_santim bigint CHECK (received_santim > 0),
  ADD COLUMN fee_santim bigint CHECK (fee_santim >= 0),
  ADD COLUMN fee_tax_santim bigint CHECK (fee_tax_santim >= 0),
  ADD CONSTRAINT transaction_fees CHECK ((fee_santim IS NULL) = (fee_tax_santim IS NULL));
-- What a provider says it took, of tries whose money is not (yet) a merchant's.
ALTER TABLE payment_attempt ADD COLUMN received_santim bigint, ADD COLUMN received_currency text;

-- Payments from before there was a ledger: nothing was charged for them.
UPDATE transaction SET fee_santim = 0, fee_tax_santim = 0 WHERE status = 'SUCCESS';
SELECT ledger_post(
  'jrn_' || substr(id, 5), 'payment:' || id, 'PAYMENT', merchant_id, environment, currency, 'transaction', id,
  coalesce(completed_at, created_at), ARRAY['CHANNEL_CLEARING', 'AVAILABLE'], ARRAY[channel, NULL],
  ARRAY[-amount_santim, amount_santim])
FROM transaction WHERE status = 'SUCCESS' ORDER BY completed_at;
