-- SQLSTATEs of our own, raised here and by reject_mutation:
--   MK001  The merchant's balance is insufficient. DETAIL is the available amount in santim.
--   MK002  A programming error: a posting key that is used for something else, entries that do not sum to zero, a
--          journal without a merchant that changes a merchant's balance, or a change of an append-only row.

-- A correction is another journal. The triggers are ENABLE ALWAYS, since session_replication_role = replica would
-- otherwise disable them.
CREATE OR REPLACE TRIGGER ledger_journal_fixed BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_journal
  EXECUTE FUNCTION reject_mutation();
CREATE OR REPLACE TRIGGER ledger_entry_fixed BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry
  EXECUTE FUNCTION reject_mutation();
ALTER TABLE ledger_journal ENABLE ALWAYS TRIGGER ledger_journal_fixed;
ALTER TABLE ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_fixed;

CREATE OR REPLACE FUNCTION ledger_require_balance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added GROUP BY journal_id HAVING sum(amount_santim) <> 0) THEN
    RAISE EXCEPTION 'the entries of a journal must sum to zero' USING ERRCODE = 'MK002';
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_entry_balanced AFTER INSERT ON ledger_entry REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_require_balance();
ALTER TABLE ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_balanced;

-- The id of an account, which is created on first use.
CREATE OR REPLACE FUNCTION ledger_account_id(
  p_environment text, p_currency text, p_kind text, p_merchant_id text, p_channel text
) RETURNS bigint LANGUAGE plpgsql AS $$
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

-- Posts one journal with all its entries. Idempotent by posting key: returns 'posted', or 'already' if the same journal
-- exists. Runs as the owner, since the application's role cannot write the ledger. The journal keeps the business time;
-- the entries keep the later of that and the merchant's last entry, so that they never go back in time.
CREATE OR REPLACE FUNCTION ledger_post(
  p_id text, p_posting_key text, p_kind text, p_merchant_id text, p_environment text, p_currency text,
  p_resource_type text, p_resource_id text, p_effective_at timestamptz,
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
    (id, posting_key, kind, merchant_id, environment, currency, amount_santim, fees_santim, settled_santim,
     resource_type, resource_id, effective_at)
  VALUES (p_id, p_posting_key, p_kind, p_merchant_id, p_environment, p_currency, credits, to_fees, to_settled,
          p_resource_type, p_resource_id, p_effective_at)
  ON CONFLICT (posting_key) DO NOTHING;
  IF NOT FOUND THEN
    PERFORM 1 FROM ledger_journal
    WHERE posting_key = p_posting_key AND kind = p_kind AND merchant_id IS NOT DISTINCT FROM p_merchant_id
      AND environment = p_environment AND resource_id = p_resource_id AND amount_santim = credits;
    IF FOUND THEN RETURN 'already'; END IF;
    RAISE EXCEPTION 'the posting key % belongs to another journal', p_posting_key USING ERRCODE = 'MK002';
  END IF;

  IF to_available <> 0 OR to_reserved <> 0 OR to_fees <> 0 THEN
    IF p_merchant_id IS NULL THEN
      RAISE EXCEPTION 'a journal without a merchant cannot change a merchant''s balance' USING ERRCODE = 'MK002';
    END IF;
    -- A merchant's first credit creates its balance.
    LOOP
      UPDATE ledger_balance SET
        available_santim = available_santim + to_available, reserved_santim = reserved_santim + to_reserved,
        fees_santim = fees_santim + to_fees, settled_santim = settled_santim + to_settled,
        version = version + 1, last_effective_at = greatest(last_effective_at, p_effective_at), updated_at = now()
      WHERE merchant_id = p_merchant_id AND environment = p_environment AND currency = p_currency
        AND available_santim + to_available >= 0 AND reserved_santim + to_reserved >= 0
      RETURNING * INTO balance;
      EXIT WHEN FOUND;
      IF to_available < 0 OR to_reserved < 0 THEN
        SELECT * INTO balance FROM ledger_balance
        WHERE merchant_id = p_merchant_id AND environment = p_environment AND currency = p_currency;
        RAISE EXCEPTION 'the balance is not sufficient'
          USING ERRCODE = 'MK001', DETAIL = coalesce(balance.available_santim, 0)::text;
      END IF;
      INSERT INTO ledger_balance (merchant_id, environment, currency, available_santim, reserved_santim, fees_santim, settled_santim, version)
      VALUES (p_merchant_id, p_environment, p_currency, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING;
    END LOOP;
  END IF;

  INSERT INTO ledger_entry
    (journal_id, position, account_id, amount_santim, sequence, balance_after_santim, effective_at)
  SELECT p_id, e.position,
         ledger_account_id(p_environment, p_currency, e.account,
           CASE WHEN e.account IN ('AVAILABLE', 'RESERVED') THEN p_merchant_id END, e.channel),
         e.amount,
         CASE WHEN e.account IN ('AVAILABLE', 'RESERVED') THEN balance.version END,
         CASE e.account WHEN 'AVAILABLE' THEN balance.available_santim WHEN 'RESERVED' THEN balance.reserved_santim END,
         coalesce(balance.last_effective_at, p_effective_at)
  FROM unnest(p_accounts, p_channels, p_amounts) WITH ORDINALITY AS e (account, channel, amount, position);
  RETURN 'posted';
END $$;

-- The available balance, locked against this merchant's postings until the transaction ends. Runs as the owner, since
-- the application's role cannot lock rows of the ledger.
CREATE OR REPLACE FUNCTION ledger_lock_available(p_merchant_id text, p_environment text, p_currency text)
RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT coalesce((SELECT available_santim FROM ledger_balance
    WHERE merchant_id = p_merchant_id AND environment = p_environment AND currency = p_currency FOR UPDATE), 0)
$$;

CREATE OR REPLACE TRIGGER fee_rule_fixed BEFORE UPDATE OR DELETE ON fee_rule
  FOR EACH ROW EXECUTE FUNCTION reject_mutation();

-- The rule in force for a merchant's payment, payout or settlement. The platform's rule always exists.
CREATE OR REPLACE FUNCTION effective_fee_rule(p_merchant_id text, p_channel text, p_direction text, p_at timestamptz)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(r) FROM (
    SELECT id, basis_points AS "basisPoints", fixed_santim AS "fixedSantim", min_santim AS "minSantim",
           max_santim AS "maxSantim", tax_basis_points AS "taxBasisPoints",
           returned_on_refund AS "returnedOnRefund"
    FROM fee_rule
    WHERE (merchant_id = p_merchant_id OR merchant_id IS NULL) AND direction = p_direction
      AND coalesce(channel, '') = coalesce(p_channel, '') AND valid_from <= p_at
    ORDER BY merchant_id IS NULL, valid_from DESC, version DESC LIMIT 1) r
$$;
