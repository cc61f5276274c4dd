/** The names of some migrations from before they were folded for the first release. */
const NAMES = [
  '0001-merchants',
  '0002-api-keys',
  '0003-idempotency',
  '0004-channels',
  '0005-checkout',
  '0029-bank-money',
];

/** Makes an empty database look like one of an unreleased version to the migrations. */
export const UNRELEASED_SCHEMA = `
  CREATE TABLE knex_migrations (id serial PRIMARY KEY, name varchar(255), batch integer, migration_time timestamptz);
  INSERT INTO knex_migrations (name, batch, migration_time)
  SELECT name || '.sql', 1, now() FROM unnest(ARRAY['${NAMES.join("', '")}']) AS n (name);
`;
