-- A number from 0 to 1,023 in two characters of the alphabet of our ids. Ids of deliveries and attempts are derived:
-- that of the event or the delivery plus these two characters.
CREATE OR REPLACE FUNCTION two_digits(number bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', CAST(number / 32 % 32 + 1 AS integer), 1)
      || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', CAST(number % 32 + 1 AS integer), 1);

-- A mail about an endpoint that fails: after five failed attempts without a success between them, at most once a day. A
-- trigger, so that the statement that records attempts, the most frequent one, does no more than before.
CREATE OR REPLACE FUNCTION mail_failing_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.failing_mailed_at IS NULL OR OLD.failing_mailed_at < now() - interval '1 day' THEN
    NEW.failing_mailed_at := now();
    -- The generated receiver_host has no value yet in NEW.
    PERFORM notify_members(NEW.merchant_id, NEW.environment, '{owner,admin,developer}', '{}', jsonb_build_object(
      'kind', 'endpoint.failing', 'host', OLD.receiver_host, 'failures', NEW.consecutive_failures));
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER webhook_subscription_failing BEFORE UPDATE ON webhook_subscription FOR EACH ROW
  WHEN (OLD.consecutive_failures < 5 AND NEW.consecutive_failures >= 5) EXECUTE FUNCTION mail_failing_endpoint();
