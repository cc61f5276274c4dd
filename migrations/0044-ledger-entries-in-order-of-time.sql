-- The entries of a merchant's account never go back in time: the balance keeps the time of the last one. A day's opening
-- balance then leads to its closing balance by the day's rows alone, in their order.
ALTER TABLE ledger_balance ADD COLUMN last_at timestamptz NOT NULL DEFAULT '-infinity'; -- 0045 fills it

-- Books one fact, whole or not at all. Answers 'posted', or 'already' when its key has been booked for the same fact.
-- Raises MK001 when the merchant has not enough (DETAIL: the available santim), MK002 for what no caller may ask.
-- The journal keeps p_at, the time of business. All its entries are of the time they were booked at: p_at too, or that
-- of the merchant's last entry where that is later.
CREATE OR REPLACE FUNCTION ledger_post(
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
      version = version + 1, last_at = greatest(last_at, p_at), updated_at = now()
    WHERE merchant_id = p_merchant_id AND environment = p_environment AND currency = p_currency
      AND available_santim + to_available >= 0 AND reserved_santim + to_reserved >= 0
    RETURNING * INTO balance;
    IF NOT FOUND AND to_available >= 0 AND to_reserved >= 0 THEN
      INSERT INTO ledger_balance AS b
        (merchant_id, environment, currency, available_santim, reserved_santim, fees_santim, settled_santim, version,
         last_at)
      VALUES (p_merchant_id, p_environment, p_currency, to_available, to_reserved, to_fees, to_settled, 1, p_at)
      ON CONFLICT (merchant_id, environment, currency) DO UPDATE SET
        available_santim = b.available_santim + to_available, reserved_santim = b.reserved_santim + to_reserved,
        fees_santim = b.fees_santim + to_fees, settled_santim = b.settled_santim + to_settled,
        version = b.version + 1, last_at = greatest(b.last_at, p_at), updated_at = now()
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
         coalesce(balance.last_at, p_at)
  FROM unnest(p_accounts, p_channels, p_amounts) WITH ORDINALITY AS e (account, channel, amount, position);
  RETURN 'posted';
END $$;
