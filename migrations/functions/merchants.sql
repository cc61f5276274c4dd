-- Whether a merchant's own account at a channel's provider is in effect. Only live channels have such accounts.
CREATE OR REPLACE FUNCTION has_own_account(p_merchant_id text, p_environment text, p_channel text)
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT p_environment = 'live' AND EXISTS (
    SELECT 1 FROM provider_credential
    WHERE merchant_id = p_merchant_id AND channel = p_channel AND active_from <= now()
      AND coalesce(retires_at, 'infinity') > now() AND coalesce(revoked_at, 'infinity') > now())
$$;

-- Everything in the database that decides whether a merchant can use a channel. Whether its provider is configured is
-- known to the application only.
CREATE OR REPLACE FUNCTION channel_state(p_merchant_id text, p_environment text, p_channel text)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('platformState', CASE WHEN c.platform_state = 'AVAILABLE' AND w.id IS NOT NULL
                                                  THEN 'MAINTENANCE' ELSE c.platform_state END,
                            'approval', coalesce(m.approval, 'NONE'),
                            'enabled', coalesce(m.enabled, false),
                            'tierAllows', kyc_tier_allows(p_merchant_id, p_environment, c.id),
                            'hasOwnAccount', has_own_account(p_merchant_id, p_environment, c.id),
                            'openMaintenance', CASE WHEN w.id IS NOT NULL THEN jsonb_build_object('endsAt', w.ends_at,
                              'secondsLeft', ceil(extract(epoch FROM w.ends_at - now()))) END)
  FROM channel c
  LEFT JOIN channel_maintenance w
    ON w.channel = c.id AND w.environment = p_environment AND w.cancelled_at IS NULL
      AND w.starts_at <= now() AND w.ends_at > now()
  LEFT JOIN merchant_channel m
    ON m.channel = c.id AND m.merchant_id = p_merchant_id AND m.environment = p_environment
  WHERE c.id = p_channel
$$;

CREATE OR REPLACE TRIGGER limit_rule_fixed BEFORE UPDATE OR DELETE ON limit_rule
  FOR EACH ROW EXECUTE FUNCTION reject_mutation();

CREATE OR REPLACE FUNCTION effective_limit_rule(p_merchant_id text, p_channel text, p_direction text, p_at timestamptz)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(r) FROM (
    SELECT min_santim AS "minSantim", max_santim AS "maxSantim", daily_santim AS "dailySantim"
    FROM limit_rule
    WHERE (merchant_id = p_merchant_id OR merchant_id IS NULL) AND channel = p_channel AND direction = p_direction
      AND valid_from <= p_at
    ORDER BY merchant_id IS NULL, valid_from DESC, version DESC LIMIT 1) r
$$;

-- The limits of a merchant on a channel: those of the rule, and in live those of the KYC tier where they are lower.
CREATE OR REPLACE FUNCTION effective_limits(
  p_merchant_id text, p_environment text, p_channel text, p_direction text, p_at timestamptz
) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_environment = 'sandbox' THEN rule ELSE rule || (
    SELECT CASE p_direction
      WHEN 'PAY_IN' THEN jsonb_build_object(
        'maxSantim', least((rule->>'maxSantim')::bigint, payment_max_santim))
      ELSE jsonb_build_object(
        'maxSantim', least((rule->>'maxSantim')::bigint, payout_daily_santim),
        'dailySantim', least((rule->>'dailySantim')::bigint, payout_daily_santim)) END
    FROM kyc_tier WHERE tier = effective_kyc_tier(p_merchant_id)) END
  FROM (SELECT effective_limit_rule(p_merchant_id, p_channel, p_direction, p_at) AS rule) r
$$;

-- A merchant's own review policy, or the platform's.
CREATE OR REPLACE FUNCTION effective_review_policy(p_merchant_id text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('largeAmountSantim', large_amount_santim, 'twoPersonSantim', two_person_santim,
                            'perHourMax', per_hour_max)
  FROM review_policy WHERE merchant_id = p_merchant_id OR merchant_id IS NULL ORDER BY merchant_id IS NULL LIMIT 1
$$;
