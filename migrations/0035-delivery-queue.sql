-- The delivery row is the queue of first attempts: the dispatcher claims from it, and no outbox row stands beside it.
-- Its indexes: 0037.

-- A resend of a delivery that waits for a retry is an attempt beside the schedule.
ALTER TABLE webhook_delivery DROP CONSTRAINT webhook_delivery_resend_from_check;
ALTER TABLE webhook_delivery ADD CHECK (resend_from IN ('RETRYING', 'FAILED', 'SKIPPED', 'DELIVERED'));

-- Written by one statement, which has locked or inserted the rows that the checks would look up.
ALTER TABLE webhook_delivery DROP CONSTRAINT webhook_delivery_event_id_fkey;
ALTER TABLE webhook_attempt DROP CONSTRAINT webhook_attempt_delivery_id_fkey;

-- An attempt is written once, with its outcome, and found by its delivery.
ALTER TABLE webhook_attempt DROP CONSTRAINT webhook_attempt_pkey;
UPDATE webhook_attempt
SET ended_at = now(), failure = '{"code": "interrupted", "message": "Our process ended while sending; the receiver may have got it."}'
WHERE ended_at IS NULL;
ALTER TABLE webhook_attempt ALTER COLUMN ended_at SET NOT NULL;
ALTER TABLE webhook_attempt DROP COLUMN lane;
ALTER TABLE webhook_attempt ADD COLUMN reason text CHECK (length(reason) <= 500);   -- an operator's, for a resend
ALTER TABLE webhook_attempt DROP CONSTRAINT webhook_attempt_trigger_check;
ALTER TABLE webhook_attempt ADD CHECK (trigger IN ('auto', 'manual', 'operator'));

DROP INDEX outbox_delivery;
ALTER TABLE outbox DROP COLUMN delivery_id, DROP COLUMN subscription_id;

-- Ids that are derived from others count with two characters more (0 … 1,023), in the alphabet of all ids.
CREATE FUNCTION two_digits(number bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', CAST(number / 32 % 32 + 1 AS integer), 1)
      || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', CAST(number % 32 + 1 AS integer), 1);
