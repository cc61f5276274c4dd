CREATE OR REPLACE FUNCTION effective_settlement_limit(p_merchant_id text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('minSantim', min_santim, 'maxSantim', max_santim)
  FROM settlement_limit WHERE merchant_id = p_merchant_id OR merchant_id IS NULL ORDER BY merchant_id IS NULL LIMIT 1
$$;

-- Everything that the decision about a new settlement depends on. The lock makes requests of one merchant run one after
-- the other, and each statement below sees what was committed before the lock was taken. The available balance is read,
-- and locked, only if all of it is requested.
CREATE OR REPLACE FUNCTION settlement_preflight(
  p_merchant_id text, p_environment text, p_request_id text, p_all boolean, p_at timestamptz
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  existing_id text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('settlement ' || p_merchant_id || ' ' || p_environment, 0));
  SELECT id INTO existing_id FROM settlement
  WHERE merchant_id = p_merchant_id AND environment = p_environment AND request_id = p_request_id;
  RETURN jsonb_build_object(
    'existingId', existing_id,
    'limits', effective_settlement_limit(p_merchant_id),
    'feeRule', effective_fee_rule(p_merchant_id, NULL, 'SETTLEMENT', p_at),
    'availableSantim', CASE WHEN p_all AND existing_id IS NULL
      THEN ledger_lock_available(p_merchant_id, p_environment, 'ETB') END);
END $$;
