-- A beneficiary's name for comparison: capitals and extra spaces do not matter.
CREATE OR REPLACE FUNCTION normalize_name(p_name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT lower(regexp_replace(btrim(p_name), '\s+', ' ', 'g'))
$$;

-- The amount that counts towards the daily limit: of withdrawals that have not failed.
CREATE OR REPLACE FUNCTION withdrawn_since(
  p_merchant_id text, p_environment text, p_channel text, p_since timestamptz
) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount_santim), 0)::bigint FROM payout
  WHERE kind = 'withdrawal' AND merchant_id = p_merchant_id AND environment = p_environment AND channel = p_channel
    AND requested_at >= p_since AND status IN ('PENDING', 'SUCCESS')
$$;

-- Everything that the decision about a new withdrawal depends on. The lock makes requests of one merchant run one after
-- the other, and each statement below sees what was committed before the lock was taken.
CREATE OR REPLACE FUNCTION withdrawal_preflight(
  p_merchant_id text, p_environment text, p_request_id text, p_channel text, p_beneficiary text,
  p_account_name text, p_day_start timestamptz, p_at timestamptz
) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('withdrawal ' || p_merchant_id || ' ' || p_environment, 0));
  RETURN jsonb_build_object(
    'existingId', (SELECT id FROM payout
      WHERE kind = 'withdrawal' AND merchant_id = p_merchant_id AND environment = p_environment AND reference = p_request_id),
    'channel', channel_state(p_merchant_id, p_environment, p_channel),
    'limits', effective_limits(p_merchant_id, p_environment, p_channel, 'PAY_OUT', p_at),
    'feeRule', effective_fee_rule(p_merchant_id, p_channel, 'PAY_OUT', p_at),
    'policy', effective_review_policy(p_merchant_id),
    'secondPersonFromSantim', (SELECT second_person_from_santim FROM merchant WHERE id = p_merchant_id),
    'usedTodaySantim', withdrawn_since(p_merchant_id, p_environment, p_channel, p_day_start),
    'inLastHour', (SELECT count(*) FROM payout
      WHERE kind = 'withdrawal' AND merchant_id = p_merchant_id AND environment = p_environment AND requested_at > p_at - interval '1 hour'),
    'paidThereBefore', EXISTS (SELECT 1 FROM payout
      WHERE kind = 'withdrawal' AND merchant_id = p_merchant_id AND environment = p_environment
        AND coalesce(phone, bank_code || ':' || account_number) = p_beneficiary AND status = 'SUCCESS'),
    'firstPaidThereAsAt', (SELECT min(completed_at) FROM payout
      WHERE kind = 'withdrawal' AND merchant_id = p_merchant_id AND environment = p_environment
        AND coalesce(phone, bank_code || ':' || account_number) = p_beneficiary AND status = 'SUCCESS'
        AND normalize_name(account_name) = normalize_name(p_account_name)));
END $$;

-- Another payout, also if it was reversed, that was paid under a provider's reference.
CREATE OR REPLACE FUNCTION paid_under(p_id text, p_environment text, p_channel text, p_reference text)
RETURNS text LANGUAGE sql STABLE AS $$
  SELECT id FROM payout WHERE provider_reference = p_reference AND id <> p_id AND channel = p_channel
    AND environment = p_environment AND status IN ('SUCCESS', 'REVERSED')
  ORDER BY id DESC LIMIT 1
$$;
