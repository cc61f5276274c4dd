-- How much a channel takes, per payment and per Addis day: the newest rule that has come into force, the merchant's own
-- before the platform's. A change is another row, as with fees.
CREATE TABLE limit_rule (
  id            text PRIMARY KEY,                  -- lim_…
  merchant_id   text REFERENCES merchant,          -- null: of everybody who has none of their own
  channel       text NOT NULL REFERENCES channel,
  direction     text NOT NULL CHECK (direction IN ('PAY_IN', 'PAY_OUT')),
  min_santim    bigint NOT NULL CHECK (min_santim > 0),
  max_santim    bigint NOT NULL CHECK (max_santim >= min_santim),
  daily_santim  bigint CHECK (daily_santim >= max_santim), -- null: no daily limit
  valid_from    timestamptz NOT NULL,
  version       integer NOT NULL,                  -- 1, 2, … of the same merchant, channel and direction
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX limit_rule_version ON limit_rule (coalesce(merchant_id, ''), channel, direction, version);
CREATE TRIGGER limit_rule_fixed BEFORE UPDATE OR DELETE ON limit_rule
  FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

-- A day's payouts: as many as ten of the largest.
INSERT INTO limit_rule (id, channel, direction, min_santim, max_santim, daily_santim, valid_from, version)
SELECT 'lim_' || direction || '_' || channel, channel, direction, min_santim, max_santim,
       CASE direction WHEN 'PAY_OUT' THEN max_santim * 10 END, timestamptz '2020-01-01T00:00:00Z', 1
FROM channel_limit;
DROP TABLE channel_limit;

CREATE FUNCTION limit_rule_of(p_merchant_id text, p_channel text, p_direction text, p_at timestamptz)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(r) FROM (
    SELECT min_santim AS "minSantim", max_santim AS "maxSantim", daily_santim AS "dailySantim"
    FROM limit_rule
    WHERE (merchant_id = p_merchant_id OR merchant_id IS NULL) AND channel = p_channel AND direction = p_direction
      AND valid_from <= p_at
    ORDER BY merchant_id IS NULL, valid_from DESC, version DESC LIMIT 1) r
$$;

-- What a channel takes of this merchant in this environment.
CREATE FUNCTION limits_of(
  p_merchant_id text, p_environment text, p_channel text, p_direction text, p_at timestamptz
) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT limit_rule_of(p_merchant_id, p_channel, p_direction, p_at)
$$;

-- What decides whether a merchant may use a channel, but for the provider's configuration (src/channels/channel.ts).
CREATE FUNCTION channel_facts_of(p_merchant_id text, p_environment text, p_channel text)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('platformState', c.platform_state, 'approval', coalesce(m.approval, 'NONE'),
                            'enabled', coalesce(m.enabled, false))
  FROM channel c
  LEFT JOIN merchant_channel m
    ON m.channel = c.id AND m.merchant_id = p_merchant_id AND m.environment = p_environment
  WHERE c.id = p_channel
$$;
