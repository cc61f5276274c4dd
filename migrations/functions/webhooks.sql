-- A number from 0 to 1,023 in two characters of the alphabet of our ids. Ids of deliveries and attempts are derived:
-- that of the event or the delivery plus these two characters.
CREATE OR REPLACE FUNCTION two_digits(number bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', CAST(number / 32 % 32 + 1 AS integer), 1)
      || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', CAST(number % 32 + 1 AS integer), 1);
