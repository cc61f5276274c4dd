/** Makes an empty database look to the migrations like one that was created by another content of their first file. */
export const UNRELEASED_SCHEMA = `
  CREATE TABLE schema_migration (name text PRIMARY KEY, hash text NOT NULL, applied_at timestamptz NOT NULL);
  INSERT INTO schema_migration VALUES ('0001-merchants.sql', '00000000', now());
`;
