-- Beside the prefix, what tells a merchant's keys apart. Null for keys made before.
ALTER TABLE api_key ADD COLUMN last_four text CHECK (length(last_four) = 4);
