-- Databases that ran an earlier 0035 have numbered_id instead.
DROP FUNCTION IF EXISTS numbered_id(text, text, bigint);
CREATE OR REPLACE FUNCTION two_digits(number bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', CAST(number / 32 % 32 + 1 AS integer), 1)
      || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', CAST(number % 32 + 1 AS integer), 1);
