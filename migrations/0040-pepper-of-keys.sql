-- Which pepper a key is hashed under (src/keys/format.ts), so that one can tell when an old pepper is not needed any more.
-- Null for keys made before, until they are used.
ALTER TABLE api_key ADD COLUMN pepper_id text CHECK (pepper_id ~ '^[0-9a-f]{8}$');
ALTER TABLE operator_key ADD COLUMN pepper_id text CHECK (pepper_id ~ '^[0-9a-f]{8}$');
